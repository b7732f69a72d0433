import { hasTags } from './liquid.ts';
import type { ButtonMatch, ButtonWord } from './pipeline.ts';

/** One way to name a button, without templates: what a pipeline says of it, and what a job asks for. */
export type ButtonName =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'pattern'; readonly source: string }
  | { readonly kind: 'word'; readonly word: ButtonWord };

/** What a task shows, as far as buttons tell: several images of which one is to be chosen, that one, or nobody knows. */
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

/** Under a single image only (service.md 2.3 and 7.4; protocol.md 4): no grid offers these, whatever the model version. */
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

/** What a button makes of what it is pressed on. */
export function stageAfter(button: ButtonName | undefined, on: Stage): Stage {
  if (button === undefined || button.kind === 'pattern') return 'unknown';
  if (button.kind === 'word') return button.word === 'reroll' ? (on === 'grid' ? on : 'unknown') : 'grid';
  const label = plainLabel(button.text);
  if (/^(?:U[1-4]|Upscale \(.*\))$/.test(label)) return 'single';
  return gridLabels.test(label) ? 'grid' : 'unknown';
}
