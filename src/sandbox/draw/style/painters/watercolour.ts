import { darker, lighter, mix } from '../../canvas/colour.ts';
import { type Fill, meanColour } from '../../canvas/shape.ts';
import { longerSide, unsteady } from '../outline.ts';
import { layPaper, leaveMargin } from '../paper.ts';
import type { Painter, Sitting } from '../style.ts';
import { num, pathOf, SvgWriter } from '../svg.ts';

const paper = '#fbf8f1';

/** Watercolour: thin layers with wandering edges, pigment gathered at the rims, blooms, a margin of bare paper. */
export const watercolourPainter: Painter = { toneRows: 0, paint };

function paint({ scene, box, name, random }: Sitting): string {
  const writer = new SvgWriter(name);
  layPaper(writer, box, paper, random.fork('paper'));
  const hand = random.fork('hand');
  for (const shape of scene.shapes) {
    const size = longerSide(shape);
    if (shape.kind === 'line') {
      writer.stroke(
        pathOf(unsteady(shape.points, 2, hand), false),
        shape.width * 1.1,
        mix(shape.colour, paper, 0.12),
        shape.opacity * 0.8,
      );
      continue;
    }
    const fill = diluted(shape.fill, shape.role === 'subject' ? 0.05 : 0.16);
    const reach = Math.min(13, size / 26);
    if (size < 20 || shape.role === 'air') {
      writer.fill(pathOf(shape.points, true), fill, shape.opacity * 0.9);
      continue;
    }
    // The lowest layer covers what lies behind, the others let each other through.
    writer.fill(pathOf(shape.points, true), fill, shape.opacity * (shape.role === 'subject' ? 0.9 : 0.72));
    for (const share of [0.5, 1]) {
      writer.fill(pathOf(unsteady(shape.points, reach * share, hand), true), fill, shape.opacity * 0.3);
    }
    if (shape.role === 'sky' || shape.role === 'light') continue;
    const rim = darker(mix(meanColour(shape.fill), paper, 0.1), 0.3);
    writer.stroke(
      pathOf(unsteady(shape.points, reach * 0.3, hand), true),
      Math.min(5, 1.5 + size / 200),
      rim,
      0.28 * shape.opacity,
    );
  }
  const unit = (box.bottom - box.top) / 1000;
  for (let bloom = 0; bloom < 7; bloom += 1) {
    const [x, y] = [hand.range(box.left, box.right), hand.range(box.top, box.bottom)];
    const size = hand.range(30, 110) * unit;
    const points = unsteady(
      Array.from({ length: 14 }, (_, index) => {
        const angle = (index / 14) * 2 * Math.PI;
        return [x + Math.cos(angle) * size, y + Math.sin(angle) * size * 0.8] as const;
      }),
      size * 0.2,
      hand,
    );
    writer.fill(pathOf(points, true), '#ffffff', 0.12);
    writer.stroke(pathOf(points, true), 2.4 * unit, scene.mood.dark, 0.07);
  }
  for (let speck = 0; speck < 40; speck += 1) {
    const [x, y] = [hand.range(box.left, box.right), hand.range(box.top, box.bottom)];
    const size = hand.range(1, 4.5) * unit;
    writer.fill(
      `M${num(x - size)} ${num(y)}a${num(size)} ${num(size)} 0 1 0 ${num(2 * size)} 0a${num(size)} ${num(size)} 0 1 0 ${num(-2 * size)} 0Z`,
      scene.mood.accent,
      0.3,
    );
  }
  leaveMargin(writer, box, paper, random.fork('margin'));
  return writer.toString();
}

function diluted(fill: Fill, share: number): Fill {
  if (typeof fill === 'string') return lighter(fill, share);
  return { ...fill, colours: fill.colours.map((colour) => lighter(colour, share)) };
}
