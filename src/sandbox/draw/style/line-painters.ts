import type { Canvas } from '../canvas/canvas.ts';
import { type Colour, colourOf, darker, lighter, lightness, mix, rgbOf } from '../canvas/colour.ts';
import { type Fill, meanColour, type Shape, vertical } from '../canvas/pen.ts';
import { brushed, dotOf, fillBox, layPaper, longerSide, unsteady } from './marks.ts';
import type { Sitting } from './painter.ts';

const inkPaper = '#f4eddf';
const ink = '#191820';
const seal = '#b8352b';

/** Paints with brush and ink: washes, swelling contours, a seal; more colour with a higher --stylize. */
export function paintInk({ scene, canvas, random, frame }: Sitting): void {
  const colourful = Math.min(0.5, 0.1 + frame.stylize / 900);
  layPaper(canvas, inkPaper, random.fork('paper'));
  const hand = random.fork('hand');
  for (const shape of scene.shapes) {
    if (shape.kind === 'line') {
      const colour = wash(shape.colour, shape.role, colourful * 0.5);
      const line = brushed(canvas.curve(shape.points, false, 5), shape.width * 1.7, 1, 0.2);
      canvas.area(line, colour, Math.min(1, shape.opacity + 0.2));
      continue;
    }
    const size = longerSide(shape);
    const points = shape.role === 'sky' ? shape.points : unsteady(shape.points, Math.min(3, size / 40), hand);
    canvas.area(canvas.curve(points, true), washFill(shape.fill, shape.role, colourful), shape.opacity);
    if (shape.role === 'sky' || shape.role === 'light' || shape.role === 'air') continue;
    if (size < Math.max(16, 4 * canvas.pixel)) continue;
    if (shape.opacity < 0.7) continue;
    const bold = shape.role === 'subject' ? Math.min(9, 2.2 + size / 55) : Math.min(4.4, 1.2 + size / 160);
    const contour = canvas.curve(unsteady(points, Math.min(2, size / 60), hand), true, size > 60 ? 6 : 3);
    const swells = Math.max(1, Math.round(size / 90));
    canvas.area(brushed(contour, bold, swells, hand.range(0, 1)), ink, 0.86);
  }
  splash(canvas, random.fork('splash'));
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
function splash(canvas: Canvas, random: Sitting['random']): void {
  const { box } = canvas;
  const height = box.bottom - box.top;
  const unit = height / 1000;
  for (let drop = 0; drop < 26; drop += 1) {
    const size = unit * (random.chance(0.15) ? random.range(3, 7) : random.range(0.8, 2.6));
    const [x, y] = [random.range(box.left, box.right), random.range(box.top, box.bottom)];
    canvas.area(dotOf(x, y, size), ink, random.range(0.25, 0.7));
  }
  const [x, y] = [box.right - 96 * unit, box.bottom - 100 * unit];
  const side = 58 * unit;
  canvas.area([x, y, x + side, y, x + side, y + side, x, y + side], seal, 0.92);
  for (const [fromX, fromY, toX, toY] of [
    [0.2, 0.25, 0.8, 0.25],
    [0.5, 0.15, 0.5, 0.85],
    [0.22, 0.52, 0.78, 0.52],
    [0.26, 0.84, 0.5, 0.58],
    [0.5, 0.58, 0.78, 0.82],
  ] as const) {
    const line = [x + side * fromX, y + side * fromY, x + side * toX, y + side * toY];
    canvas.line(line, side * 0.08, inkPaper);
  }
}

const pencilPaper = '#f6f3ec';
const lead = '#2c2b31';

/** Paints with a pencil: repeated outlines, and hatching that crosses in dark places; some colour with a higher --stylize. */
export function paintPencil({ scene, canvas, random, tones, frame }: Sitting): void {
  layPaper(canvas, pencilPaper, random.fork('paper'));
  const colourful = Math.min(0.75, frame.stylize / 420);
  for (const shape of scene.shapes) {
    if (shape.kind === 'line' || longerSide(shape) < 30 || shape.opacity < 0.4) continue;
    const colour = meanColour(shape.fill);
    const light = lightness(rgbOf(colour));
    const base = mix(pencilPaper, mix(lead, colour, colourful), (1 - light) * 0.3 + colourful * 0.35);
    canvas.area(canvas.curve(shape.points, true), base, shape.role === 'sky' ? 0.5 : 0.9);
  }
  hatch(canvas, tones, random.fork('first'), -0.95, 0.3, colourful);
  hatch(canvas, tones, random.fork('second'), 0.5, 0.56, colourful);
  hatch(canvas, tones, random.fork('third'), -0.2, 0.76, colourful);
  const hand = random.fork('hand');
  for (const shape of scene.shapes) {
    const size = longerSide(shape);
    if (shape.role === 'sky' || shape.role === 'air') continue;
    if (shape.kind === 'line') {
      canvas.line(
        canvas.curve(unsteady(shape.points, 1.5, hand), false),
        Math.min(shape.width, 5),
        lead,
        0.6,
      );
      continue;
    }
    if (size < 12 || (shape.opacity < 0.7 && shape.role !== 'subject')) {
      if (size < 40)
        canvas.area(
          canvas.curve(shape.points, true),
          mix(meanColour(shape.fill), lead, 0.3),
          shape.opacity * 0.8,
        );
      continue;
    }
    const near = shape.role === 'subject';
    for (let line = 0; line < (near ? 2 : 1); line += 1) {
      const outline = canvas.curve(unsteady(shape.points, Math.min(3.4, size / 70), hand), true);
      canvas.line(outline, near ? 2.6 : 1.6, lead, near ? 0.62 : 0.42);
    }
  }
}

/** Hatches the parts of a scene that are darker than `from`, in one direction. */
function hatch(
  canvas: Canvas,
  tones: Sitting['tones'],
  random: Sitting['random'],
  angle: number,
  from: number,
  colourful: number,
): void {
  const { box } = canvas;
  const unit = (box.bottom - box.top) / 1000;
  const step = 15 * unit;
  for (let y = box.top; y < box.bottom; y += step) {
    for (let x = box.left; x < box.right; x += step * 1.6) {
      const px = x + random.range(-0.6, 0.6) * step;
      const py = y + random.range(-0.5, 0.5) * step;
      const dark = tones.dark(px, py);
      if (dark < from) continue;
      const length = step * (0.9 + dark * 0.9);
      const turn = angle + random.range(-0.09, 0.09);
      const [dx, dy] = [Math.cos(turn) * length, Math.sin(turn) * length];
      const tint = mix(lead, darker(colourOf(tones.at(px, py)), 0.2), colourful);
      canvas.line([px - dx, py - dy, px + dx, py + dy], (1 + dark * 1.1) * unit, tint, 0.2 + dark * 0.28);
    }
  }
}

const woodcutPaper = '#f1e6cf';
const cutInk = '#1b1719';

const cutLines = 104;

/** Paints a hand-coloured woodcut: flat tints, and lines that are thick in dark places. */
export function paintWoodcut({ scene, canvas, random, tones, frame }: Sitting): void {
  layPaper(canvas, woodcutPaper, random.fork('paper'));
  const tint = Math.min(0.85, 0.45 + frame.stylize / 1000);
  for (const shape of scene.shapes) {
    if (shape.kind === 'line' || shape.opacity < 0.5 || (shape.role !== 'subject' && longerSide(shape) < 60))
      continue;
    const share = shape.role === 'subject' ? tint : tint * 0.6;
    canvas.area(canvas.curve(shape.points, true), mix(woodcutPaper, lifted(meanColour(shape.fill)), share));
  }
  const { box } = canvas;
  const height = box.bottom - box.top;
  const step = height / cutLines;
  const [wave, phase] = [random.range(0.5, 1.4), random.range(0, 6)];
  const samples = Math.round(150 * ((box.right - box.left) / height));
  for (let line = -2; line < cutLines + 2; line += 1) {
    const yAt = (x: number): number =>
      box.top + (line + 0.5) * step + Math.sin(x / (height / 5.5) + phase + line * 0.09) * step * wave;
    cutLine(canvas, step, samples, yAt, (x, y) => tones.dark(x, y));
  }
  for (const shape of scene.shapes) {
    if (shape.role !== 'subject' || shape.kind === 'line' || shape.opacity < 0.8) continue;
    const [size, data] = [longerSide(shape), canvas.curve(shape.points, true)];
    const isLight = lightness(rgbOf(meanColour(shape.fill))) > 0.5;
    if (size < 24) canvas.area(data, isLight ? woodcutPaper : cutInk);
    else canvas.line(data, Math.min(5.5, 1.6 + size / 90), cutInk);
  }
}

/** Lightens dark colours, so that the lines over them stay visible. */
function lifted(colour: Colour): Colour {
  const light = lightness(rgbOf(colour));
  return light < 0.5 ? mix(colour, woodcutPaper, (0.5 - light) * 1.1) : colour;
}

function cutLine(
  canvas: Canvas,
  step: number,
  samples: number,
  yAt: (x: number) => number,
  dark: (x: number, y: number) => number,
): void {
  const { left, right } = canvas.box;
  let upper: number[] = [];
  let lower: number[] = [];
  for (let index = 0; index <= samples + 1; index += 1) {
    const x = left + ((right - left) * index) / samples;
    const y = yAt(x);
    const half = (Math.max(0, dark(x, y) - 0.16) ** 1.15 * step) / 1.75;
    if (half >= step * 0.06 && index <= samples) {
      upper.push(x, y - half);
      lower.push(y + half, x);
    } else if (upper.length > 0) {
      canvas.area([...upper, ...lower.reverse()], cutInk);
      upper = [];
      lower = [];
    }
  }
}

const tubes = ['#ff3d7f', '#ff9b3d', '#ffe14d', '#3dffb0', '#35d9ff', '#7a6bff', '#ff4df0'];

/** Paints neon: glowing outlines over almost dark forms. */
export function paintNeon({ scene, canvas, random }: Sitting): void {
  const night = random.pick(['#0b0620', '#050b22', '#12061c']);
  fillBox(canvas, night);
  for (const shape of scene.shapes) {
    const size = longerSide(shape);
    if (shape.kind === 'line') {
      const width = Math.max(1.2, shape.width * 0.7);
      canvas.line(canvas.curve(shape.points, false), width, tubeOf(shape.colour), shape.opacity * 0.8);
      continue;
    }
    const colour = meanColour(shape.fill);
    const data = canvas.curve(shape.points, true);
    if (shape.role === 'sky') {
      const glow = mix(night, tubeOf(scene.mood.accent), 0.2);
      canvas.area(data, vertical([night, glow], -500, 160), shape.opacity);
      continue;
    }
    if (shape.role === 'light' || size < 14) {
      canvas.area(data, lighter(tubeOf(colour), 0.45), shape.opacity * 0.9);
      continue;
    }
    const tube = tubeOf(colour);
    const dim = mix(night, tube, 0.1 + 0.16 * lightness(rgbOf(colour)));
    canvas.area(data, dim, Math.min(1, shape.opacity + 0.1));
    if (shape.opacity < 0.6) continue;
    const strength = shape.role === 'subject' ? 1 : 0.55;
    const width =
      shape.role === 'subject' ? Math.min(4.4, 1.6 + size / 120) : Math.min(2.6, 1.1 + size / 300);
    canvas.line(data, width * 7, tube, 0.09 * strength);
    canvas.line(data, width * 3.4, tube, 0.2 * strength);
    canvas.line(data, width, lighter(tube, 0.35), 0.95 * strength);
  }
  const { left, right, top, bottom } = canvas.box;
  const step = (bottom - top) / 125;
  for (let y = top; y < bottom; y += step) canvas.line([left, y, right, y], step * 0.3, '#000010', 0.22);
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
