import type { Canvas, Path } from '../canvas/canvas.ts';
import { type Colour, darker, lighter } from '../canvas/colour.ts';
import type { Point, Scene, Shape } from '../canvas/pen.ts';
import type { Random } from '../canvas/random.ts';

/** Paints a scene without a style. */
export function paintPlain(canvas: Canvas, { shapes }: Scene): void {
  for (const shape of shapes) canvas.shape(shape);
}

/** Returns a circle. */
export function dotOf(x: number, y: number, radius: number): Path {
  const corners = 16;
  return Array.from({ length: 2 * corners }, (_, at) => {
    const angle = (Math.floor(at / 2) / corners) * 2 * Math.PI;
    return at % 2 === 0 ? x + Math.cos(angle) * radius : y + Math.sin(angle) * radius;
  });
}

/** The length of a shape's longer side. */
export function longerSide(shape: Shape): number {
  let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const [x, y] of shape.points) {
    left = Math.min(left, x);
    right = Math.max(right, x);
    top = Math.min(top, y);
    bottom = Math.max(bottom, y);
  }
  return Math.max(right - left, bottom - top);
}

/** Moves each point at random by up to `reach`. */
export function unsteady(points: readonly Point[], reach: number, random: Random): Point[] {
  return points.map(([x, y, corner]) => [
    x + random.range(-reach, reach),
    y + random.range(-reach, reach),
    corner ?? 0,
  ]);
}

/** Returns a brush stroke along a path: it swells to `width` and thins again, `swells` times. */
export function brushed(path: Path, width: number, swells: number, phase: number): Path {
  const last = path.length / 2 - 1;
  const there: number[] = [];
  const back: number[] = [];
  for (let index = 0; index <= last; index += 1) {
    const x = path[2 * index] ?? 0;
    const y = path[2 * index + 1] ?? 0;
    const [before, after] = [2 * Math.max(0, index - 1), 2 * Math.min(last, index + 1)];
    const [dx, dy] = [
      (path[after] ?? x) - (path[before] ?? x),
      (path[after + 1] ?? y) - (path[before + 1] ?? y),
    ];
    const share = index / Math.max(1, last);
    const swell = 0.18 + 0.82 * Math.abs(Math.sin(Math.PI * (share * swells + phase)));
    const half = (width / 2) * swell * Math.min(1, 6 * Math.min(share, 1 - share) + 0.25);
    const scale = half / (Math.hypot(dx, dy) || 1);
    there.push(x - dy * scale, y + dx * scale);
    back.push(y - dx * scale, x + dy * scale);
  }
  return there.concat(back.reverse());
}

/** Fills the canvas with paper: its colour and some fibres. */
export function layPaper(canvas: Canvas, colour: Colour, random: Random): void {
  const { box } = canvas;
  fillBox(canvas, colour);
  const height = box.bottom - box.top;
  for (let fibre = 0; fibre < 90; fibre += 1) {
    const x = random.range(box.left, box.right);
    const y = random.range(box.top, box.bottom);
    const [dx, dy] = [random.range(-1, 1) * 0.03 * height, random.range(-1, 1) * 0.014 * height];
    const shade = random.chance(0.5) ? darker(colour, 0.2) : lighter(colour, 0.5);
    canvas.line(bent([x, y], [x + dx, y + dy], [x + 2 * dx, y + 0.4 * dy]), 0.0014 * height, shade, 0.35);
  }
}

/** Returns the path from one point to another that is bent towards a third (a parabola). */
export function bent([ax, ay]: Point, [bx, by]: Point, [cx, cy]: Point): Path {
  const path: number[] = [];
  for (let step = 0; step <= 4; step += 1) {
    const t = step / 4;
    const [first, second, third] = [(1 - t) * (1 - t), 2 * t * (1 - t), t * t];
    path.push(first * ax + second * bx + third * cx, first * ay + second * by + third * cy);
  }
  return path;
}

/** Fills the canvas with one colour. */
export function fillBox(canvas: Canvas, colour: Colour): void {
  const { left, right, top, bottom } = canvas.box;
  canvas.area([left, top, right, top, right, bottom, left, bottom], colour);
}

/** Draws a ragged border of bare paper around the picture. */
export function leaveMargin(canvas: Canvas, colour: Colour, random: Random): void {
  const { left, right, top, bottom } = canvas.box;
  const margin = 0.018 * (bottom - top);
  const edge: number[] = [];
  const count = 60;
  const along = (fromX: number, fromY: number, toX: number, toY: number): void => {
    for (let index = 0; index < count; index += 1) {
      const share = index / count;
      const [jx, jy] = [random.range(-0.2, 0.45) * margin, random.range(-0.2, 0.45) * margin];
      const x = fromX + (toX - fromX) * share;
      const y = fromY + (toY - fromY) * share;
      const inX = x < (left + right) / 2 ? 1 : -1;
      const inY = y < (top + bottom) / 2 ? 1 : -1;
      edge.push(x + inX * (fromX === toX ? jx : 0), y + inY * (fromY === toY ? jy : 0));
    }
  };
  const [l, r, t, b] = [left + margin, right - margin, top + margin, bottom - margin];
  along(l, t, r, t);
  along(r, t, r, b);
  along(r, b, l, b);
  along(l, b, l, t);
  // Around the whole picture, then back around what is seen of it.
  const outer = [left, top, left, bottom, right, bottom, right, top, left, top];
  canvas.area([...outer, ...edge, ...edge.slice(0, 2)], colour);
}
