import type { Fill, Point, Scene, Shape } from '../canvas/shape.ts';

/** SVG units in one unit of the scene: coordinates are whole numbers, which are quick to write and to read. */
export const fineness = 10;

/** A length or coordinate in SVG units. */
export const num = (value: number): string => String(Math.round(value * fineness));

/** Path data through the points: bends where a point is no corner. */
export function pathOf(points: readonly Point[], closed: boolean): string {
  const count = points.length;
  const at = (index: number): Point =>
    (closed ? points[(index + count) % count] : points[Math.max(0, Math.min(count - 1, index))]) ?? [0, 0];
  const first = at(0);
  let data = `M${num(first[0])} ${num(first[1])}`;
  const last = closed ? count : count - 1;
  for (let index = 0; index < last; index += 1) {
    const [before, from, to, after] = [at(index - 1), at(index), at(index + 1), at(index + 2)];
    if (from[2] && to[2]) {
      data += `L${num(to[0])} ${num(to[1])}`;
      continue;
    }
    // Catmull-Rom: the bend at a point follows its neighbours; a corner has none.
    const [ax, ay] = from[2] ? [0, 0] : [(to[0] - before[0]) / 6, (to[1] - before[1]) / 6];
    const [bx, by] = to[2] ? [0, 0] : [(after[0] - from[0]) / 6, (after[1] - from[1]) / 6];
    data += `C${num(from[0] + ax)} ${num(from[1] + ay)} ${num(to[0] - bx)} ${num(to[1] - by)} ${num(to[0])} ${num(to[1])}`;
  }
  return closed ? `${data}Z` : data;
}

/** Collects an SVG's elements and the gradients that they use. `name` keeps the ids of several panels apart. */
export class SvgWriter {
  readonly #name: string;
  #gradients = '';
  #count = 0;
  body = '';

  constructor(name: string) {
    this.#name = name;
  }

  /** The value of a `fill` attribute. */
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
    // Not `opacity`, which paints the shape on a layer of its own: that takes several times as long.
    const see = opacity < 1 ? ` fill-opacity="${Math.round(opacity * 100) / 100}"` : '';
    this.body += `<path d="${data}" fill="${this.paint(fill)}"${see}/>`;
  }

  toString(): string {
    return `<defs>${this.#gradients}</defs>${this.body}`;
  }
}

/** What the elements of a panel leave unsaid; stands on the element around them. */
export const panelAttributes = 'fill="none" stroke-linecap="round" stroke-linejoin="round"';

/** A scene as it is, without any style. */
export function plainSvg(scene: Scene, name: string): string {
  const writer = new SvgWriter(name);
  for (const shape of scene.shapes) writer.shape(shape);
  return writer.toString();
}
