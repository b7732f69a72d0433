import { type Colour, colourOf, darker, lighter, lightness, mix, rgbOf } from '../canvas/colour.ts';
import { type Fill, meanColour, type Shape, vertical } from '../canvas/pen.ts';
import type { Sitting } from './painter.ts';
import {
  brushed,
  dotOf,
  fillBox,
  followed,
  layPaper,
  longerSide,
  num,
  pathOf,
  SvgWriter,
  unsteady,
} from './svg.ts';

const inkPaper = '#f4eddf';
const ink = '#191820';
const seal = '#b8352b';

/** Paints with brush and ink: washes, swelling contours, a seal; more colour with a higher --stylize. */
export function paintInk({ scene, box, name, random, frame }: Sitting): string {
  const writer = new SvgWriter(name);
  const colourful = Math.min(0.5, 0.1 + frame.stylize / 900);
  layPaper(writer, box, inkPaper, random.fork('paper'));
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

/** Returns the strength of ink for a colour, weaker in the sky and far away. */
function wash(colour: Colour, role: Shape['role'], colourful: number): Colour {
  const light = lightness(rgbOf(colour));
  const steps = 6;
  const thin = role === 'sky' ? 0.62 : role === 'land' ? 0.42 : role === 'detail' ? 0.25 : 0;
  const level = Math.round(Math.min(1, light * 1.15 + thin * (1 - light)) * steps) / steps;
  const grey = mix(ink, inkPaper, level);
  return role === 'subject' ? mix(grey, colour, colourful) : mix(grey, colour, colourful * 0.22);
}

function washFill(fill: Fill, role: Shape['role'], colourful: number): Fill {
  if (typeof fill === 'string') return wash(fill, role, colourful);
  if (role === 'detail') return wash(meanColour(fill), role, colourful);
  return { ...fill, colours: fill.colours.map((colour) => wash(colour, role, colourful)) };
}

/** Draws drops of ink and the red seal of the painter. */
function splash(writer: SvgWriter, box: Sitting['box'], random: Sitting['random']): void {
  const height = box.bottom - box.top;
  const unit = height / 1000;
  for (let drop = 0; drop < 26; drop += 1) {
    const size = unit * (random.chance(0.15) ? random.range(3, 7) : random.range(0.8, 2.6));
    const [x, y] = [random.range(box.left, box.right), random.range(box.top, box.bottom)];
    writer.fill(dotOf(x, y, size), ink, random.range(0.25, 0.7));
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
    const line = `M${num(x + side * fromX)} ${num(y + side * fromY)}L${num(x + side * toX)} ${num(y + side * toY)}`;
    writer.stroke(line, side * 0.08, inkPaper);
  }
}

const pencilPaper = '#f6f3ec';
const lead = '#2c2b31';

/** Paints with a pencil: repeated outlines, and hatching that crosses in dark places; some colour with a higher --stylize. */
export function paintPencil({ scene, box, name, random, tones, frame }: Sitting): string {
  const writer = new SvgWriter(name);
  layPaper(writer, box, pencilPaper, random.fork('paper'));
  const colourful = Math.min(0.75, frame.stylize / 420);
  for (const shape of scene.shapes) {
    if (shape.kind === 'line' || longerSide(shape) < 30 || shape.opacity < 0.4) continue;
    const colour = meanColour(shape.fill);
    const light = lightness(rgbOf(colour));
    const base = mix(pencilPaper, mix(lead, colour, colourful), (1 - light) * 0.3 + colourful * 0.35);
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
      const outline = pathOf(unsteady(shape.points, Math.min(3.4, size / 70), hand), true);
      writer.stroke(outline, near ? 2.6 : 1.6, lead, near ? 0.62 : 0.42);
    }
  }
  return writer.toString();
}

/** Rounds a channel, so that similar colours count as one. */
const coarse = (part: number): number => Math.round(part / 48) * 48;

/** Hatches the parts of a scene that are darker than `from`, in one direction. */
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
  // Hatches of one strength and nearly one colour are one path, which makes far fewer elements.
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

const woodcutPaper = '#f1e6cf';
const cutInk = '#1b1719';

const cutLines = 104;

