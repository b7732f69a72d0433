import pLimit from 'p-limit';
import { sharp } from '../../artifacts/formats/image-library.ts';
import type { Drawing } from './canvas/drawing.ts';
import { drawFilm, type Film } from './film.ts';
import { drawPicture } from './picture.ts';
import type { ImageOf } from './plate.ts';

/** The sizes and bounds of a studio. */
export interface StudioSettings {
  /** Side in pixels of a square grid or image. */
  readonly pixels: number;
  /** Number of pictures that are drawn at the same time, on libuv's threads. */
  readonly drawers: number;
  /** Largest number of bytes of cached pictures; the longest unused is dropped first. */
  readonly imageCache: number;
}

/** Draws pictures and caches them: equal drawings share one picture. */
export class Studio {
  readonly #settings: StudioSettings;
  readonly #imageOf: ImageOf;
  readonly #limit: ReturnType<typeof pLimit>;
  readonly #finished = new Map<string, Buffer>();
  readonly #active = new Map<string, Promise<Buffer>>();
  #bytes = 0;

  /** @param imageOf returns the images and masks that drawings name */
  constructor(settings: StudioSettings, imageOf: ImageOf) {
    this.#settings = settings;
    this.#imageOf = imageOf;
    this.#limit = pLimit({ concurrency: settings.drawers, rejectOnClear: true });
  }

  /** Returns the PNG of a drawing. `scale`: factor on its side, up to 4096 pixels. */
  picture(drawing: Drawing, scale = 1): Promise<Buffer> {
    const pixels = Math.min(this.#settings.pixels * scale, Math.max(4096, this.#settings.pixels));
    const key = `${scale === 1 ? '' : `${scale} `}${JSON.stringify(drawing)}`;
    return this.#once(key, () => drawPicture(drawing, pixels, this.#imageOf));
  }

  /** Returns the animated WebP of a film. */
  film(film: Film): Promise<Buffer> {
    return this.#once(`film ${JSON.stringify(film)}`, () =>
      drawFilm(film, this.#settings.pixels, this.#imageOf),
    );
  }

  /** Returns the preview of a drawing: smaller, and the more blurred the lower the progress (gateway 4.7). */
  preview(drawing: Drawing, percent: number): Promise<Buffer> {
    return this.#once(`preview ${percent} ${JSON.stringify(drawing)}`, async () => {
      const size = drawing.size === 'grid' ? 'grid' : 'whole';
      const small = await drawPicture({ ...drawing, size }, 256, this.#imageOf);
      return sharp(small)
        .blur(0.5 + (100 - percent) / 8)
        .png()
        .toBuffer();
    });
  }

  /** Rejects the waiting pictures, and waits until those in progress are done. */
  async close(): Promise<void> {
    this.#limit.clearQueue();
    await Promise.allSettled(this.#active.values());
  }

  #once(key: string, draw: () => Promise<Buffer>): Promise<Buffer> {
    const finished = this.#finished.get(key);
    if (finished !== undefined) {
      this.#finished.delete(key);
      this.#finished.set(key, finished);
      return Promise.resolve(finished);
    }
    const known = this.#active.get(key);
    if (known !== undefined) return known;
    const work = this.#limit(draw)
      .then((picture) => {
        this.#keep(key, picture);
        return picture;
      })
      .finally(() => this.#active.delete(key));
    this.#active.set(key, work);
    return work;
  }

  #keep(key: string, picture: Buffer): void {
    if (picture.length > this.#settings.imageCache) return;
    this.#finished.set(key, picture);
    this.#bytes += picture.length;
    for (const [oldest, { length }] of this.#finished) {
      if (this.#bytes <= this.#settings.imageCache) break;
      this.#finished.delete(oldest);
      this.#bytes -= length;
    }
  }
}
