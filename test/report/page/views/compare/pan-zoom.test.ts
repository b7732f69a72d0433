import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  panned,
  type View,
  viewAfterKey,
  whole,
  zoomed,
} from '../../../../../src/report/page/views/compare/pan-zoom.ts';

test('zooming keeps the point under the pointer in place', () => {
  const view = zoomed(whole, 2, 0.25, -0.25);
  expect(view).toEqual({ scale: 2, x: -0.25, y: 0.25 });
  const place = (at: View, point: number): number => at.x + point * at.scale;
  expect(place(view, 0.25)).toBeCloseTo(0.25);
});

test('a picture is never smaller than its pane, and never leaves it', () => {
  const step = fc.oneof(
    fc.tuple(
      fc.constant('zoom' as const),
      fc.double({ min: 0.1, max: 10, noNaN: true }),
      fc.double({ min: -0.5, max: 0.5, noNaN: true }),
    ),
    fc.tuple(
      fc.constant('pan' as const),
      fc.double({ min: -3, max: 3, noNaN: true }),
      fc.double({ min: -3, max: 3, noNaN: true }),
    ),
  );
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      let view = whole;
      for (const [kind, a, b] of steps) view = kind === 'zoom' ? zoomed(view, a, b, -b) : panned(view, a, b);
      expect(view.scale).toBeGreaterThanOrEqual(1);
      expect(view.scale).toBeLessThanOrEqual(16);
      expect(Math.abs(view.x)).toBeLessThanOrEqual((view.scale - 1) / 2);
      expect(Math.abs(view.y)).toBeLessThanOrEqual((view.scale - 1) / 2);
    }),
  );
});

test('keys zoom, move and show the whole picture', () => {
  const near = viewAfterKey(whole, '+') as View;
  expect(near.scale).toBe(1.5);
  expect(viewAfterKey(near, 'ArrowRight')?.x).toBeCloseTo(-0.1);
  expect(viewAfterKey(near, '0')).toEqual(whole);
  expect(viewAfterKey(near, 'k')).toBeUndefined();
});
