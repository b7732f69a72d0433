import { columns, type Frame, type Piece, rows } from './terminal.ts';

const [width, height, margin, bar] = [8.4, 18, 14, 30] as const;

/** The sixteen colours of a terminal, on a dark ground. */
const palette = [
  '#545862',
  '#e06c75',
  '#98c379',
  '#e5c07b',
  '#61afef',
  '#c678dd',
  '#56b6c2',
  '#d7dae0',
  '#7f848e',
  '#e06c75',
  '#98c379',
  '#e5c07b',
  '#61afef',
  '#c678dd',
  '#56b6c2',
  '#ffffff',
] as const;

/**
 * An animated SVG of a terminal, without a script: lines are drawn once for as long as they stay, and each shows itself by its time. Who
 * wants less movement sees the last frame.
 */
export function animatedSvg(frames: readonly Frame[], title: string): string {
  const end = (frames.at(-1)?.at ?? 0) + 4000;
  const [wide, high] = [columns * width + 2 * margin, rows * height + 2 * margin + bar];
  const shown: string[] = [];
  for (let row = 0; row < rows; row += 1) {
    let from: { at: number; text: string } | undefined;
    const close = (until: number): void => {
      if (from !== undefined && from.text !== '') shown.push(lineOf(row, from.text, from.at, until, end));
    };
    for (const { at, lines } of frames) {
      const text = (lines[row] ?? []).map(pieceOf).join('');
      if (from?.text === text) continue;
      close(at);
      from = { at, text };
    }
    close(end);
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${round(wide)} ${round(high)}" width="${round(wide)}" height="${round(high)}" role="img" aria-label="${escaped(title)}">
<title>${escaped(title)}</title>
<style>
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#d7dae0;white-space:pre}
.b{font-weight:700}.d{opacity:.65}
${palette.map((color, at) => `.c${at}{fill:${color}}`).join('')}
@media (prefers-reduced-motion:reduce){animate{display:none}}
</style>
<rect width="100%" height="100%" rx="10" fill="#1e2127"/>
<circle cx="20" cy="17" r="5.5" fill="#e06c75"/><circle cx="38" cy="17" r="5.5" fill="#e5c07b"/><circle cx="56" cy="17" r="5.5" fill="#98c379"/>
${shown.join('\n')}
</svg>
`;
}

function lineOf(row: number, text: string, from: number, until: number, end: number): string {
  const y = round(margin + bar + row * height + 4);
  const place = `<text x="${margin}" y="${y}" xml:space="preserve"`;
  if (from === 0 && until === end) return `${place}>${text}</text>`;
  const times = [...(from === 0 ? [] : [0]), from / end, ...(until === end ? [] : [until / end])];
  const values = [...(from === 0 ? [] : ['hidden']), 'visible', ...(until === end ? [] : ['hidden'])];
  return `${place} visibility="${until === end ? 'visible' : 'hidden'}">${text}<animate attributeName="visibility" calcMode="discrete" dur="${end}ms" repeatCount="indefinite" keyTimes="${times.map((time) => round(time, 5)).join(';')}" values="${values.join(';')}"/></text>`;
}

function pieceOf({ text, color, bold, dim }: Piece): string {
  const names = [
    ...(color === undefined || color > 15 ? [] : [`c${color}`]),
    ...(bold ? ['b'] : []),
    ...(dim ? ['d'] : []),
  ];
  return names.length === 0 ? escaped(text) : `<tspan class="${names.join(' ')}">${escaped(text)}</tspan>`;
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

const round = (value: number, digits = 1): string => String(Number(value.toFixed(digits)));
