import { sharp } from '../../artifacts/formats/image-library.ts';
import type { Drawing, Frame } from './canvas/drawing.ts';
import { drawFilm, type Film } from './film.ts';
import { drawPicture } from './picture.ts';
import type { ImageOf } from './plate.ts';

/** What is to be drawn, as data. `pixels`: the side of a square image. */
export type Order =
  | { readonly kind: 'picture'; readonly drawing: Drawing; readonly pixels: number }
  | { readonly kind: 'preview'; readonly drawing: Drawing; readonly percent: number }
  | { readonly kind: 'film'; readonly film: Film; readonly pixels: number };

/** Draws a PNG, or the animated WebP of a film. Equal orders give equal bytes. */
export async function drawOrder(order: Order, imageOf: ImageOf): Promise<Buffer> {
  switch (order.kind) {
    case 'picture':
      return drawPicture(order.drawing, order.pixels, imageOf);
    case 'film':
      return drawFilm(order.film, order.pixels, imageOf);
    case 'preview': {
      const { drawing, percent } = order;
      const size = drawing.size === 'grid' ? 'grid' : 'whole';
      return sharp(await drawPicture({ ...drawing, size }, 256, imageOf))
        .blur(0.5 + (100 - percent) / 8)
        .png()
        .toBuffer();
    }
  }
}

/** Returns the frames that an order shows. */
export const framesOf = (order: Order): readonly Frame[] =>
  order.kind === 'film'
    ? [order.film.frame, ...(order.film.end ? [order.film.end] : [])]
    : order.drawing.frames;

/** Returns the hashes of the images and masks in frames. */
export const imagesIn = (frames: readonly Frame[]): readonly string[] =>
  frames.flatMap(({ plate, patches }) => [
    ...(plate?.photos ?? []).map(({ sha256 }) => sha256),
    ...(patches ?? []).map(({ mask }) => mask),
  ]);
