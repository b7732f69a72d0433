import type { Pen } from '../../canvas/pen.ts';
import type { Coat } from '../coat.ts';
import { drawBeastHead } from './beast.ts';
import { drawCanineHead } from './canine.ts';
import type { EyeStyle } from './eye.ts';
import { drawFelineHead } from './feline.ts';

/** The head that belongs to a coat, its middle at the origin. */
export function drawHead(pen: Pen, coat: Coat, look: EyeStyle): void {
  if (coat.build === 'canine') drawCanineHead(pen, coat, look);
  else if (coat.build === 'feline') drawFelineHead(pen, coat, look);
  else drawBeastHead(pen, coat, look);
}
