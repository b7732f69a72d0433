import type { Canvas, Path } from '../canvas/canvas.ts';
import { colourOf, darker, lighter, lightness, meanOf, mix, type Rgb } from '../canvas/colour.ts';
import { type Fill, meanColour, type Point, type Shape } from '../canvas/pen.ts';
import type { Style } from '../canvas/theme.ts';
import { paintInk, paintNeon, paintPencil, paintWoodcut } from './line-painters.ts';
import { bent, dotOf, layPaper, leaveMargin, longerSide, paintPlain, unsteady } from './marks.ts';
import type { Painter, Sitting } from './painter.ts';

const painters: Readonly<Record<Style, Painter>> = {
  /** Clean shapes with soft gradients, for prompts that name no style. */
  illustration: { toneRows: 0, paint: ({ scene, canvas }) => paintPlain(canvas, scene) },
  ink: { toneRows: 0, paint: paintInk },
  oil: { toneRows: 208, paint: paintOil },
  watercolour: { toneRows: 0, paint: paintWatercolour },
  pixel: { toneRows: 80, paint: paintPixel },
  neon: { toneRows: 0, paint: paintNeon },
  woodcut: { toneRows: 128, paint: paintWoodcut },
  pencil: { toneRows: 96, paint: paintPencil },
  papercut: { toneRows: 0, paint: paintPapercut },
};

/** Returns the painter of a style. */
export const painterOf = (style: Style | undefined): Painter => painters[style ?? 'illustration'];

/**
 * The passes over a canvas, from the widest brush to the finest. Lengths are in thousandths of the picture's height; a stroke is made
 * only where the slope of the lightness is at least `detail`.
 */
const passes = [
  { spacing: 40, width: 46, length: 150, detail: 0 },
  { spacing: 27, width: 26, length: 80, detail: 0.02 },
  { spacing: 12.5, width: 10.5, length: 31, detail: 0.2 },
];

/** Paints in oil: strokes of three brushes that follow the forms. */
function paintOil({ scene, canvas, random, tones, frame }: Sitting): void {
  const { box } = canvas;
  paintPlain(canvas, scene);
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
        // Strokes follow the forms, or slow currents where the scene is even.
        const current =
          Math.sin(px / (310 * unit) + phase) * swirl * 0.7 +
          Math.cos(py / (240 * unit) - phase) * swirl * 0.6;
        const angle = (strength > 0.05 ? Math.atan2(slopeX, -slopeY) : current) + tremor * 0.25;
        // Large strokes would hide small forms.
        const fine = 1 / (1 + strength * 5);
        const reach = length * unit * (0.75 + 0.35 * tremor) * fine;
        const colour = varied(tones.at(px, py), tremor * 15);
        brushStroke(canvas, px, py, angle, reach, width * unit * Math.sqrt(fine), colour, tremor);
      }
    }
  }
  setAccents(canvas, scene, random.fork('accents'));
}

/** Paints the small shapes of the subject, such as eyes and nose, over the strokes. */
function setAccents(canvas: Canvas, scene: Sitting['scene'], random: Sitting['random']): void {
  for (const shape of scene.shapes) {
    const size = longerSide(shape);
    if (shape.role !== 'subject' || size > 130 || shape.opacity < 0.4) continue;
    if (shape.kind === 'line') {
      if (size < 70) canvas.shape(shape);
      continue;
    }
    const data = canvas.curve(unsteady(shape.points, Math.min(3, size / 30), random), true);
    canvas.area(data, shape.fill, shape.opacity * (size > 70 ? 0.45 : 0.82));
  }
}

function brushStroke(
  canvas: Canvas,
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
  const curve = (offset: number): Path => {
    const [cx, cy] = [x + nx * offset, y + ny * offset];
    return bent([cx - dx, cy - dy], [cx + nx * bend, cy + ny * bend], [cx + dx, cy + dy]);
  };
  canvas.line(curve(0), width, colourOf(colour), 0.93);
  // The ridge of paint that the brush leaves beside its path.
  if (width > 40 || tremor < 0.1 || width * 0.16 < canvas.pixel / 2) return;
  const ridge = lightness(colour) > 0.8 ? -16 : 26;
  canvas.line(curve(width * 0.3), width * 0.16, colourOf(varied(colour, ridge)), 0.6);
}

function varied([red, green, blue]: Rgb, by: number): Rgb {
  return [red + by, green + by * 0.9, blue + by * 0.8];
}

const whitePaper = '#fbf8f1';

