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
export type Role = 'sky' | 'light' | 'land' | 'subject' | 'detail' | 'air';

/** A filled outline. */
export interface Area {
  readonly kind: 'area';
  readonly role: Role;
  /** Closed; bends between points unless they are corners. */
  readonly points: readonly Point[];
  readonly fill: Fill;
  /** 0 to 1. */
  readonly opacity: number;
}

/** A stroke. */
export interface Line {
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
