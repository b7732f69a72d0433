import type { ButtonMatch, ButtonWord } from '../pipeline.ts';
import { hasTags } from '../templates/compile.ts';

/** One way to name a button, without templates, in a pipeline or in the request of a job. */
export type ButtonName =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'pattern'; readonly source: string }
  | { readonly kind: 'word'; readonly word: ButtonWord };

/** The stage of a task, shown by its buttons: a grid of images to choose from, a single image, or unknown. */
export type Stage = 'grid' | 'single' | 'unknown';

/** Returns the name in a button match; undefined for a wildcard or a label from a template. */
export function nameOfButton(match: ButtonMatch): ButtonName | undefined {
  switch (match.kind) {
    case 'text': {
      const { source } = match.text;
      return hasTags(source) ? undefined : { kind: 'text', text: source };
    }
    case 'pattern':
    case 'word':
      return match;
    case 'wildcard':
      return undefined;
  }
}

/** Removes variation selectors, which ask for the coloured form of an emoji and may be missing. */
export const plainLabel = (text: string): string =>
  text
    .normalize('NFC')
    .replace(/[\uFE0E\uFE0F]/g, '')
    .trim();

/** Buttons of single images only (gateway 5.3): no grid of any model version offers them. */
const singleLabels =
  /^(?:Upscale \(.*\)|Vary \(.*\)|Zoom Out .*|Custom Zoom|Animate \(.*\)|Extend \(.*\)|[🪄🖌🔍🎞⬅➡⬆⬇])$/u;
const singleMarks = /upsample_|low_variation|high_variation|Inpaint|Outpaint|CustomZoom|pan_|animate_/i;

/** Whether a button appears only after an image of a grid is upscaled; false if that is not known. */
export function needsUpscale(button: ButtonName): boolean {
  switch (button.kind) {
    case 'text':
      return singleLabels.test(plainLabel(button.text));
    case 'pattern':
      // A pattern with alternatives may also match a button of a grid.
      return singleMarks.test(button.source) && !button.source.includes('|');
    case 'word':
      return button.word.startsWith('pan ');
  }
}

/** `U` and `V` stand below an output, for U1 and V1 below `#1`. */
const gridLabels = /^(?:V[1-4]?|Vary \((?:Subtle|Strong|Region)\)|Zoom Out .*|Custom Zoom|[1-4]\u20E3)$/u;

/** Returns the stage after pressing a button on a stage. */
export function stageAfter(button: ButtonName | undefined, on: Stage): Stage {
  if (button === undefined || button.kind === 'pattern') return 'unknown';
  if (button.kind === 'word') return button.word === 'reroll' ? (on === 'grid' ? on : 'unknown') : 'grid';
  const label = plainLabel(button.text);
  if (/^(?:U[1-4]?|Upscale \(.*\))$/.test(label)) return 'single';
  return gridLabels.test(label) ? 'grid' : 'unknown';
}

/**
 * The window (modal) that a button opens, by the name of the button in a pipeline (gateway 5.5):
 * - `region`: always opens one, which requires a prompt and a mask;
 * - `zoom`: always opens one, which requires a prompt with `--zoom`;
 * - `manual`: always opens one, which requires a prompt that describes the motion;
 * - `prompt`: always opens one, which takes a prompt;
 * - `remix`: opens one for a prompt if the click is remixed, or if the service's account always remixes;
 * - `none`: opens no window;
 * - `unknown`: a template, a wildcard, a pattern, or a button that is not in the table.
 */
export type ButtonWindow = 'region' | 'zoom' | 'manual' | 'prompt' | 'remix' | 'none' | 'unknown';

/** Windows by a word in the pattern of a customId. A manual animation is known by its customId alone: no source gives its label. */
const patterns: readonly (readonly [RegExp, ButtonWindow])[] = [
  [/inpaint/i, 'region'],
  [/customzoom/i, 'zoom'],
  [/manual/i, 'manual'],
];

const labels: readonly (readonly [RegExp, ButtonWindow])[] = [
  [/^(?:Vary \(Region\)|🖌)$/u, 'region'],
  [/^Custom Zoom$/, 'zoom'],
  [/^[1-4]\u20E3$/u, 'prompt'],
  [/^(?:V[1-4]?|Vary \((?:Subtle|Strong)\)|Make Variations|Animate \(.*\)|[🪄🎞🔄⬅➡⬆⬇])$/u, 'remix'],
  [/^(?:U[1-4]?|Upscale \(.*\)|Zoom Out .*)$/, 'none'],
];

/** Returns the kind of window that a button opens. */
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