/** Paints in watercolour: thin layers with uneven edges, dark rims, blooms, and a margin of bare paper. */
function paintWatercolour({ scene, canvas, random }: Sitting): void {
  layPaper(canvas, whitePaper, random.fork('paper'));
  const hand = random.fork('hand');
  for (const shape of scene.shapes) {
    const size = longerSide(shape);
    if (shape.kind === 'line') {
      canvas.line(
        canvas.curve(unsteady(shape.points, 2, hand), false),
        shape.width * 1.1,
        mix(shape.colour, whitePaper, 0.12),
        shape.opacity * 0.8,
      );
      continue;
    }
    const fill = diluted(shape.fill, shape.role === 'subject' ? 0.05 : 0.16);
    const reach = Math.min(13, size / 26);
    if (size < Math.max(20, 6 * canvas.pixel) || shape.role === 'air') {
      canvas.area(canvas.curve(shape.points, true), fill, shape.opacity * 0.9);
      continue;
    }
    // The lowest layer covers the shapes behind it, the others are transparent.
    canvas.area(
      canvas.curve(shape.points, true),
      fill,
      shape.opacity * (shape.role === 'subject' ? 0.9 : 0.72),
    );
    for (const share of [0.5, 1]) {
      canvas.area(canvas.curve(unsteady(shape.points, reach * share, hand), true), fill, shape.opacity * 0.3);
    }
    if (shape.role === 'sky' || shape.role === 'light') continue;
    const rim = darker(mix(meanColour(shape.fill), whitePaper, 0.1), 0.3);
    canvas.line(
      canvas.curve(unsteady(shape.points, reach * 0.3, hand), true),
      Math.min(5, 1.5 + size / 200),
      rim,
      0.28 * shape.opacity,
    );
  }
  const { box } = canvas;
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
    canvas.area(canvas.curve(points, true), '#ffffff', 0.12);
    canvas.line(canvas.curve(points, true), 2.4 * unit, scene.mood.dark, 0.07);
  }
  for (let speck = 0; speck < 40; speck += 1) {
    const [x, y] = [hand.range(box.left, box.right), hand.range(box.top, box.bottom)];
    const size = hand.range(1, 4.5) * unit;
    canvas.area(dotOf(x, y, size), scene.mood.accent, 0.3);
  }
  leaveMargin(canvas, whitePaper, random.fork('margin'));
}

function diluted(fill: Fill, share: number): Fill {
  if (typeof fill === 'string') return lighter(fill, share);
  return { ...fill, colours: fill.colours.map((colour) => lighter(colour, share)) };
}

/** Paints cut paper: every shape has one colour, a lit edge and a shadow. */
function paintPapercut({ scene, canvas }: Sitting): void {
  for (const shape of scene.shapes) {
    if (shape.role === 'sky' || shape.role === 'light' || shape.kind === 'line') {
      canvas.shape(shape);
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
        canvas.area(
          canvas.curve(moved(shape.points, lift * share * 0.6, lift * share), true),
          '#0a0714',
          opacity,
        );
      }
    }
    const colour = meanColour(shape.fill);
    const data = canvas.curve(shape.points, true);
    canvas.area(data, colour, solid(shape));
    if (size > 40) canvas.line(data, 1.4, lighter(colour, 0.35), 0.55);
  }
}

const moved = (points: readonly Point[], dx: number, dy: number): Point[] =>
  points.map(([x, y, corner]) => [x + dx, y + dy, corner ?? 0]);

/** The opacity of a paper shape: opaque, unless the shape is a veil. */
const solid = (shape: Shape): number => (shape.opacity > 0.6 ? 1 : shape.opacity);

const colourCount = 28;

/** Paints pixel art: 80 rows of squares in a few colours. */
function paintPixel({ canvas, tones }: Sitting): void {
  const pixels: Rgb[] = [];
  for (let row = 0; row < tones.rows; row += 1) {
    for (let column = 0; column < tones.columns; column += 1) pixels.push(tones.cell(column, row));
  }
  const palette = paletteOf(pixels, colourCount);
  const colours = pixels.map((pixel) => nearest(palette, pixel));
  const { width, height } = canvas;
  for (let y = 0, at = 0; y < height; y += 1) {
    const row = Math.floor(((y + 0.5) / height) * tones.rows) * tones.columns;
    for (let x = 0; x < width; x += 1, at += 3) {
      const [red, green, blue] = colours[row + Math.floor(((x + 0.5) / width) * tones.columns)] ?? [0, 0, 0];
      canvas.pixels[at] = red;
      canvas.pixels[at + 1] = green;
      canvas.pixels[at + 2] = blue;
    }
  }
}

/** Reduces pixels to `count` colours by median cut: the box with the widest spread is halved again and again. */
function paletteOf(pixels: readonly Rgb[], count: number): readonly Rgb[] {
  const boxes: Rgb[][] = [[...pixels]];
  while (boxes.length < count) {
    let [widest, axis, spread] = [0, 0 as 0 | 1 | 2, -1];
    for (const [index, box] of boxes.entries()) {
      for (const channel of [0, 1, 2] as const) {
        let [low, high] = [255, 0];
        for (const pixel of box) {
          low = Math.min(low, pixel[channel]);
          high = Math.max(high, pixel[channel]);
        }
        if (high - low > spread && box.length > 1) [widest, axis, spread] = [index, channel, high - low];
      }
    }
    if (spread <= 0) break;
    const box = (boxes[widest] ?? []).sort((a, b) => a[axis] - b[axis]);
    boxes[widest] = box.slice(0, box.length >> 1);
    boxes.push(box.slice(box.length >> 1));
  }
  return boxes.map(meanOf);
}

function nearest(palette: readonly Rgb[], pixel: Rgb): Rgb {
  let best: Rgb = [0, 0, 0];
  let least = Number.POSITIVE_INFINITY;
  for (const colour of palette) {
    const far = (colour[0] - pixel[0]) ** 2 + 1.4 * (colour[1] - pixel[1]) ** 2 + (colour[2] - pixel[2]) ** 2;
    if (far < least) [best, least] = [colour, far];
  }
  return best;
}
