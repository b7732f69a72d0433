import type { LineageStop, PageDetail, PageResult, PageStatus } from '../../src/report/results/wire.ts';

/** A result with its details, made up. */
export interface Row {
  readonly result: PageResult;
  readonly detail: PageDetail;
}

export const animals = ['fox', 'owl', 'hare', 'أرنب بري'];
export const media = ['ink drawing', 'oil on canvas', 'woodcut', 'élan pastel'];
export const places = Array.from({ length: 40 }, (_, n) => `valley ${n + 1}`);
export const script = '<script>window.broken = true</script><img src=x onerror="window.broken = true">';
export const long = `${'a very long prompt about moss and stones, '.repeat(245)}the end`.slice(0, 10_000);
export const perCell = 8;

const started = Date.UTC(2026, 10, 23, 9, 0, 0);
const reasons: readonly (readonly [code: string, message: string])[] = [
  ['moderated', 'The prompt was refused: it may show violence.'],
  ['task-failed', 'The service gave the task up after 300 s: internal error.'],
  ['timeout', 'No answer came in 120 s.'],
];

/** The results of one cell: a grid, two upscales, a variation, a caption, a judgement, a video and a check. */
export function rowsOfCell(cell: number, failing: (cell: number) => boolean): readonly Row[] {
  const [animal, medium] = [
    animals[cell % animals.length] as string,
    media[(cell >> 2) % media.length] as string,
  ];
  const place = places[(cell >> 4) % places.length] as string;
  const vars = [animal, medium, place];
  const prompt =
    cell === 1
      ? script
      : cell === 2
        ? long
        : `${animal} at the edge of a winter forest in ${place}, ${medium} --v 6.1`;
  const first = cell * perCell;
  const at = (n: number): number => first + n;
  const stop = (label: string, n: number): LineageStop => ({ label, at: at(n) });
  const failed = failing(cell);
  const [code, message] = reasons[cell % reasons.length] as (typeof reasons)[number];
  const row = (n: number, own: Partial<PageResult>, more: Partial<PageDetail>): Row => {
    const bad = failed && n !== 4 && n !== 5;
    const blocked = bad && n > 0;
    const status: PageStatus = blocked ? 'blocked' : bad ? 'failed' : (own.status ?? 'done');
    const done = status === 'done';
    const seconds = 20 + ((cell * 7 + n * 13) % 60);
    const { file, thumbnail, text, width, height, media: kind, ...rest } = own;
    const result: PageResult = {
      at: at(n),
      cell: cell + 1,
      step: 'grid',
      branch: '',
      kind: n === 0 ? 'imagine' : 'click',
      vars,
      prompt,
      job: (at(n) + 1).toString(16).padStart(32, '0'),
      ...rest,
      ...(done && kind ? { media: kind } : {}),
      ...(done && file ? { file } : {}),
      ...(done && thumbnail ? { thumbnail } : {}),
      ...(done && text !== undefined ? { text: text.slice(0, 240) } : {}),
      ...(done && width && height ? { width, height } : {}),
      status,
      ...(status === 'failed' ? { errorCode: code, errorMessage: message } : {}),
      ...(status === 'blocked'
        ? { errorCode: 'blocked', errorMessage: 'grid failed, which this one needs.' }
        : {}),
      ...(done ? { cost: 0.01 + n / 1000, finishedAt: started + cell * 1000 + n * 100, seconds } : {}),
    };
    const detail: PageDetail = {
      at: at(n),
      ...(done && text !== undefined ? { text } : {}),
      model: n >= 4 && n <= 5 ? 'gemini-3-pro' : 'v6.1',
      attempts: 1 + (cell % 3 === 0 ? 1 : 0),
      ...(done ? { cost: 0.01 + n / 1000, submittedAt: started + cell * 1000 } : {}),
      ...(status === 'failed'
        ? {
            advice: 'Change the prompt, or try again.',
            commands: ['promptpress run foxes.yaml --retry-failed'],
          }
        : {}),
      lineage: [stop('grid', 0)],
      inputs: [],
      children: [],
      ...more,
    };
    return { result, detail };
  };
  const grid = {
    file: `images/grid-${cell % 8}.webp`,
    thumbnail: `grid-${cell % 8}.webp`,
    media: 'image',
    width: 1024,
    height: 1024,
  } as const;
  const single = (n: number) =>
    ({
      file: `images/one-${(cell + n) % 8}.webp`,
      thumbnail: `one-${(cell + n) % 8}.webp`,
      media: 'image',
      width: n === 2 ? 768 : 1024,
      height: 1024,
    }) as const;
  return [
    row(0, grid, { speed: 'fast', children: [stop('U1', 1), stop('U2', 2)] }),
    row(1, { ...single(1), branch: 'U1' }, { button: 'U1', lineage: [stop('grid', 0), stop('U1', 1)] }),
    row(
      2,
      { ...single(2), branch: 'U2' },
      { button: 'U2', lineage: [stop('grid', 0), stop('U2', 2)], children: [stop('Vary (Strong)', 3)] },
    ),
    row(
      3,
      { ...grid, branch: 'U2/Vary (Strong)' },
      { button: 'Vary (Strong)', lineage: [stop('grid', 0), stop('U2', 2), stop('Vary (Strong)', 3)] },
    ),
    row(
      4,
      {
        step: 'caption',
        kind: 'generate',
        media: 'text',
        text: caption(cell, animal, place),
        prompt: 'Describe the picture in two sentences.',
      },
      { lineage: [stop('caption', 4)], inputs: [stop('grid', 0)], tokens: tokens(310, 64), bytes: 900 },
    ),
    row(
      5,
      {
        step: 'judge',
        kind: 'generate',
        media: 'json',
        text: `{"score":${cell % 10},"id":12345678901234567890,"why":["sharp","calm"],"subject":{"animal":${JSON.stringify(animal)}}}`,
        prompt: 'Which is best?',
      },
      { lineage: [stop('judge', 5)], inputs: [stop('U1', 1), stop('U2', 2)], tokens: tokens(1400, 41) },
    ),
    row(
      6,
      {
        step: 'film',
        kind: 'video',
        media: 'video',
        file: 'video/one.webm',
        thumbnail: `one-${cell % 8}.webp`,
        width: 640,
        height: 360,
      },
      { lineage: [stop('film', 6)], inputs: [stop('U1', 1)] },
    ),
    row(
      7,
      { step: 'late', kind: 'imagine', status: cell % 5 === 4 ? 'running' : 'pending' },
      { lineage: [stop('late', 7)] },
    ),
  ];
}

const tokens = (prompt: number, candidates: number): NonNullable<PageDetail['tokens']> => ({
  prompt,
  candidates,
  total: prompt + candidates,
});

function caption(cell: number, animal: string, place: string): string {
  if (cell === 3) return `ثعلب يقف عند حافة الغابة في الشتاء. ${'الثلج يغطي كل شيء. '.repeat(6)}`;
  const sentence = `A ${animal} stands at the edge of a quiet forest in ${place}, with snow on its back and warm light behind the trees. `;
  return cell % 6 === 5 ? `${sentence.repeat(9)}Far below, a lighthouse ${cell} blinks.` : sentence;
}
