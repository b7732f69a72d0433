import { hasTags } from './liquid.ts';
import type { ButtonMatch } from './pipeline.ts';

/**
 * What is known of the window (modal) that a button opens, by the name that a pipeline gives it (protocol.md 3 and 4):
 * - `region`: always opens one, which wants a prompt and a mask;
 * - `zoom`: always opens one, which wants a prompt with `--zoom`;
 * - `prompt`: always opens one, which takes a prompt;
 * - `remix`: opens one for a prompt when the click is remixed, or where the service's account always does that;
 * - `none`: opens none;
 * - `unknown`: a template, a wildcard, a pattern, or a button that is not in the table.
 */
export type ButtonWindow = 'region' | 'zoom' | 'prompt' | 'remix' | 'none' | 'unknown';

const labels: readonly (readonly [RegExp, ButtonWindow])[] = [
  [/^(?:Vary \(Region\)|🖌)$/u, 'region'],
  [/^Custom Zoom$/, 'zoom'],
  [/^[1-4]\u20E3$/u, 'prompt'],
  [/^(?:V[1-4]|Vary \((?:Subtle|Strong)\)|Make Variations|Animate \(.*\)|[🪄🎞🔄⬅➡⬆⬇])$/u, 'remix'],
  [/^(?:U[1-4]|Upscale \(.*\)|Zoom Out .*)$/, 'none'],
];

/** What is known of the window that a button opens. */
export function windowOf(match: ButtonMatch): ButtonWindow {
  switch (match.kind) {
    case 'text': {
      const { source } = match.text;
      if (hasTags(source)) return 'unknown';
      // Emoji come with and without the variation selector that asks for their coloured form.
      const label = source
        .normalize('NFC')
        .replace(/[\uFE0E\uFE0F]/g, '')
        .trim();
      return labels.find(([pattern]) => pattern.test(label))?.[1] ?? 'unknown';
    }
    case 'word':
      return match.word.startsWith('prompt') ? 'prompt' : 'remix';
    case 'pattern':
      if (/inpaint/i.test(match.source)) return 'region';
      return /customzoom/i.test(match.source) ? 'zoom' : 'unknown';
    case 'wildcard':
      return 'unknown';
  }
}
