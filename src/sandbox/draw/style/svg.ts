import { type Colour, darker, lighter } from '../canvas/colour.ts';
import { type Fill, meanColour, type Point, type Scene, type Shape } from '../canvas/pen.ts';
import type { Random } from '../canvas/random.ts';
import type { Box } from '../canvas/world.ts';

/** SVG units in one unit of the scene, so that coordinates are whole numbers, which are quick to write and to read. */
export const fineness = 10;

/** Writes a length or coordinate in SVG units. */
export const num = (value: number): string => String(Math.round(value * fineness));

/** Returns path data of a circle. */
export const dotOf = (x: number, y: number, radius: number): string =>
  `M${num(x - radius)} ${num(y)}a${num(radius)} ${num(radius)} 0 1 0 ${num(2 * radius)} 0a${num(radius)} ${num(radius)} 0 1 0 ${num(-2 * radius)} 0Z`;

/** Returns the points of an outline by index, from -1 to two behind the last; both ends of an open line are repeated. */
function pointsAround(points: readonly Point[], closed: boolean): (index: number) => Point {
  const count = points.length;
  return (index) =>
    points[closed ? (index + count) % count : Math.max(0, Math.min(count - 1, index))] ?? [0, 0];
}

/** Number of edges of an outline. */
const edgesOf = ({ length }: readonly Point[], closed: boolean): number =>
  closed ? length : Math.max(0, length - 1);

/** Returns path data through the points, with a bend at each point that is not a corner. */
export function pathOf(points: readonly Point[], closed: boolean): string {
  const at = pointsAround(points, closed);
  let [before, from, to] = [at(-1), at(0), at(1)];
  let data = `M${num(from[0])} ${num(from[1])}`;
  const edges = edgesOf(points, closed);
  for (let index = 0; index < edges; index += 1) {
    const after = at(index + 2);
    if (from[2] && to[2]) data += `L${num(to[0])} ${num(to[1])}`;
    else {
      // Catmull-Rom: the bend at a point follows its neighbours; a corner has none.
      const leave = from[2] ? 0 : 1;
      const arrive = to[2] ? 0 : 1;
      data +=
        `C${num(from[0] + (leave * (to[0] - before[0])) / 6)} ${num(from[1] + (leave * (to[1] - before[1])) / 6)} ` +
        `${num(to[0] - (arrive * (after[0] - from[0])) / 6)} ${num(to[1] - (arrive * (after[1] - from[1])) / 6)} ${num(to[0])} ${num(to[1])}`;
    }
    [before, from, to] = [from, to, after];
  }
  return closed ? `${data}Z` : data;
}

/** Collects the elements of an SVG and their gradients. `name` distinguishes the ids of several panels. */
export class SvgWriter {
  readonly #name: string;
  #gradients = '';
  #count = 0;
  body = '';

  constructor(name: string) {
    this.#name = name;
  }

  /** Returns the value of a `fill` attribute. */
  paint(fill: Fill): string {
    if (typeof fill === 'string') return fill;
    this.#count += 1;
    const id = `${this.#name}${this.#count}`;
    const { colours, start, end } = fill;
    const stops = colours
      .map(
        (colour, index) =>
          `<stop offset="${Math.round((100 * index) / Math.max(1, colours.length - 1))}%" stop-color="${colour}"/>`,
      )
      .join('');
    this.#gradients += `<linearGradient id="${id}" gradientUnits="userSpaceOnUse" x1="${num(start[0])}" y1="${num(start[1])}" x2="${num(end[0])}" y2="${num(end[1])}">${stops}</linearGradient>`;
    return `url(#${id})`;
  }

  shape(shape: Shape): void {
    if (shape.kind === 'area') this.fill(pathOf(shape.points, true), shape.fill, shape.opacity);
    else this.stroke(pathOf(shape.points, false), shape.width, shape.colour, shape.opacity);
  }

