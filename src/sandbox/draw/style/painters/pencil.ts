import { type Colour, colourOf, darker, lightness, mix, rgbOf } from '../../canvas/colour.ts';
import { meanColour } from '../../canvas/shape.ts';
import { longerSide, unsteady } from '../outline.ts';
import { layPaper } from '../paper.ts';
import type { Painter, Sitting } from '../style.ts';
import { num, pathOf, SvgWriter } from '../svg.ts';

const paper = '#f6f3ec';
const lead = '#2c2b31';

/** Pencil: searching outlines and hatching that crosses where it is dark; some colour with more --stylize. */
export const pencilPainter: Painter = { toneRows: 96, paint };

function paint({ scene, box, name, random, tones, frame }: Sitting): string {
  const writer = new SvgWriter(name);
  layPaper(writer, box, paper, random.fork('paper'));
  const colourful = Math.min(0.75, frame.stylize / 420);
  for (const shape of scene.shapes) {
    if (shape.kind === 'line' || longerSide(shape) < 30 || shape.opacity < 0.4) continue;
    const colour = meanColour(shape.fill);
    const light = lightness(rgbOf(colour));
    const base = mix(paper, mix(lead, colour, colourful), (1 - light) * 0.3 + colourful * 0.35);
    writer.fill(pathOf(shape.points, true), base, shape.role === 'sky' ? 0.5 : 0.9);
  }
  const unit = (box.bottom - box.top) / 1000;
  hatch(writer, box, tones, random.fork('first'), unit, -0.95, 0.3, colourful);
  hatch(writer, box, tones, random.fork('second'), unit, 0.5, 0.56, colourful);
  hatch(writer, box, tones, random.fork('third'), unit, -0.2, 0.76, colourful);
  const hand = random.fork('hand');
  for (const shape of scene.shapes) {
    const size = longerSide(shape);
    if (shape.role === 'sky' || shape.role === 'air') continue;
    if (shape.kind === 'line') {
      writer.stroke(pathOf(unsteady(shape.points, 1.5, hand), false), Math.min(shape.width, 5), lead, 0.6);
      continue;
    }
    if (size < 12 || (shape.opacity < 0.7 && shape.role !== 'subject')) {
      if (size < 40)
        writer.fill(pathOf(shape.points, true), mix(meanColour(shape.fill), lead, 0.3), shape.opacity * 0.8);
      continue;
    }
    const near = shape.role === 'subject';
    for (let line = 0; line < (near ? 2 : 1); line += 1) {
      writer.stroke(
        pathOf(unsteady(shape.points, Math.min(3.4, size / 70), hand), true),
        near ? 2.6 : 1.6,
        lead,
        near ? 0.62 : 0.42,
      );
    }
  }
  return writer.toString();
}

/** A colour part, rounded so that near colours count as one. */
const coarse = (part: number): number => Math.round(part / 48) * 48;

/** Hatches in one direction where the scene is darker than `from`. */
function hatch(
  writer: SvgWriter,
  box: Sitting['box'],
  tones: Sitting['tones'],
  random: Sitting['random'],
  unit: number,
  angle: number,
  from: number,
  colourful: number,
): void {
  const step = 15 * unit;
  // Hatches of one strength and nearly one colour are one path: far fewer elements for the same picture.
  const strokes = new Map<string, { readonly level: number; readonly tint: Colour; data: string }>();
  for (let y = box.top; y < box.bottom; y += step) {
    for (let x = box.left; x < box.right; x += step * 1.6) {
      const px = x + random.range(-0.6, 0.6) * step;
      const py = y + random.range(-0.5, 0.5) * step;
      const dark = tones.dark(px, py);
      if (dark < from) continue;
      const length = step * (0.9 + dark * 0.9);
      const turn = angle + random.range(-0.09, 0.09);
      const [dx, dy] = [Math.cos(turn) * length, Math.sin(turn) * length];
      const level = Math.round(dark * 5) / 5;
      const [red, green, blue] = tones.at(px, py);
      const key = `${level} ${coarse(red)} ${coarse(green)} ${coarse(blue)}`;
      let stroke = strokes.get(key);
      if (stroke === undefined) {
        stroke = { level, tint: mix(lead, darker(colourOf([red, green, blue]), 0.2), colourful), data: '' };
        strokes.set(key, stroke);
      }
      stroke.data += `M${num(px - dx)} ${num(py - dy)}L${num(px + dx)} ${num(py + dy)}`;
    }
  }
  for (const { level, tint, data } of strokes.values()) {
    writer.stroke(data, (1 + level * 1.1) * unit, tint, 0.2 + level * 0.28);
  }
}
