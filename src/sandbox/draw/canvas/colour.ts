/** A colour as `#rrggbb`. */
export type Colour = string;

/** Red, green and blue, 0 to 255. */
export type Rgb = readonly [number, number, number];

export function rgbOf(colour: Colour): Rgb {
  const value = Number.parseInt(colour.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

const hexOf = (part: number): string =>
  Math.max(0, Math.min(255, Math.round(part)))
    .toString(16)
    .padStart(2, '0');

export function colourOf([red, green, blue]: Rgb): Colour {
  return `#${hexOf(red)}${hexOf(green)}${hexOf(blue)}`;
}

/** `share` of the second colour in the first. */
export function mix(first: Colour, second: Colour, share: number): Colour {
  const a = rgbOf(first);
  const b = rgbOf(second);
  return colourOf([a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share, a[2] + (b[2] - a[2]) * share]);
}

export const lighter = (colour: Colour, share: number): Colour => mix(colour, '#ffffff', share);
export const darker = (colour: Colour, share: number): Colour => mix(colour, '#0b0a14', share);

/** How light it looks, 0 to 1. */
export function lightness([red, green, blue]: Rgb): number {
  return (0.299 * red + 0.587 * green + 0.114 * blue) / 255;
}