/** Paints a hand-coloured woodcut: flat tints, and lines that are thick in dark places. */
export function paintWoodcut({ scene, box, name, random, tones, frame }: Sitting): string {
  const writer = new SvgWriter(name);
  layPaper(writer, box, woodcutPaper, random.fork('paper'));
  const tint = Math.min(0.85, 0.45 + frame.stylize / 1000);
  for (const shape of scene.shapes) {
    if (shape.kind === 'line' || shape.opacity < 0.5 || (shape.role !== 'subject' && longerSide(shape) < 60))
      continue;
    const share = shape.role === 'subject' ? tint : tint * 0.6;
    writer.fill(pathOf(shape.points, true), mix(woodcutPaper, lifted(meanColour(shape.fill)), share));
  }
  const height = box.bottom - box.top;
  const step = height / cutLines;
  const [wave, phase] = [random.range(0.5, 1.4), random.range(0, 6)];
  const samples = Math.round(150 * ((box.right - box.left) / height));
  for (let line = -2; line < cutLines + 2; line += 1) {
    const yAt = (x: number): number =>
      box.top + (line + 0.5) * step + Math.sin(x / (height / 5.5) + phase + line * 0.09) * step * wave;
    writeLine(writer, box, step, samples, yAt, (x, y) => tones.dark(x, y));
  }
  for (const shape of scene.shapes) {
    if (shape.role !== 'subject' || shape.kind === 'line' || shape.opacity < 0.8) continue;
    const [size, data] = [longerSide(shape), pathOf(shape.points, true)];
    const isLight = lightness(rgbOf(meanColour(shape.fill))) > 0.5;
    if (size < 24) writer.fill(data, isLight ? woodcutPaper : cutInk);
    else writer.stroke(data, Math.min(5.5, 1.6 + size / 90), cutInk);
  }
  return writer.toString();
}

/** Lightens dark colours, so that the lines over them stay visible. */
function lifted(colour: Colour): Colour {
  const light = lightness(rgbOf(colour));
  return light < 0.5 ? mix(colour, woodcutPaper, (0.5 - light) * 1.1) : colour;
}

function writeLine(
  writer: SvgWriter,
  box: Sitting['box'],
  step: number,
  samples: number,
  yAt: (x: number) => number,
  dark: (x: number, y: number) => number,
): void {
  let there = '';
  let back = '';
  let data = '';
  const close = (): void => {
    if (there !== '') data += `M${there.slice(1)}${back}Z`;
    there = '';
    back = '';
  };
  for (let index = 0; index <= samples; index += 1) {
    const x = box.left + ((box.right - box.left) * index) / samples;
    const y = yAt(x);
    const half = (Math.max(0, dark(x, y) - 0.16) ** 1.15 * step) / 1.75;
    if (half < step * 0.06) {
      close();
      continue;
    }
    there += `L${num(x)} ${num(y - half)}`;
    back = `L${num(x)} ${num(y + half)}${back}`;
  }
  close();
  if (data !== '') writer.fill(data, cutInk);
}

const tubes = ['#ff3d7f', '#ff9b3d', '#ffe14d', '#3dffb0', '#35d9ff', '#7a6bff', '#ff4df0'];

/** Paints neon: glowing outlines over almost dark forms. */
export function paintNeon({ scene, box, name, random }: Sitting): string {
  const writer = new SvgWriter(name);
  const night = random.pick(['#0b0620', '#050b22', '#12061c']);
  fillBox(writer, box, night);
  for (const shape of scene.shapes) {
    const size = longerSide(shape);
    if (shape.kind === 'line') {
      const width = Math.max(1.2, shape.width * 0.7);
      writer.stroke(pathOf(shape.points, false), width, tubeOf(shape.colour), shape.opacity * 0.8);
      continue;
    }
    const colour = meanColour(shape.fill);
    const data = pathOf(shape.points, true);
    if (shape.role === 'sky') {
      const glow = mix(night, tubeOf(scene.mood.accent), 0.2);
      writer.fill(data, vertical([night, glow], -500, 160), shape.opacity);
      continue;
    }
    if (shape.role === 'light' || size < 14) {
      writer.fill(data, lighter(tubeOf(colour), 0.45), shape.opacity * 0.9);
      continue;
    }
    const tube = tubeOf(colour);
    const dim = mix(night, tube, 0.1 + 0.16 * lightness(rgbOf(colour)));
    writer.fill(data, dim, Math.min(1, shape.opacity + 0.1));
    if (shape.opacity < 0.6) continue;
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

/** Returns the tube with the nearest hue; for a grey, one by its lightness. */
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
  return tubes[Math.min(6, Math.round(hue * 1.17))] ?? '#ff3d7f';
}
