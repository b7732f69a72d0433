import { type Colour, colourOf, rgbOf } from './colour.ts';

/** A point; a third member other than 0 makes it a corner instead of a bend. */
export type Point = readonly [number, number, number?];

/** The points of an area or a line, also as a text: `22,-50! 36,-96 82,-164!`, where `!` makes a corner. */
export type Outline = string | readonly Point[];

export const pointsOf = (outline: Outline): readonly Point[] =>
  typeof outline === 'string'
    ? outline.split(' ').map((point): Point => {
        const [x, y = ''] = point.split(',');
        return [Number(x), Number.parseFloat(y), y.endsWith('!') ? 1 : 0];
      })
    : outline;

/** One colour, or several, evenly spread along a line in the scene's coordinates. */
export type Fill =
  | Colour
  | { readonly colours: readonly Colour[]; readonly start: Point; readonly end: Point };

/** What a shape is of: styles treat the sky, the land and the subject differently. */
type Role = 'sky' | 'light' | 'land' | 'subject' | 'detail' | 'air';

interface Area {
  readonly kind: 'area';
  readonly role: Role;
  /** Closed; bends between points unless they are corners. */
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

/** What a style paints: shapes from back to front, in units of a thousandth of the first frame's height. */
export interface Scene {
  readonly shapes: readonly Shape[];
  /** The prevailing colours, for papers, grounds and edges. */
  readonly mood: { readonly light: Colour; readonly dark: Colour; readonly accent: Colour };
}

/** The mean colour of a fill. */
export function meanColour(fill: Fill): Colour {
  if (typeof fill === 'string') return fill;
  const sum = [0, 0, 0];
  for (const colour of fill.colours)
    rgbOf(colour).forEach((part, index) => (sum[index] = (sum[index] ?? 0) + part));
  const count = fill.colours.length;
  return colourOf([(sum[0] ?? 0) / count, (sum[1] ?? 0) / count, (sum[2] ?? 0) / count]);
}

/** Colours from top to bottom between two heights. */
export function vertical(colours: readonly Colour[], top: number, bottom: number): Fill {
  return { colours, start: [0, top], end: [0, bottom] };
}

/** Where a pen draws: x' = x·scale (mirrored by `flip`), turned, then moved. */
interface Place {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
  /** Radians, clockwise on the picture. */
  readonly turn: number;
  readonly flip: boolean;
}

/**
 * Collects shapes. A motif draws itself in its own small coordinates; {@link at} gives it a pen that puts them where
 * they belong.
 */
export class Pen {
  readonly #shapes: Shape[];
  readonly #place: Place;
  readonly role: Role;

  constructor(shapes: Shape[] = [], role: Role = 'land', place?: Place) {
    this.#shapes = shapes;
    this.role = role;
    this.#place = place ?? { x: 0, y: 0, scale: 1, turn: 0, flip: false };
  }

  get shapes(): readonly Shape[] {
    return this.#shapes;
  }

  /** A pen for shapes of another role. */
  as(role: Role): Pen {
    return new Pen(this.#shapes, role, this.#place);
  }

  /** A pen whose origin, scale and direction lie within this one's. */
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

  /** The points and their mirror image on the other side of x = 0, as one outline. */
  symmetric(outline: Outline, fill: Fill, opacity = 1): void {
    const points = pointsOf(outline);
    const mirrored = points
      .filter(([x]) => x !== 0)
      .map(([x, y, corner]): Point => [-x, y, corner ?? 0])
      .reverse();
    this.area([...points, ...mirrored], fill, opacity);
  }

  ellipse(x: number, y: number, width: number, height: number, fill: Fill, opacity = 1, turn = 0): void {
    // Eight bends make a round form, six one that is round enough for its size.
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
    const { scale, turn, flip } = this.#place;
    const [sx, sy] = [(flip ? -x : x) * scale, y * scale];
    return [
      this.#place.x + sx * Math.cos(turn) - sy * Math.sin(turn),
      this.#place.y + sx * Math.sin(turn) + sy * Math.cos(turn),
      corner ?? 0,
    ];
  }
}

/** Colours from one side to the other. */
export function across(colours: readonly Colour[], left: number, right: number): Fill {
  return { colours, start: [left, 0], end: [right, 0] };
}
