import type { Drawing, Frame } from '../../draw/canvas/drawing.ts';
import type { Film } from '../../draw/film.ts';
import { digestOf } from '../../seeded.ts';

/** How films are made of a frame. */
export interface Shooting {
  readonly motion: 'low' | 'high';
  /** How many different ones. */
  readonly count: number;
  /** The prompt: another one makes other films. */
  readonly words: string;
}

/** Films that begin with a frame. */
export function filmsOf(
  frame: Frame,
  {
    motion,
    count,
    words,
    loop,
    lines,
    end,
  }: Shooting & Pick<Film, 'loop' | 'lines'> & { readonly end?: Frame | undefined },
): readonly Film[] {
  const root = digestOf(JSON.stringify([frame, end ?? null, motion, words, loop]));
  return Array.from({ length: count }, (_, index) => ({
    frame,
    ...(end === undefined ? {} : { end }),
    shots: [{ motion, seed: digestOf(`${root} ${index}`) }],
    loop,
    lines,
  }));
}

/** Films that continue where this one ends; a loop has no end, and an extended loop is no loop any more. */
export function extendedFilms(film: Film | undefined, { motion, count, words }: Shooting): readonly Film[] {
  if (film === undefined) throw new Error('Internal error: there is no film to go on with');
  const { end: _end, ...rest } = film;
  const root = digestOf(JSON.stringify([film, motion, words]));
  return Array.from({ length: count }, (_, index) => ({
    ...rest,
    loop: false,
    shots: [...film.shots, { motion, seed: digestOf(`${root} ${index}`) }],
  }));
}

/** A still of each film, as imageUrl shows them. */
export function posterOf(films: readonly Film[]): Drawing {
  return { size: films.length === 1 ? 'whole' : 'grid', frames: films.map(({ frame }) => frame) };
}
