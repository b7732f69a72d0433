import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Canvas } from '../../../src/sandbox/draw/canvas/canvas.ts';

const side = 20;
const box = { left: 0, right: side, top: 0, bottom: side };

/** The share of each pixel that is white after white was painted on black, row by row. */
function white(paint: (canvas: Canvas) => void): readonly number[] {
  const canvas = new Canvas(box, side, side);
  paint(canvas);
  return Array.from({ length: side * side }, (_, at) => (canvas.pixels[3 * at] ?? 0) / 255);
}

const sum = (shares: readonly number[]): number => shares.reduce((all, share) => all + share, 0);

describe('Canvas', () => {
  it('covers each pixel by the share of it that lies within an outline', () => {
    const shares = white((canvas) => canvas.area([2.25, 3, 5, 3, 5, 4.5, 2.25, 4.5], '#ffffff'));
    const row = (y: number): readonly number[] => shares.slice(y * side + 1, y * side + 6);
    expect(row(2).every((share) => share === 0)).toBe(true);
    [0, 0.75, 1, 1, 0].forEach((share, at) => expect(row(3)[at]).toBeCloseTo(share, 2));
    [0, 0.375, 0.5, 0.5, 0].forEach((share, at) => expect(row(4)[at]).toBeCloseTo(share, 2));
  });

  it('covers as much as the area of a triangle within it, whichever way round it is drawn', () => {
    const corner = fc.tuple(fc.integer({ min: 0, max: side }), fc.integer({ min: 0, max: side }));
    fc.assert(
      fc.property(corner, corner, corner, ([ax, ay], [bx, by], [cx, cy]) => {
        const area = Math.abs((bx - ax) * (cy - ay) - (cx - ax) * (by - ay)) / 2;
        const shares = white((canvas) => canvas.area([ax, ay, bx, by, cx, cy], '#ffffff'));
        const back = white((canvas) => canvas.area([cx, cy, bx, by, ax, ay], '#ffffff'));
        expect(Math.abs(sum(shares) - area)).toBeLessThan(0.3 + area / 100);
        back.forEach((share, at) => expect(Math.abs(share - (shares[at] ?? 0))).toBeLessThan(0.01));
      }),
    );
  });

  it('paints nothing of what lies outside, and leaves nothing of it to the next shape', () => {
    const far = fc.double({ min: -1e4, max: 1e4, noNaN: true });
    const before = white((canvas) => canvas.area([1, 1, 9, 1, 9, 9], '#ffffff'));
    fc.assert(
      fc.property(
        fc.array(far, { minLength: 2, maxLength: 12 }),
        fc.double({ min: 0, max: 50, noNaN: true }),
        (path, width) => {
          const even = path.slice(0, path.length - (path.length % 2));
          const after = white((canvas) => {
            canvas.area(even, '#ff0000', 0);
            canvas.line(even, width, '#ff0000', 0);
            canvas.area([-9, -5, -1, -5, -1, 30, side + 1, 30, side + 9, -5], '#000000');
            canvas.area([1, 1, 9, 1, 9, 9], '#ffffff');
          });
          expect(after).toEqual(before);
        },
      ),
    );
  });

  it('draws a line as wide as it is long on its way, with round ends and bends', () => {
    const straight = white((canvas) => canvas.line([5, 10, 15, 10], 4, '#ffffff'));
    expect(Math.abs(sum(straight) - 40 - Math.PI * 4)).toBeLessThan(1);
    const bent = white((canvas) => canvas.line([5, 5, 15, 5, 15, 15], 4, '#ffffff'));
    // Two arms that share a square, a quarter of a circle outside of it, and two ends.
    expect(Math.abs(sum(bent) - 2 * 40 + 4 - 5 * Math.PI)).toBeLessThan(1);
    expect(bent.every((share) => share >= 0 && share <= 1)).toBe(true);
    expect(sum(white((canvas) => canvas.line([9, 9], 4, '#ffffff')))).toBeGreaterThan(10);
  });

  it('mixes by opacity, and shades along a gradient', () => {
    const all = [0, 0, side, 0, side, side, 0, side];
    expect(white((canvas) => canvas.area(all, '#ffffff', 0.5))[0]).toBeCloseTo(0.5, 2);
    const shaded = white((canvas) =>
      canvas.area(all, { colours: ['#000000', '#ffffff'], start: [0, 0], end: [side, 0] }),
    );
    for (let x = 0; x < side; x += 1) expect(shaded[7 * side + x]).toBeCloseTo((x + 0.5) / side, 1);
  });
});
