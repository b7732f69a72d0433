import { nameOfButton, plainLabel } from './button-stage.ts';
import type { ButtonMatch } from './pipeline.ts';

/**
 * What is known of the window (modal) that a button opens, by the name that a pipeline gives it (protocol.md 3 and 4):
 * - `region`: always opens one, which wants a prompt and a mask;
 * - `zoom`: always opens one, which wants a prompt with `--zoom`;
 * - `manual`: always opens one, which wants a prompt that says how the image moves;
 * - `prompt`: always opens one, which takes a prompt;
 * - `remix`: opens one for a prompt when the click is remixed, or where the service's account always does that;
 * - `none`: opens none;
 * - `unknown`: a template, a wildcard, a pattern, or a button that is not in the table.
 */
export type ButtonWindow = 'region' | 'zoom' | 'manual' | 'prompt' | 'remix' | 'none' | 'unknown';

/** In the pattern of a customId. A manual animation is known by that alone: no source tells its label. */
const patterns: readonly (readonly [RegExp, ButtonWindow])[] = [
  [/inpaint/i, 'region'],
  [/customzoom/i, 'zoom'],
  [/manual/i, 'manual'],
];

const labels: readonly (readonly [RegExp, ButtonWindow])[] = [
  [/^(?:Vary \(Region\)|🖌)$/u, 'region'],
  [/^Custom Zoom$/, 'zoom'],
  [/^[1-4]\u20E3$/u, 'prompt'],
  [/^(?:V[1-4]|Vary \((?:Subtle|Strong)\)|Make Variations|Animate \(.*\)|[🪄🎞🔄⬅➡⬆⬇])$/u, 'remix'],
  [/^(?:U[1-4]|Upscale \(.*\)|Zoom Out .*)$/, 'none'],
];

/** What is known of the window that a button opens. */
export function windowOf(match: ButtonMatch): ButtonWindow {
  const button = nameOfButton(match);
  switch (button?.kind) {
    case 'text': {
      const label = plainLabel(button.text);
      return labels.find(([pattern]) => pattern.test(label))?.[1] ?? 'unknown';
    }
    case 'word':
      return button.word.startsWith('prompt') ? 'prompt' : 'remix';
    case 'pattern':
      return patterns.find(([mark]) => mark.test(button.source))?.[1] ?? 'unknown';
    case undefined:
      return 'unknown';
  }
}
