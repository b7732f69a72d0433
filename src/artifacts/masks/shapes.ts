import type { MaskShape } from '../../plan/job-request.ts';
import type { Size } from '../formats/format.ts';

/** The pixels of a mask, one byte each, row by row: 255 is repainted, 0 is kept. */
export type Levels = Buffer;

/**
 * Draws shapes at exactly the size of the image. Edges are crisp: a pixel is repainted whole or not at all, because services differ on
 * grey ones. The edges of a box are rounded to the nearest line between pixels, so that boxes that share an edge leave no gap; an
 * ellipse fills the pixels of its rounded box whose centres it contains.
 */
export function drawShapes(shapes: readonly MaskShape[], { width, height }: Size): Levels {
  const levels = Buffer.alloc(width * height);
  for (const shape of shapes) {
    const [x, y, w, h] = 'rectangle' in shape ? shape.rectangle : shape.ellipse;
    const left = nearestLine(x, width);
    const right = nearestLine(x + w, width);
    const top = nearestLine(y, height);
    const bottom = nearestLine(y + h, height);
    for (let row = top; row < bottom; row += 1) {
      const [from, to] =
        'rectangle' in shape ? [left, right] : chord(left, right, (2 * (row - top) + 1) / (bottom - top) - 1);
      if (from < to) levels.fill(255, row * width + from, row * width + to);
    }
  }
  return levels;
}

/** Largest error of a sum of fractions, far below a pixel: 0.1 + 0.2 must round to the same line as 0.3. */
const noise = 1e-7;

const nearestLine = (fraction: number, length: number): number =>
  Math.min(length, Math.max(0, Math.round(fraction * length + noise)));

/**
 * Returns the pixels of one row of an ellipse.
 *
 * @param height of the row's middle above the ellipse's, in half heights: from -1 to 1
 */
function chord(left: number, right: number, height: number): readonly [number, number] {
  const half = ((right - left) / 2) * Math.sqrt(Math.max(0, 1 - height * height));
  const middle = (left + right) / 2;
  return [Math.round(middle - half + noise), Math.round(middle + half - noise)];
}
