import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { imageLibrary } from '../../artifacts/formats/image-library.ts';
import { drawOrder, framesOf, imagesIn, type Order } from './order.ts';
import type { ImageOf } from './plate.ts';
import type { ThreadOrder, ThreadReply } from './thread.ts';

/** The number of threads that draw: the run between the pictures takes little of a core. */
export const drawingThreads = (): number => Math.min(4, availableParallelism());

/** The built file of a thread. In the sources, which a thread could not load, there is none: pictures are drawn where they are ordered. */
export const threadFile = import.meta.url.endsWith('.ts')
  ? undefined
  : new URL('../sandbox/draw/thread.js', import.meta.url);

/** Threads in which pictures are drawn, so that the core of the run is free. They start with their first order. */
export class Drawers {
  readonly #threads: (Thread | undefined)[];
  readonly #imageOf: ImageOf;
  readonly #file: URL | undefined;
  #ordered = 0;

  /** @param imageOf returns the images and masks that orders name */
  constructor(count: number, imageOf: ImageOf, file: URL | undefined) {
    this.#threads = Array.from({ length: count }, () => undefined);
    this.#imageOf = imageOf;
    this.#file = file;
  }

  /** Draws what is ordered. @throws if it cannot be drawn, or its thread ends before it is drawn */
  async draw(order: Order): Promise<Buffer> {
    // A library that is missing is reported from here: an error that a thread sends is an error of no class.
    imageLibrary();
    if (this.#file === undefined) return drawOrder(order, this.#imageOf);
    const images = new Map(imagesIn(framesOf(order)).map((sha256) => [sha256, this.#imageOf(sha256)]));
    const least = Math.min(...this.#threads.map((thread) => thread?.load ?? 0));
    const at = this.#threads.findIndex((thread) => (thread?.load ?? 0) === least);
    const thread = (this.#threads[at] ??= new Thread(this.#file, () => {
      this.#threads[at] = undefined;
    }));
    this.#ordered += 1;
    return thread.draw({ id: this.#ordered, order, images });
  }

  /** Ends the threads. What they have not drawn fails. */
  async close(): Promise<void> {
    for (const thread of this.#threads) await thread?.end();
  }
}

interface Waiting {
  readonly resolve: (bytes: Buffer) => void;
  readonly reject: (failure: unknown) => void;
}

class Thread {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();

  constructor(file: URL, onEnd: () => void) {
    // A picture makes many short-lived objects: with room for those of several, few are copied.
    this.#worker = new Worker(file, { resourceLimits: { maxYoungGenerationSizeMb: 64 } });
    let cause: unknown;
    this.#worker.on('message', (reply: ThreadReply) => {
      const waiting = this.#waiting.get(reply.id);
      this.#waiting.delete(reply.id);
      if (this.#waiting.size === 0) this.#worker.unref();
      if ('bytes' in reply)
        waiting?.resolve(Buffer.from(reply.bytes.buffer, reply.bytes.byteOffset, reply.bytes.length));
      else waiting?.reject(reply.failure);
    });
    this.#worker.on('error', (failure) => {
      cause = failure;
    });
    this.#worker.on('exit', (code) => {
      onEnd();
      const failure = new Error(`The thread that draws pictures has ended (exit code ${code}).`, { cause });
      for (const { reject } of this.#waiting.values()) reject(failure);
    });
    // Alive only while it draws: at the end of a sandbox nothing else keeps the process until that is done.
    this.#worker.unref();
  }

  /** Number of orders that it has not answered. */
  get load(): number {
    return this.#waiting.size;
  }

  draw(order: ThreadOrder): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      this.#worker.postMessage(order);
      this.#waiting.set(order.id, { resolve, reject });
      this.#worker.ref();
    });
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }
}
