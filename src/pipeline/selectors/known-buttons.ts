import type { ButtonWord } from '../pipeline.ts';
import { plainLabel } from './button-stage.ts';
import { globMatches } from './glob.ts';

/** Labels that tasks of some model version offer (gateway 5). Gateways may offer more. */
export const knownLabels: readonly string[] = (
  'U1, U2, U3, U4, V1, V2, V3, V4, Upscale (Subtle), Upscale (Creative), Upscale (2x), Upscale (4x), ' +
  'Upscale to max, Vary (Subtle), Vary (Strong), Vary (Region), Make Variations, Zoom Out 2x, ' +
  'Zoom Out 1.5x, Custom Zoom, Animate (High motion), Animate (Low motion), Extend (High motion), ' +
  'Extend (Low motion), Manual High Motion, Manual Low Motion, Imagine all, Animate, Reroll'
).split(', ');

/** What buttons without a label are known by, and what stands beside labels. */
const knownEmoji: readonly string[] =
  '🔄 ⬅ ➡ ⬆ ⬇ 🪄 🖌 🔍 🎞 ❤ 🎉 upscale_1 1\u20E3 2\u20E3 3\u20E3 4\u20E3'.split(' ');

/** Words for buttons that have no label. */
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

/** All that a button may be known by in a pipeline. */
export const knownNames: readonly string[] = [...knownLabels, ...knownEmoji, ...buttonWords];

/** True for a label, or an emoji, that some known version offers. It is compared as the run compares it. */
export const isKnownButton = (text: string): boolean => {
  const plain = plainLabel(text);
  return [...knownLabels, ...knownEmoji].includes(plain);
};

/** True for a wildcard that finds some known label. */
export const findsKnownLabel = (glob: string): boolean =>
  knownLabels.some((label) => globMatches(plainLabel(glob), label));
