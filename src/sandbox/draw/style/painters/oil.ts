import { colourOf, lightness, type Rgb } from '../../canvas/colour.ts';
import { longerSide, unsteady } from '../outline.ts';
import type { Painter, Sitting } from '../style.ts';
import { num, pathOf, plainSvg, SvgWriter } from '../svg.ts';

/** One pass over the canvas, from the widest brush to the finest; lengths in thousandths of the picture's height. */
interface Pass {
  readonly spacing: number;
  readonly width: number;
  readonly length: number;
  /** Strokes only where the scene changes at least so much. */
  readonly detail: number;
}

const passes: readonly Pass[] = [
  { spacing: 40, width: 46, length: 150, detail: 0 },
  { spacing: 27, width: 26, length: 80, detail: 0.02 },
  { spacing: 12.5, width: 10.5, length: 31, detail: 0.2 },
];

/** Oil on canvas: strokes of three brushes that follow the forms, thick enough to catch light. */
export const oilPainter: Painter = { toneRows: 208, paint };

function paint({ scene, box, name, random, tones, frame }: Sitting): string {
  const writer = new SvgWriter(name);
  writer.body += plainSvg(scene, `${name}u`);
  const unit = (box.bottom - box.top) / 1000;
  const swirl = 0.5 + frame.stylize / 500;
  const phase = random.range(0, 6);
  for (const { spacing, width, length, detail } of passes) {
    const hand = random.fork(`pass ${spacing}`);
    const step = spacing * unit;
    for (let y = box.top; y < box.bottom + step; y += step) {
      for (let x = box.left; x < box.right + step; x += step) {
        if (detail > 0.1) {
          const [across, down] = tones.slope(x, y);
          if (Math.hypot(across, down) < detail) continue;
        }
        const px = x + hand.range(-0.6, 0.6) * step;
        const py = y + hand.range(-0.6, 0.6) * step;
        const tremor = hand.range(-1, 1);
        const [slopeX, slopeY] = tones.slope(px, py);
        const strength = Math.hypot(slopeX, slopeY);
        if (strength < detail) continue;
        // Along the forms where there are any, else along slow currents.
        const current =
          Math.sin(px / (310 * unit) + phase) * swirl * 0.7 +
          Math.cos(py / (240 * unit) - phase) * swirl * 0.6;
        const angle = (strength > 0.05 ? Math.atan2(slopeX, -slopeY) : current) + tremor * 0.25;
        // Small forms need small strokes, or they drown.
        const fine = 1 / (1 + strength * 5);
        const reach = length * unit * (0.75 + 0.35 * tremor) * fine;
        const colour = varied(tones.at(px, py), tremor * 15);
        stroke(writer, px, py, angle, reach, width * unit * Math.sqrt(fine), colour, tremor);
      }
    }
  }
  setAccents(writer, scene, random.fork('accents'));
  return writer.toString();
}

/** The last touches with the point of the brush: eyes, nose and what else is small in the subject. */
function setAccents(writer: SvgWriter, scene: Sitting['scene'], random: Sitting['random']): void {
  for (const shape of scene.shapes) {
    const size = longerSide(shape);
    if (shape.role !== 'subject' || size > 130 || shape.opacity < 0.4) continue;
    if (shape.kind === 'line') {
      if (size < 70) writer.shape(shape);
      continue;
    }
    const data = pathOf(unsteady(shape.points, Math.min(3, size / 30), random), true);
    writer.fill(data, shape.fill, shape.opacity * (size > 70 ? 0.45 : 0.82));
  }
}

function stroke(
  writer: SvgWriter,
  x: number,
  y: number,
  angle: number,
  length: number,
  width: number,
  colour: Rgb,
  tremor: number,
): void {
  const [dx, dy] = [(Math.cos(angle) * length) / 2, (Math.sin(angle) * length) / 2];
  const bend = tremor * length * 0.16;
  const [nx, ny] = [-Math.sin(angle), Math.cos(angle)];
  const curve = (offset: number): string =>
    `M${num(x - dx + nx * offset)} ${num(y - dy + ny * offset)}` +
    `Q${num(x + nx * (bend + offset))} ${num(y + ny * (bend + offset))} ${num(x + dx + nx * offset)} ${num(y + dy + ny * offset)}`;
  writer.stroke(curve(0), width, colourOf(colour), 0.93);
  // The ridge of paint that the brush leaves beside its path.
  if (width > 40 || tremor < 0.1) return;
  const ridge = lightness(colour) > 0.8 ? -16 : 26;
  writer.stroke(curve(width * 0.3), width * 0.16, colourOf(varied(colour, ridge)), 0.6);
}

function varied([red, green, blue]: Rgb, by: number): Rgb {
  return [red + by, green + by * 0.9, blue + by * 0.8];
}
