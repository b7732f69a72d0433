import { type Colour, colourOf, meanOf, rgbOf } from './colour.ts';

/** A point. A third member other than 0 makes it a corner instead of a bend. */
export type Point = readonly [number, number, number?];

/** The points of an area or a line, as a list or as a text such as `22,-50! 36,-96 82,-164!`, where `!` makes a corner. */
export type Outline = string | readonly Point[];

export const pointsOf = (outline: Outline): readonly Point[] =>
  typeof outline === 'string'
    ? outline.split(' ').map((point): Point => {
        const [x, y = ''] = point.split(',');
        return [Number(x), Number.parseFloat(y), y.endsWith('!') ? 1 : 0];
      })
    : outline;

/** One colour, or a gradient of several along a line in the scene's coordinates. */
export type Fill =
  | Colour
  | { readonly colours: readonly Colour[]; readonly start: Point; readonly end: Point };

/** The part of a scene that a shape belongs to. Styles paint the sky, the land and the subject differently. */
type Role = 'sky' | 'light' | 'land' | 'subject' | 'detail' | 'air';

interface Area {
  readonly kind: 'area';
  readonly role: Role;
  /** The points of the closed outline. */
  readonly points: readonly Point[];
  readonly fill: Fill;
  /** 0 to 1. */
  readonly opacity: number;
}

interface Line {
  readonly kind: 'line';
  readonly role: Role;
  readonly points: readonly Point[];
  readonly width: number;
  readonly colour: Colour;
  readonly opacity: number;
}

export type Shape = Area | Line;

/** The shapes of a picture, from back to front, in thousandths of the first frame's height. */
export interface Scene {
  readonly shapes: readonly Shape[];
  /** The prevailing colours, for papers, grounds and edges. */
  readonly mood: { readonly light: Colour; readonly dark: Colour; readonly accent: Colour };
}

/** The mean colour of a fill. */
export function meanColour(fill: Fill): Colour {
  return typeof fill === 'string' ? fill : colourOf(meanOf(fill.colours.map(rgbOf)));
}

/** Returns a gradient between two points. */
export const between = (colours: readonly Colour[], start: Point, end: Point): Fill => ({
  colours,
  start,
  end,
});

/** Returns a gradient from top to bottom between two heights. */
export const vertical = (colours: readonly Colour[], top: number, bottom: number): Fill =>
  between(colours, [0, top], [0, bottom]);

/** Returns a gradient from left to right. */
export const across = (colours: readonly Colour[], left: number, right: number): Fill =>
  between(colours, [left, 0], [right, 0]);

/** The coordinates of a pen: scaled, mirrored by `flip`, turned, then moved. */
interface Place {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
  /** Radians, clockwise on the picture. */
  readonly turn: number;
  readonly flip: boolean;
}

/** Collects shapes. A motif is drawn in its own coordinates; {@link at} returns a pen that puts it into its place. */
export class Pen {
  readonly #shapes: Shape[];
  readonly #place: Place;
  readonly #cos: number;
  readonly #sin: number;
  readonly role: Role;

  constructor(shapes: Shape[] = [], role: Role = 'land', place?: Place) {
    this.#shapes = shapes;
    this.role = role;
    this.#place = place ?? { x: 0, y: 0, scale: 1, turn: 0, flip: false };
    this.#cos = Math.cos(this.#place.turn);
    this.#sin = Math.sin(this.#place.turn);
  }

  get shapes(): readonly Shape[] {
    return this.#shapes;
  }

  /** Returns a pen for shapes of another role. */
  as(role: Role): Pen {
    return new Pen(this.#shapes, role, this.#place);
  }

  /** Returns a pen with an origin, a scale and a direction of its own, relative to this one. */
  at(x: number, y: number, scale = 1, turn = 0, flip = false): Pen {
    const [originX, originY] = this.#put([x, y]);
    const sign = this.#place.flip ? -1 : 1;
    return new Pen(this.#shapes, this.role, {
      x: originX,
      y: originY,
      scale: this.#place.scale * scale,
      turn: this.#place.turn + sign * turn,
      flip: this.#place.flip !== flip,
    });
  }

  area(outline: Outline, fill: Fill, opacity = 1): void {
    this.#shapes.push({
      kind: 'area',
      role: this.role,
      points: pointsOf(outline).map((point) => this.#put(point)),
      fill:
        typeof fill === 'string' ? fill : { ...fill, start: this.#put(fill.start), end: this.#put(fill.end) },
      opacity,
    });
  }

  /** Draws a rectangle with sharp corners. */
  box(left: number, top: number, right: number, bottom: number, fill: Fill, opacity = 1): void {
    this.area(`${left},${top}! ${right},${top}! ${right},${bottom}! ${left},${bottom}!`, fill, opacity);
  }

  /** Draws an area of the points and their mirror image at x = 0. */
  symmetric(outline: Outline, fill: Fill, opacity = 1): void {
    const points = pointsOf(outline);
    const mirrored = points
      .filter(([x]) => x !== 0)
      .map(([x, y, corner]): Point => [-x, y, corner ?? 0])
      .reverse();
    this.area([...points, ...mirrored], fill, opacity);
  }

  ellipse(x: number, y: number, width: number, height: number, fill: Fill, opacity = 1, turn = 0): void {
    // Eight bends look round; for a small ellipse six are enough.
    const count = Math.max(width, height) * this.#place.scale > 14 ? 8 : 6;
    const points: Point[] = [];
    for (let i = 0; i < count; i += 1) {
      const angle = (i / count) * 2 * Math.PI;
      const [dx, dy] = [Math.cos(angle) * width, Math.sin(angle) * height];
      points.push([
        x + dx * Math.cos(turn) - dy * Math.sin(turn),
        y + dx * Math.sin(turn) + dy * Math.cos(turn),
      ]);
    }
    this.area(points, fill, opacity);
  }

  line(outline: Outline, width: number, colour: Colour, opacity = 1): void {
    this.#shapes.push({
      kind: 'line',
      role: this.role,
      points: pointsOf(outline).map((point) => this.#put(point)),
      width: width * this.#place.scale,
      colour,
      opacity,
    });
  }

  #put([x, y, corner]: Point): Point {
    const { scale, flip } = this.#place;
    const [sx, sy] = [(flip ? -x : x) * scale, y * scale];
    return [
      this.#place.x + sx * this.#cos - sy * this.#sin,
      this.#place.y + sx * this.#sin + sy * this.#cos,
      corner ?? 0,
    ];
  }
}
