import type { ButtonWord } from '../pipeline.ts';
import { plainLabel } from './button-stage.ts';
import { globMatches } from './glob.ts';

/** Labels that tasks of some model version offer (gateway 5). Gateways may offer others. */
export const knownLabels: readonly string[] = (
  'U1, U2, U3, U4, V1, V2, V3, V4, Upscale (Subtle), Upscale (Creative), Upscale (2x), Upscale (4x), ' +
  'Upscale to max, Vary (Subtle), Vary (Strong), Vary (Region), Make Variations, Zoom Out 2x, ' +
  'Zoom Out 1.5x, Custom Zoom, Animate (High motion), Animate (Low motion), Extend (High motion), ' +
  'Extend (Low motion), Manual High Motion, Manual Low Motion, Imagine all, Animate, Reroll'
).split(', ');

/** Emoji of buttons without a label, and emoji next to labels. */
const knownEmoji: readonly string[] =
  '🔄 ⬅ ➡ ⬆ ⬇ 🪄 🖌 🔍 🎞 ❤ 🎉 upscale_1 1\u20E3 2\u20E3 3\u20E3 4\u20E3'.split(' ');

/** Words for buttons without a label. */
export const buttonWords: readonly ButtonWord[] = [
  'reroll',
  'pan left',
  'pan right',
  'pan up',
  'pan down',
  'prompt 1',
  'prompt 2',
  'prompt 3',
  'prompt 4',
];

/** All known names of buttons: labels, emoji and words. */
export const knownNames: readonly string[] = [...knownLabels, ...knownEmoji, ...buttonWords];

/** Whether some known version offers a label or emoji. Compares like a run. */
export const isKnownButton = (text: string): boolean => {
  const plain = plainLabel(text);
  return [...knownLabels, ...knownEmoji].includes(plain);
};

/** Whether a wildcard matches some known label. */
export const findsKnownLabel = (glob: string): boolean =>
  knownLabels.some((label) => globMatches(plainLabel(glob), label));
