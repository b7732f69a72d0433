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

/** The mean of colours, channel by channel. */
export function meanOf(colours: readonly Rgb[]): Rgb {
  const mean = (channel: 0 | 1 | 2): number =>
    colours.reduce((sum, colour) => sum + colour[channel], 0) / Math.max(1, colours.length);
  return [mean(0), mean(1), mean(2)];
}

/** Mixes two colours: `share` of the second one, 0 to 1. */
export function mix(first: Colour, second: Colour, share: number): Colour {
  const a = rgbOf(first);
  const b = rgbOf(second);
  return colourOf([a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share, a[2] + (b[2] - a[2]) * share]);
}

export const lighter = (colour: Colour, share: number): Colour => mix(colour, '#ffffff', share);
export const darker = (colour: Colour, share: number): Colour => mix(colour, '#0b0a14', share);

/** The perceived lightness of a colour, 0 to 1. */
export function lightness([red, green, blue]: Rgb): number {
  return (0.299 * red + 0.587 * green + 0.114 * blue) / 255;
}

const words: Readonly<Record<string, Colour>> = {
  red: '#c8322b',
  crimson: '#a3142e',
  scarlet: '#d9291c',
  orange: '#e67e22',
  yellow: '#f2c12e',
  golden: '#d9a32b',
  gold: '#d9a32b',
  green: '#3f8f4f',
  emerald: '#1f8a5b',
  teal: '#2a8a8a',
  turquoise: '#35b5b0',
  blue: '#2f62b5',
  navy: '#1d2d5c',
  indigo: '#3d3a8c',
  violet: '#7d4fa8',
  purple: '#74408f',
  pink: '#e686ab',
  magenta: '#c4368b',
  brown: '#7a5233',
  white: '#f2f0ea',
  silver: '#b9bfc6',
  grey: '#858a90',
  gray: '#858a90',
  black: '#24222a',
};

/** The names of colours, as alternatives of a pattern. */
export const colourNames = Object.keys(words).join('|');

const pattern = new RegExp(`\\b(${colourNames})\\b`, 'gi');

/** Returns the colours that a prompt names, in its order. */
export function coloursNamed(prompt: string): readonly Colour[] {
  return [...prompt.slice(0, 4000).matchAll(pattern)].map(([word]) => words[word.toLowerCase()] ?? '');
}
