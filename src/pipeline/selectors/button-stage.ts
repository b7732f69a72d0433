import type { ButtonMatch, ButtonWord } from '../pipeline.ts';
import { hasTags } from '../templates/compile.ts';

/** One way to name a button, without templates: what a pipeline says of it, and what a job asks for. */
export type ButtonName =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'pattern'; readonly source: string }
  | { readonly kind: 'word'; readonly word: ButtonWord };

/** What the buttons of a task say about its images: several images of which one is to be chosen, a chosen one, or unknown. */
export type Stage = 'grid' | 'single' | 'unknown';

/** Undefined for a wildcard, and for a label that a template yields. */
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

/** Emoji come with and without the variation selector that asks for their coloured form. */
export const plainLabel = (text: string): string =>
  text
    .normalize('NFC')
    .replace(/[\uFE0E\uFE0F]/g, '')
    .trim();

/** Under a single image only (gateway 5.3): no grid of any model version offers these. */
const singleLabels =
  /^(?:Upscale \(.*\)|Vary \(.*\)|Zoom Out .*|Custom Zoom|Animate \(.*\)|Extend \(.*\)|[🪄🖌🔍🎞⬅➡⬆⬇])$/u;
const singleMarks = /upsample_|low_variation|high_variation|Inpaint|Outpaint|CustomZoom|pan_|animate_/i;

/** True for a button that comes only once an image of a grid is upscaled; false also where that is not known. */
export function needsUpscale(button: ButtonName): boolean {
  switch (button.kind) {
    case 'text':
      return singleLabels.test(plainLabel(button.text));
    case 'pattern':
      // One that offers a choice may mean a button of a grid too.
      return singleMarks.test(button.source) && !button.source.includes('|');
    case 'word':
      return button.word.startsWith('pan ');
  }
}

const gridLabels = /^(?:V[1-4]|Vary \((?:Subtle|Strong|Region)\)|Zoom Out .*|Custom Zoom|[1-4]\u20E3)$/u;

/** The stage that a button leads to from the stage on which it is pressed. */
export function stageAfter(button: ButtonName | undefined, on: Stage): Stage {
  if (button === undefined || button.kind === 'pattern') return 'unknown';
  if (button.kind === 'word') return button.word === 'reroll' ? (on === 'grid' ? on : 'unknown') : 'grid';
  const label = plainLabel(button.text);
  if (/^(?:U[1-4]|Upscale \(.*\))$/.test(label)) return 'single';
  return gridLabels.test(label) ? 'grid' : 'unknown';
}

/**
 * The window (modal) that a button opens, by the name of the button in a pipeline (gateway 5.5):
 * - `region`: always opens one, which wants a prompt and a mask;
 * - `zoom`: always opens one, which wants a prompt with `--zoom`;
 * - `manual`: always opens one, which wants a prompt that says how the image moves;
 * - `prompt`: always opens one, which takes a prompt;
 * - `remix`: opens one for a prompt when the click is remixed, or where the service's account always does that;
 * - `none`: opens none;
 * - `unknown`: a template, a wildcard, a pattern, or a button that is not in the table.
 */
export type ButtonWindow = 'region' | 'zoom' | 'manual' | 'prompt' | 'remix' | 'none' | 'unknown';

/** In the pattern of a customId. A manual animation is known by its customId alone: no source gives its label. */
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

/** What the window of a button wants. */
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
