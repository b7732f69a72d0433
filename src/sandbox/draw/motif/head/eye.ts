import { darker, lighter } from '../../canvas/colour.ts';
import type { Pen } from '../../canvas/pen.ts';
import { type Outline, type Point, pointsOf } from '../../canvas/shape.ts';
import type { Coat } from '../coat.ts';

/** The expression of a head. */
export interface EyeStyle {
  readonly asleep: boolean;
  /** -1 to 1: how far it glances to the side. */
  readonly glance: number;
}

/** The points, mirrored where `side` is -1. */
export const sided = (side: number, outline: Outline): Point[] =>
  pointsOf(outline).map(([x, y, corner]) => [x * side, y, corner ?? 0]);

/** An almond eye at (±x, y); closed ones are a curve. */
export function drawEye(
  pen: Pen,
  side: number,
  x: number,
  y: number,
  size: number,
  coat: Coat,
  look: EyeStyle,
  slit: boolean,
): void {
  if (look.asleep) {
    pen.line(
      sided(side, `${x - size},${y} ${x},${y + size * 0.45} ${x + size},${y - size * 0.2}`),
      size * 0.28,
      coat.dark,
    );
    return;
  }
  pen.area(
    sided(
      side,
      `${x - size * 1.25},${y + size * 0.55}! ${x - size * 0.2},${y - size * 0.72} ${x + size * 1.25},${y - size * 0.6}! ${x + size * 0.3},${y + size * 0.72}`,
    ),
    coat.dark,
  );
  const at = x * side + look.glance * size * 0.25;
  pen.ellipse(at, y - size * 0.02, size * 0.66, size * 0.6, {
    colours: [darker(coat.eye, 0.35), coat.eye, lighter(coat.eye, 0.25)],
    start: [at, y - size * 0.6],
    end: [at, y + size * 0.6],
  });
  pen.ellipse(at, y, size * (slit ? 0.17 : 0.32), size * (slit ? 0.52 : 0.36), '#120d12');
  pen.ellipse(at + size * 0.2, y - size * 0.24, size * 0.14, size * 0.14, '#ffffff', 0.95);
}
