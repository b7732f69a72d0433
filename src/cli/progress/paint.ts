import picocolors from 'picocolors';
import type { Paint } from './view.ts';

/** Colours where the user wants any. */
export function paintWith(colors: boolean): Paint {
  const { green, red, dim, bold } = picocolors.createColors(colors);
  return { done: green, bad: red, faint: dim, strong: bold };
}
