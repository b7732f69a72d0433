import { type Colour, rgbOf } from './colour.ts';
import type { Fill, Point, Shape } from './pen.ts';
import type { Box } from './world.ts';

/** A line or an outline of straight edges: x and y in turn, in the scene's units. */
export type Path = readonly number[];

/** Longest edge of a flattened curve, in pixels. */
const finest = 4;

/** A raster that shows a box of the scene. It is painted on from back to front; edges are smooth. */
export class Canvas {
  readonly box: Box;
  readonly width: number;
  readonly height: number;
  /** Side of a pixel in the scene's units: a painter leaves out what is too fine to be seen. */
  readonly pixel: number;
  /** Red, green and blue of each pixel, row by row. */
  readonly pixels: Buffer;
  readonly #scaleX: number;
  readonly #scaleY: number;
  /** How much each edge changes the covered share from its pixel on to the right; zero between two shapes. */
  readonly #cover: Float32Array;
  /** The first and the last changed pixel of each row. */
  readonly #from: Int32Array;
  readonly #to: Int32Array;
  /** The rows that the outline touches: from the first to before the second. */
  #top: number;
  #bottom = 0;
  /** The first and the last corner of the outline, in pixels. */
  #isOpen = false;
  #startX = 0;
  #startY = 0;
  #x = 0;
  #y = 0;

  constructor(box: Box, width: number, height: number, pixels: Buffer = Buffer.alloc(width * height * 3)) {
    this.box = box;
    this.width = width;
    this.height = height;
    this.pixels = pixels;
    this.#scaleX = width / (box.right - box.left);
    this.#scaleY = height / (box.bottom - box.top);
    this.pixel = 1 / this.#scaleY;
    this.#cover = new Float32Array((width + 2) * height);
    this.#from = new Int32Array(height).fill(width);
    this.#to = new Int32Array(height).fill(-1);
    this.#top = height;
  }

  /** Paints a shape as it is, without a style. */
  shape(shape: Shape): void {
    if (shape.kind === 'area') this.area(this.curve(shape.points, true), shape.fill, shape.opacity);
    else this.line(this.curve(shape.points, false), shape.width, shape.colour, shape.opacity);
  }

  /**
   * Returns the path through points that has a bend at each point that is no corner (Catmull-Rom); a closed one ends where it began.
   * `most`: edges of one bend.
   */
  curve(points: readonly Point[], closed: boolean, most = 24): Path {
    const count = points.length;
    const at = (index: number): Point =>
      points[closed ? (index + count) % count : Math.max(0, Math.min(count - 1, index))] ?? [0, 0];
    const perUnit = this.#scaleY / finest;
    let [before, from, to] = [at(-1), at(0), at(1)];
    const path = [from[0], from[1]];
    for (let index = 0; index < (closed ? count : count - 1); index += 1) {
      const after = at(index + 2);
      const dx = to[0] - from[0];
      const dy = to[1] - from[1];
      const edges = from[2] && to[2] ? 1 : Math.min(most, Math.ceil((Math.abs(dx) + Math.abs(dy)) * perUnit));
      // The slope at a point follows its neighbours; a corner has none.
      const leave = from[2] ? 0 : 0.5;
      const arrive = to[2] ? 0 : 0.5;
      for (let edge = 1; edge < edges; edge += 1) {
        const t = edge / edges;
        const share = (3 - 2 * t) * t * t;
        const out = leave * (1 - t) * (1 - t) * t;
        const back = arrive * (t - 1) * t * t;
        path.push(
          from[0] + dx * share + out * (to[0] - before[0]) + back * (after[0] - from[0]),
          from[1] + dy * share + out * (to[1] - before[1]) + back * (after[1] - from[1]),
        );
      }
      path.push(to[0], to[1]);
      before = from;
      from = to;
      to = after;
    }
    return path;
  }

  /** Fills an outline. */
  area(path: Path, fill: Fill, opacity = 1): void {
    const { left, top } = this.box;
    for (let at = 0; at < path.length; at += 2)
      this.#corner(((path[at] ?? 0) - left) * this.#scaleX, ((path[at + 1] ?? 0) - top) * this.#scaleY);
    this.#paint(fill, opacity);
  }

