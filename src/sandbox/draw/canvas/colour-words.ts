import type { Colour } from './colour.ts';

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

/** Their names, as one alternative of a pattern. */
export const colourNames = Object.keys(words).join('|');

const pattern = new RegExp(`\\b(${colourNames})\\b`, 'gi');

/** The colours that a prompt names, in its order. */
export function coloursNamed(prompt: string): readonly Colour[] {
  return [...prompt.slice(0, 4000).matchAll(pattern)].map(([word]) => words[word.toLowerCase()] ?? '');
}
