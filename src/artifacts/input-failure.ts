import { largestInput } from './inputs.ts';
import type { SaveFailure } from './writer.ts';

export const tooLarge = (name: string): SaveFailure => ({
  code: 'input.too-large',
  class: 'permanent',
  message: `The image ${name} is larger than ${largestInput} bytes, the most that a request can show. Make it smaller.`,
});

export const notImage = (name: string): SaveFailure => ({
  code: 'input.not-image',
  class: 'permanent',
  message: `${name} is no image of a kind that is known (PNG, JPEG, WebP, GIF, AVIF, HEIC).`,
});