  /** Draws a line with round ends. */
  line(path: Path, width: number, colour: Colour, opacity = 1): void {
    const { left, top } = this.box;
    const line: number[] = [];
    const normals: number[] = [];
    let [lastX, lastY] = [Infinity, Infinity];
    for (let at = 0; at < path.length; at += 2) {
      const x = ((path[at] ?? 0) - left) * this.#scaleX;
      const y = ((path[at + 1] ?? 0) - top) * this.#scaleY;
      const length = Math.hypot(x - lastX, y - lastY);
      if (length < 0.05) continue;
      if (at > 0) normals.push((lastY - y) / length, (x - lastX) / length);
      line.push(x, y);
      lastX = x;
      lastY = y;
    }
    if (normals.length === 0) normals.push(0, 1);
    const half = (width * this.#scaleY) / 2;
    this.#side(line, normals, half, 1);
    this.#side(line, normals, half, -1);
    this.#paint(colour, opacity);
  }

  /** Adds one side of a line, there (1) or back (-1), and the round end behind it. All in pixels. */
  #side(line: readonly number[], normals: readonly number[], half: number, sign: 1 | -1): void {
    const last = line.length - 2;
    const edges = normals.length - 2;
    const offset = sign * half;
    for (let index = 0; index < last; index += 2) {
      const point = sign === 1 ? index : last - index;
      const x = line[point] ?? 0;
      const y = line[point + 1] ?? 0;
      const before = Math.max(0, Math.min(edges, sign === 1 ? point - 2 : point));
      const after = Math.max(0, Math.min(edges, sign === 1 ? point : point - 2));
      const ax = normals[before] ?? 0;
      const ay = normals[before + 1] ?? 0;
      const bx = normals[after] ?? 0;
      const by = normals[after + 1] ?? 0;
      const cos = ax * bx + ay * by;
      const turn = ax * by - ay * bx;
      if (cos > 0.8) {
        const long = offset / (1 + cos);
        this.#corner(x + (ax + bx) * long, y + (ay + by) * long);
      } else if (turn < 0) {
        this.#round(x, y, half, Math.atan2(sign * ay, sign * ax), Math.atan2(turn, cos));
      } else {
        this.#corner(x + offset * ax, y + offset * ay);
        this.#corner(x, y);
        this.#corner(x + offset * bx, y + offset * by);
      }
    }
    const [end, edge] = sign === 1 ? [last, edges] : [0, 0];
    const angle = Math.atan2(sign * (normals[edge + 1] ?? 0), sign * (normals[edge] ?? 0));
    // Of a line finer than a pixel, no end is seen.
    this.#round(line[end] ?? 0, line[end + 1] ?? 0, half, angle, half < 0.4 ? 0 : -Math.PI);
  }

