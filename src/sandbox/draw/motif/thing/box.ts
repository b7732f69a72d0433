import type { Point } from '../../canvas/shape.ts';

/** The corners of an upright rectangle. */
export const boxPoints = (left: number, top: number, right: number, bottom: number): Point[] => [
  [left, top, 1],
  [right, top, 1],
  [right, bottom, 1],
  [left, bottom, 1],
];