  stroke(data: string, width: number, colour: string, opacity = 1): void {
    const see = opacity < 1 ? ` stroke-opacity="${Math.round(opacity * 100) / 100}"` : '';
    this.body += `<path d="${data}" stroke="${colour}" stroke-width="${num(width)}"${see}/>`;
  }

  fill(data: string, fill: Fill, opacity = 1): void {
    // `opacity` would paint the shape on a layer of its own, which takes several times as long.
    const see = opacity < 1 ? ` fill-opacity="${Math.round(opacity * 100) / 100}"` : '';
    this.body += `<path d="${data}" fill="${this.paint(fill)}"${see}/>`;
  }

  toString(): string {
    return `<defs>${this.#gradients}</defs>${this.body}`;
  }
}

/** Attributes of a panel that its elements inherit. */
export const panelAttributes = 'fill="none" stroke-linecap="round" stroke-linejoin="round"';

/** Largest height of a small picture, in pixels. */
export const smallHeight = 256;

/**
 * Returns the elements of a scene without a style. Most of what an SVG takes to draw is its number of elements. In a small picture,
 * opaque details of one colour, such as blades of grass, are one element, although the order of what overlaps then changes a little, and
 * small ones have no shading.
 */
export function plainSvg({ shapes }: Scene, name: string, isSmall: boolean): string {
  const writer = new SvgWriter(name);
  if (!isSmall) for (const shape of shapes) writer.shape(shape);
  else
    for (const [index, shape] of shapes.entries()) {
      if (mergedFill(shape) === undefined) writer.shape(shape);
      else if (mergedFill(shapes[index - 1]) === undefined) drawMerged(writer, shapes, index);
    }
  return writer.toString();
}

/** Side of the smallest thing whose shading is seen in a small picture, in the scene's units. */
const shaded = 130;

/** Returns the colour of a shape that is merged with others; undefined for any other shape. */
function mergedFill(shape: Shape | undefined): string | undefined {
  if (shape?.kind !== 'area' || shape.opacity < 1 || (shape.role !== 'detail' && shape.role !== 'land'))
    return undefined;
  if (longerSide(shape) < shaded) return meanColour(shape.fill);
  return typeof shape.fill === 'string' ? shape.fill : undefined;
}