  /** Adds a part of a circle. */
  #round(x: number, y: number, radius: number, from: number, turn: number): void {
    // An edge of that angle is a tenth of a pixel off the circle.
    const edges = Math.max(1, Math.ceil(-turn / Math.sqrt(0.8 / radius)));
    for (let edge = 0; edge <= edges; edge += 1) {
      const angle = from + (turn * edge) / edges;
      this.#corner(x + Math.cos(angle) * radius, y + Math.sin(angle) * radius);
    }
  }

  /** Adds a corner of an outline, and the edge that leads to it, in pixels. */
  #corner(x: number, y: number): void {
    if (!this.#isOpen) {
      this.#isOpen = true;
      this.#startX = x;
      this.#startY = y;
    } else if (this.#y < y) this.#edge(this.#x, this.#y, x, y, 1);
    else if (this.#y > y) this.#edge(x, y, this.#x, this.#y, -1);
    this.#x = x;
    this.#y = y;
  }

  /** Adds an edge that leads down: in each row, the area to the right of it. */
  #edge(x0: number, y0: number, x1: number, y1: number, direction: 1 | -1): void {
    const { width, height } = this;
    if (y1 <= 0 || y0 >= height) return;
    const cover = this.#cover;
    const slope = (x1 - x0) / (y1 - y0);
    const first = Math.max(0, Math.floor(y0));
    const last = Math.min(height, Math.ceil(y1));
    if (first < this.#top) this.#top = first;
    if (last > this.#bottom) this.#bottom = last;
    for (let row = first; row < last; row += 1) {
      const above = Math.max(row, y0);
      const below = Math.min(row + 1, y1);
      const share = (below - above) * direction;
      const one = Math.min(width, Math.max(0, x0 + (above - y0) * slope));
      const other = Math.min(width, Math.max(0, x0 + (below - y0) * slope));
      const left = Math.min(one, other);
      const right = Math.max(one, other);
      const column = Math.floor(left);
      const end = Math.ceil(right);
      if (column < (this.#from[row] ?? 0)) this.#from[row] = column;
      if (end > (this.#to[row] ?? 0)) this.#to[row] = end;
      const at = row * (width + 2) + column;
      if (end <= column + 1) {
        const next = share * ((left + right) / 2 - column);
        cover[at] = (cover[at] ?? 0) + share - next;
        cover[at + 1] = (cover[at + 1] ?? 0) + next;
        continue;
      }
      // The edge crosses several pixels of the row. In each, what lies to the right of the edge is covered.
      const across = share / (right - left);
      let covered = 0;
      for (let pixel = column; pixel < end; pixel += 1) {
        const from = Math.max(left, pixel);
        const to = Math.min(right, pixel + 1);
        const own = across * ((to - from) * (pixel + 1 - (from + to) / 2) + from - left);
        cover[at + pixel - column] = (cover[at + pixel - column] ?? 0) + own - covered;
        covered = own;
      }
      cover[at + end - column] = (cover[at + end - column] ?? 0) + share - covered;
    }
  }

  /** Closes the outline, paints what it encloses, and forgets it. */
  #paint(fill: Fill, opacity: number): void {
    if (this.#isOpen) this.#corner(this.#startX, this.#startY);
    this.#isOpen = false;
    const { pixels, width } = this;
    const cover = this.#cover;
    const whole = 256 * opacity;
    const shade = typeof fill === 'string' ? undefined : this.#shadeOf(fill);
    let [red, green, blue] = typeof fill === 'string' ? rgbOf(fill) : [0, 0, 0];
    for (let row = this.#top; row < this.#bottom; row += 1) {
      const from = this.#from[row] ?? 0;
      const to = this.#to[row] ?? 0;
      this.#from[row] = width;
      this.#to[row] = -1;
      let sum = 0;
      for (let column = from, at = row * (width + 2) + from; column <= to; column += 1, at += 1) {
        sum += cover[at] ?? 0;
        cover[at] = 0;
        // In 256ths, because whole numbers are mixed faster.
        const share = Math.round(Math.min(1, Math.abs(sum)) * whole);
        if (share === 0 || column >= width) continue;
        if (shade !== undefined) {
          const step = Math.round(shade.start + shade.x * column + shade.y * row);
          const colour = 3 * Math.max(0, Math.min(shades, step));
          red = shade.table[colour] ?? 0;
          green = shade.table[colour + 1] ?? 0;
          blue = shade.table[colour + 2] ?? 0;
        }
        const pixel = (row * width + column) * 3;
        const oldRed = pixels[pixel] ?? 0;
        const oldGreen = pixels[pixel + 1] ?? 0;
        const oldBlue = pixels[pixel + 2] ?? 0;
        pixels[pixel] = oldRed + (((red - oldRed) * share + 128) >> 8);
        pixels[pixel + 1] = oldGreen + (((green - oldGreen) * share + 128) >> 8);
        pixels[pixel + 2] = oldBlue + (((blue - oldBlue) * share + 128) >> 8);
      }
    }
    this.#top = this.height;
    this.#bottom = 0;
  }

  /** The colours of a gradient, and which of them a pixel has: `start` and so much more for each column and row. */
  #shadeOf({ colours, start, end }: Exclude<Fill, string>) {
    const rgb = colours.map(rgbOf);
    const table = new Uint8Array(3 * (shades + 1));
    for (let step = 0; step <= shades; step += 1) {
      const along = (step / shades) * Math.max(0, rgb.length - 1);
      const [one, other] = [rgb[Math.floor(along)] ?? [0, 0, 0], rgb[Math.ceil(along)] ?? [0, 0, 0]];
      for (const channel of [0, 1, 2] as const)
        table[3 * step + channel] = Math.round(one[channel] + (other[channel] - one[channel]) * (along % 1));
    }
    const [dx, dy] = [end[0] - start[0], end[1] - start[1]];
    const per = shades / Math.max(1e-9, dx * dx + dy * dy);
    const [x, y] = [(per * dx) / this.#scaleX, (per * dy) / this.#scaleY];
    const first = per * ((this.box.left - start[0]) * dx + (this.box.top - start[1]) * dy);
    return { table, x, y, start: first + (x + y) / 2 };
  }
}

/** Number of steps between the colours of a gradient. */
const shades = 255;
