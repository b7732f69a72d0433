import pLimit from 'p-limit';
import type { Drawing } from './canvas/drawing.ts';
import { Drawers, threadFile } from './drawers.ts';
import type { Film } from './film.ts';
import type { Order } from './order.ts';
import type { ImageOf } from './plate.ts';

/** The sizes and bounds of a studio. */
export interface StudioSettings {
  /** Side in pixels of a square grid or image. */
  readonly pixels: number;
  /** Number of threads that draw. */
  readonly drawers: number;
  /** Largest number of bytes of cached pictures; the longest unused is dropped first. */
  readonly imageCache: number;
}

/** Pictures that a thread has in hand: while one is encoded, the next one is drawn. */
const perThread = 2;

/** Largest number of pictures that wait for a thread. */
const maxWaiting = 2_000;

/** A picture that is not drawn yet, and the number of those who still wait for it. */
interface Active {
  readonly picture: Promise<Buffer>;
  callers: number;
}

/** Has pictures drawn and caches them: equal drawings share one picture. A signal says that nobody waits for the picture any more. */
export class Studio {
  readonly #settings: StudioSettings;
  readonly #drawers: Drawers;
  readonly #limit: ReturnType<typeof pLimit>;
  readonly #finished = new Map<string, Buffer>();
  readonly #active = new Map<string, Active>();
  #bytes = 0;

  /**
   * @param imageOf returns the images and masks that drawings name
   * @param file the built file of the threads; without it, pictures are drawn in this thread
   */
  constructor(settings: StudioSettings, imageOf: ImageOf, file: URL | undefined = threadFile) {
    this.#settings = settings;
    this.#drawers = new Drawers(settings.drawers, imageOf, file);
    this.#limit = pLimit({ concurrency: settings.drawers * perThread, rejectOnClear: true });
  }

  /** Returns the PNG of a drawing. `scale`: factor on its side, up to 4096 pixels. */
  picture(drawing: Drawing, signal?: AbortSignal, scale = 1): Promise<Buffer> {
    const pixels = Math.min(this.#settings.pixels * scale, Math.max(4096, this.#settings.pixels));
    return this.#once({ kind: 'picture', drawing, pixels }, signal);
  }

  /** Returns the animated WebP of a film. */
  film(film: Film, signal?: AbortSignal): Promise<Buffer> {
    return this.#once({ kind: 'film', film, pixels: this.#settings.pixels }, signal);
  }

  /** Returns the preview of a drawing: smaller, and the more blurred the lower the progress (gateway 4.7). */
  preview(drawing: Drawing, percent: number, signal?: AbortSignal): Promise<Buffer> {
    return this.#once({ kind: 'preview', drawing, percent }, signal);
  }

  /** Rejects the waiting pictures, waits until those in progress are done, and ends the threads. */
  async close(): Promise<void> {
    this.#limit.clearQueue();
    await Promise.allSettled([...this.#active.values()].map(({ picture }) => picture));
    await this.#drawers.close();
  }

  async #once(order: Order, signal: AbortSignal | undefined): Promise<Buffer> {
    const key = JSON.stringify(order);
    const finished = this.#finished.get(key);
    if (finished !== undefined) {
      this.#finished.delete(key);
      this.#finished.set(key, finished);
      return finished;
    }
    const active = this.#active.get(key) ?? this.#start(key, order);
    active.callers += 1;
    const leave = (): void => {
      active.callers -= 1;
    };
    signal?.addEventListener('abort', leave, { once: true });
    try {
      return await active.picture;
    } finally {
      signal?.removeEventListener('abort', leave);
    }
  }

  #start(key: string, order: Order): Active {
    if (this.#limit.pendingCount >= maxWaiting)
      throw new Error(`${maxWaiting} pictures wait to be drawn already. Ask for this one later.`);
    const draw = (): Promise<Buffer> => {
      if (active.callers === 0) throw new Error('Nobody waits for this picture any more.');
      return this.#drawers.draw(order);
    };
    const picture = this.#limit(draw)
      .then((bytes) => {
        this.#keep(key, bytes);
        return bytes;
      })
      .finally(() => this.#active.delete(key));
    const active: Active = { picture, callers: 0 };
    this.#active.set(key, active);
    return active;
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