/** Draws the shapes from an index on, up to the next one that is not merged, with one element for each colour. */
function drawMerged(writer: SvgWriter, shapes: readonly Shape[], from: number): void {
  const paths = new Map<string, string>();
  for (const shape of shapes.slice(from)) {
    const fill = mergedFill(shape);
    if (fill === undefined) break;
    paths.set(fill, (paths.get(fill) ?? '') + pathOf(shape.points, true));
  }
  for (const [fill, data] of paths) writer.fill(data, fill);
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

/** Returns points on the Catmull-Rom curve of an outline, `steps` for each edge. */
export function followed(points: readonly Point[], closed: boolean, steps: number): Point[] {
  const path: Point[] = [];
  const at = pointsAround(points, closed);
  const edges = edgesOf(points, closed);
  for (let index = 0; index < edges; index += 1) {
    const [before, from, to, after] = [at(index - 1), at(index), at(index + 1), at(index + 2)];
    path.push(from);
    if (from[2] && to[2]) continue;
    const bend = (axis: 0 | 1, t: number): number => {
      const leave = from[2] ? 0 : (to[axis] - before[axis]) / 2;
      const arrive = to[2] ? 0 : (after[axis] - from[axis]) / 2;
      const [t2, t3] = [t * t, t * t * t];
      return (
        from[axis] * (2 * t3 - 3 * t2 + 1) +
        leave * (t3 - 2 * t2 + t) +
        to[axis] * (3 * t2 - 2 * t3) +
        arrive * (t3 - t2)
      );
    };
    for (let step = 1; step < steps; step += 1) path.push([bend(0, step / steps), bend(1, step / steps)]);
  }
  if (!closed) path.push(points.at(-1) ?? [0, 0]);
  return path;
}

/** Returns path data of a brush stroke along a path, which swells to `width` and thins again, `swells` times. */
export function brushed(path: readonly Point[], width: number, swells: number, phase: number): string {
  const count = path.length;
  if (count < 2) return '';
  let there = '';
  let back = '';
  for (let index = 0; index < count; index += 1) {
    const [x, y] = path[index] ?? [0, 0];
    const [ax, ay] = path[Math.max(0, index - 1)] ?? [x, y];
    const [bx, by] = path[Math.min(count - 1, index + 1)] ?? [x, y];
    const length = Math.hypot(bx - ax, by - ay) || 1;
    const share = index / (count - 1);
    const swell = 0.18 + 0.82 * Math.abs(Math.sin(Math.PI * (share * swells + phase)));
    const half = (width / 2) * swell * Math.min(1, 6 * Math.min(share, 1 - share) + 0.25);
    const [nx, ny] = [(-(by - ay) / length) * half, ((bx - ax) / length) * half];
    there += `${index === 0 ? 'M' : 'L'}${num(x + nx)} ${num(y + ny)}`;
    back = `L${num(x - nx)} ${num(y - ny)}${back}`;
  }
  return `${there}${back}Z`;
}

/** Fills the box with paper: its colour and some fibres. */
export function layPaper(writer: SvgWriter, box: Box, colour: Colour, random: Random): void {
  fillBox(writer, box, colour);
  const height = box.bottom - box.top;
  for (let fibre = 0; fibre < 90; fibre += 1) {
    const x = random.range(box.left, box.right);
    const y = random.range(box.top, box.bottom);
    const [dx, dy] = [random.range(-1, 1) * 0.03 * height, random.range(-1, 1) * 0.014 * height];
    const data = `M${num(x)} ${num(y)}q${num(dx)} ${num(dy)} ${num(dx * 2)} ${num(dy * 0.4)}`;
    const shade = random.chance(0.5) ? darker(colour, 0.2) : lighter(colour, 0.5);
    writer.stroke(data, 0.0014 * height, shade, 0.35);
  }
}

/** Fills the box with one colour. */
export function fillBox(writer: SvgWriter, box: Box, colour: Colour, opacity = 1): void {
  const [left, right, top, bottom] = [num(box.left), num(box.right), num(box.top), num(box.bottom)];
  writer.fill(`M${left} ${top}L${right} ${top}L${right} ${bottom}L${left} ${bottom}Z`, colour, opacity);
}

/** Draws a ragged border of bare paper around the picture. */
export function leaveMargin(writer: SvgWriter, box: Box, colour: Colour, random: Random): void {
  const height = box.bottom - box.top;
  const { left, right, top, bottom } = box;
  const margin = 0.018 * height;
  const edge: string[] = [];
  const count = 60;
  const along = (fromX: number, fromY: number, toX: number, toY: number): void => {
    for (let index = 0; index < count; index += 1) {
      const share = index / count;
      const [jx, jy] = [random.range(-0.2, 0.45) * margin, random.range(-0.2, 0.45) * margin];
      const x = fromX + (toX - fromX) * share;
      const y = fromY + (toY - fromY) * share;
      const inX = x < (left + right) / 2 ? 1 : -1;
      const inY = y < (top + bottom) / 2 ? 1 : -1;
      edge.push(`${num(x + inX * (fromX === toX ? jx : 0))} ${num(y + inY * (fromY === toY ? jy : 0))}`);
    }
  };
  const [l, r, t, b] = [left + margin, right - margin, top + margin, bottom - margin];
  along(l, t, r, t);
  along(r, t, r, b);
  along(r, b, l, b);
  along(l, b, l, t);
  const outer = `M${num(left)} ${num(top)}L${num(left)} ${num(bottom)}L${num(right)} ${num(bottom)}L${num(right)} ${num(top)}Z`;
  writer.fill(`${outer}M${edge.join('L')}Z`, colour);
}
