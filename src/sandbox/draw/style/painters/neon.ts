import { type Colour, lighter, lightness, mix, rgbOf } from '../../canvas/colour.ts';
import { meanColour } from '../../canvas/shape.ts';
import { longerSide } from '../outline.ts';
import { fillBox } from '../paper.ts';
import type { Painter, Sitting } from '../style.ts';
import { num, pathOf, SvgWriter } from '../svg.ts';

const tubes: readonly Colour[] = [
  '#ff3d7f',
  '#ff9b3d',
  '#ffe14d',
  '#3dffb0',
  '#35d9ff',
  '#7a6bff',
  '#ff4df0',
];

/** Neon: glowing outlines over forms that are almost dark. */
export const neonPainter: Painter = { toneRows: 0, paint };

function paint({ scene, box, name, random }: Sitting): string {
  const writer = new SvgWriter(name);
  const night = random.pick(['#0b0620', '#050b22', '#12061c']);
  fillBox(writer, box, night);
  for (const shape of scene.shapes) {
    const size = longerSide(shape);
    if (shape.kind === 'line') {
      writer.stroke(
        pathOf(shape.points, false),
        Math.max(1.2, shape.width * 0.7),
        tubeOf(shape.colour),
        shape.opacity * 0.8,
      );
      continue;
    }
    const colour = meanColour(shape.fill);
    const data = pathOf(shape.points, true);
    if (shape.role === 'sky') {
      writer.fill(
        data,
        { colours: [night, mix(night, tubeOf(scene.mood.accent), 0.2)], start: [0, -500], end: [0, 160] },
        shape.opacity,
      );
      continue;
    }
    if (shape.role === 'light' || size < 14) {
      writer.fill(data, lighter(tubeOf(colour), 0.45), shape.opacity * 0.9);
      continue;
    }
    writer.fill(
      data,
      mix(night, tubeOf(colour), 0.1 + 0.16 * lightness(rgbOf(colour))),
      Math.min(1, shape.opacity + 0.1),
    );
    if (shape.opacity < 0.6) continue;
    const tube = tubeOf(colour);
    const strength = shape.role === 'subject' ? 1 : 0.55;
    const width =
      shape.role === 'subject' ? Math.min(4.4, 1.6 + size / 120) : Math.min(2.6, 1.1 + size / 300);
    writer.stroke(data, width * 7, tube, 0.09 * strength);
    writer.stroke(data, width * 3.4, tube, 0.2 * strength);
    writer.stroke(data, width, lighter(tube, 0.35), 0.95 * strength);
  }
  const step = (box.bottom - box.top) / 125;
  let lines = '';
  for (let y = box.top; y < box.bottom; y += step)
    lines += `M${num(box.left)} ${num(y)}h${num(box.right - box.left)}`;
  writer.stroke(lines, step * 0.3, '#000010', 0.22);
  return writer.toString();
}

/** The tube whose colour is nearest in hue; greys glow by their lightness. */
function tubeOf(colour: Colour): Colour {
  const [red, green, blue] = rgbOf(colour);
  const [high, low] = [Math.max(red, green, blue), Math.min(red, green, blue)];
  if (high - low < 26) return lightness([red, green, blue]) > 0.62 ? '#35d9ff' : '#7a6bff';
  const spread = high - low;
  const hue =
    high === red
      ? ((green - blue) / spread + 6) % 6
      : high === green
        ? (blue - red) / spread + 2
        : (red - green) / spread + 4;
  return tubes[[0, 1, 2, 3, 4, 5, 6][Math.min(6, Math.round(hue * 1.17))] ?? 0] ?? '#ff3d7f';
}
