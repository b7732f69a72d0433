import pLimit from 'p-limit';
import { sharp } from '../../artifacts/formats/image-library.ts';
import type { Drawing } from './canvas/drawing.ts';
import { drawFilm, type Film } from './film.ts';
import { drawPicture } from './picture.ts';
import type { ImageOf } from './plate.ts';

/** How much, and how big, a studio draws. */
export interface StudioSettings {
  /** Side in pixels of a square grid or image. */
  readonly pixels: number;
  /** Pictures drawn at the same time; the rasterizing itself runs on libuv's threads. */
  readonly drawers: number;
  /** Bytes of finished pictures that are kept; the longest unused goes first. */
  readonly imageCache: number;
}

/** Draws each picture once while it is in use: equal drawings share one picture, and those in demand stay. */
export class Studio {
  readonly #settings: StudioSettings;
  readonly #imageOf: ImageOf;
  readonly #limit: ReturnType<typeof pLimit>;
  readonly #finished = new Map<string, Buffer>();
  readonly #active = new Map<string, Promise<Buffer>>();
  #bytes = 0;

  /** `imageOf` gives the images and masks that drawings name. */
  constructor(settings: StudioSettings, imageOf: ImageOf) {
    this.#settings = settings;
    this.#imageOf = imageOf;
    this.#limit = pLimit({ concurrency: settings.drawers, rejectOnClear: true });
  }

  /** The PNG of a drawing; `scale` is a factor on its side, up to 4096 pixels. */
  picture(drawing: Drawing, scale = 1): Promise<Buffer> {
    const pixels = Math.min(this.#settings.pixels * scale, Math.max(4096, this.#settings.pixels));
    const key = `${scale === 1 ? '' : `${scale} `}${JSON.stringify(drawing)}`;
    return this.#once(key, () => drawPicture(drawing, pixels, this.#imageOf));
  }

  /** The animated WebP of a film. */
  film(film: Film): Promise<Buffer> {
    return this.#once(`film ${JSON.stringify(film)}`, () =>
      drawFilm(film, this.#settings.pixels, this.#imageOf),
    );
  }

  /** What can be seen of it while its task works: smaller, and the more blurred the less is done (gateway 4.7). */
  preview(drawing: Drawing, percent: number): Promise<Buffer> {
    return this.#once(`preview ${percent} ${JSON.stringify(drawing)}`, async () => {
      const small = await drawPicture(
        { ...drawing, size: drawing.size === 'grid' ? 'grid' : 'whole' },
        256,
        this.#imageOf,
      );
      return sharp(small)
        .blur(0.5 + (100 - percent) / 8)
        .png()
        .toBuffer();
    });
  }

  /** Begins no other picture, and ends when nothing is being drawn any more: those that wait for their turn fail. */
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
