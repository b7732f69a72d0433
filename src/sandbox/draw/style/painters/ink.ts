import { type Colour, lightness, mix, rgbOf } from '../../canvas/colour.ts';
import { type Fill, meanColour, type Shape } from '../../canvas/shape.ts';
import { brushed, followed, longerSide, unsteady } from '../outline.ts';
import { layPaper } from '../paper.ts';
import type { Painter, Sitting } from '../style.ts';
import { num, pathOf, SvgWriter } from '../svg.ts';

const paper = '#f4eddf';
const ink = '#191820';
const seal = '#b8352b';

/** Brush and ink on paper: washes in a few strengths, contours that swell, a seal; more colour with more --stylize. */
export const inkPainter: Painter = { toneRows: 0, paint };

function paint({ scene, box, name, random, frame }: Sitting): string {
  const writer = new SvgWriter(name);
  const colourful = Math.min(0.5, 0.1 + frame.stylize / 900);
  layPaper(writer, box, paper, random.fork('paper'));
  const hand = random.fork('hand');
  for (const shape of scene.shapes) {
    if (shape.kind === 'line') {
      const path = followed(shape.points, false, 5);
      const colour = wash(shape.colour, shape.role, colourful * 0.5);
      writer.fill(brushed(path, shape.width * 1.7, 1, 0.2), colour, Math.min(1, shape.opacity + 0.2));
      continue;
    }
    const size = longerSide(shape);
    const points = shape.role === 'sky' ? shape.points : unsteady(shape.points, Math.min(3, size / 40), hand);
    writer.fill(pathOf(points, true), washFill(shape.fill, shape.role, colourful), shape.opacity);
    if (shape.role === 'sky' || shape.role === 'light' || shape.role === 'air' || size < 16) continue;
    if (shape.opacity < 0.7) continue;
    const bold = shape.role === 'subject' ? Math.min(9, 2.2 + size / 55) : Math.min(4.4, 1.2 + size / 160);
    const contour = followed(unsteady(points, Math.min(2, size / 60), hand), true, size > 60 ? 6 : 3);
    writer.fill(brushed(contour, bold, Math.max(1, Math.round(size / 90)), hand.range(0, 1)), ink, 0.86);
  }
  splash(writer, box, random.fork('splash'));
  return writer.toString();
}

/** The strength of ink that stands for a colour; what is far away or in the sky is thinner. */
function wash(colour: Colour, role: Shape['role'], colourful: number): Colour {
  const light = lightness(rgbOf(colour));
  const steps = 6;
  const thin = role === 'sky' ? 0.62 : role === 'land' ? 0.42 : role === 'detail' ? 0.25 : 0;
  const level = Math.round(Math.min(1, light * 1.15 + thin * (1 - light)) * steps) / steps;
  const grey = mix(ink, paper, level);
  return role === 'subject' ? mix(grey, colour, colourful) : mix(grey, colour, colourful * 0.22);
}

function washFill(fill: Fill, role: Shape['role'], colourful: number): Fill {
  if (typeof fill === 'string') return wash(fill, role, colourful);
  if (role === 'detail') return wash(meanColour(fill), role, colourful);
  return { ...fill, colours: fill.colours.map((colour) => wash(colour, role, colourful)) };
}

/** Drops that fell off the brush, and the red seal of the one who held it. */
function splash(writer: SvgWriter, box: Sitting['box'], random: Sitting['random']): void {
  const height = box.bottom - box.top;
  const unit = height / 1000;
  for (let drop = 0; drop < 26; drop += 1) {
    const size = unit * (random.chance(0.15) ? random.range(3, 7) : random.range(0.8, 2.6));
    const [x, y] = [random.range(box.left, box.right), random.range(box.top, box.bottom)];
    writer.fill(
      `M${num(x - size)} ${num(y)}a${num(size)} ${num(size)} 0 1 0 ${num(2 * size)} 0a${num(size)} ${num(size)} 0 1 0 ${num(-2 * size)} 0Z`,
      ink,
      random.range(0.25, 0.7),
    );
  }
  const [x, y] = [box.right - 96 * unit, box.bottom - 100 * unit];
  const side = 58 * unit;
  writer.fill(`M${num(x)} ${num(y)}h${num(side)}v${num(side)}h${num(-side)}Z`, seal, 0.92);
  for (const [fromX, fromY, toX, toY] of [
    [0.2, 0.25, 0.8, 0.25],
    [0.5, 0.15, 0.5, 0.85],
    [0.22, 0.52, 0.78, 0.52],
    [0.26, 0.84, 0.5, 0.58],
    [0.5, 0.58, 0.78, 0.82],
  ] as const) {
    writer.stroke(
      `M${num(x + side * fromX)} ${num(y + side * fromY)}L${num(x + side * toX)} ${num(y + side * toY)}`,
      side * 0.08,
      paper,
    );
  }
}
