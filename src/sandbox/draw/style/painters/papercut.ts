import { lighter } from '../../canvas/colour.ts';
import { meanColour, type Point, type Shape } from '../../canvas/shape.ts';
import { longerSide } from '../outline.ts';
import type { Painter, Sitting } from '../style.ts';
import { pathOf, SvgWriter } from '../svg.ts';

/** Cut paper: every form one colour with a lit edge, lying on its own shadow. */
export const papercutPainter: Painter = { toneRows: 0, paint };

function paint({ scene, name }: Sitting): string {
  const writer = new SvgWriter(name);
  for (const shape of scene.shapes) {
    if (shape.role === 'sky' || shape.role === 'light' || shape.kind === 'line') {
      writer.shape(shape);
      continue;
    }
    const size = longerSide(shape);
    const lift = shape.role === 'subject' ? Math.min(7, size / 22) : Math.min(13, size / 18);
    if (size > 26 && shape.opacity > 0.5) {
      for (const [share, opacity] of [
        [1.25, 0.1],
        [0.8, 0.13],
        [0.4, 0.17],
      ] as const) {
        writer.fill(pathOf(moved(shape.points, lift * share * 0.6, lift * share), true), '#0a0714', opacity);
      }
    }
    const colour = meanColour(shape.fill);
    const data = pathOf(shape.points, true);
    writer.fill(data, colour, solid(shape));
    if (size > 40) writer.stroke(data, 1.4, lighter(colour, 0.35), 0.55);
  }
  return writer.toString();
}

const moved = (points: readonly Point[], dx: number, dy: number): Point[] =>
  points.map(([x, y, corner]) => [x + dx, y + dy, corner ?? 0]);

/** Paper lets nothing through, but what is meant as a veil stays one. */
const solid = (shape: Shape): number => (shape.opacity > 0.6 ? 1 : shape.opacity);
