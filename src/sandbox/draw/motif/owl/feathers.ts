import { darker } from '../../canvas/colour.ts';
import type { Pen } from '../../canvas/pen.ts';
import type { Random } from '../../canvas/random.ts';
import type { Coat } from '../coat.ts';

/** Rows of small feathers between two heights; `half` is how far they reach to each side. */
export function drawFeathers(
  pen: Pen,
  coat: Coat,
  random: Random,
  top: number,
  bottom: number,
  half: (y: number) => number,
): void {
  for (let y = top, row = 0; y < bottom; y += 24, row += 1) {
    const width = half(y);
    for (let x = -width + (row % 2) * 15; x <= width; x += 30) {
      const at = x + random.range(-3, 3);
      pen.area(
        [
          [at - 12, y, 1],
          [at, y + 22],
          [at + 12, y, 1],
          [at, y + 9],
        ],
        darker(coat.main, 0.32),
        0.7,
      );
    }
  }
}
