import type { InputResult, LoadedImage } from '../../artifacts/inputs.ts';
import type { SaveFailure } from '../../artifacts/writer.ts';
import type { InlineImage } from '../../service/text-service.ts';
import { MissingInput } from './conversation.ts';

/** Largest total size of images in requests in flight, in bytes of Base64. */
export const maxOutgoing = 128 * 1024 * 1024;

interface Waiter {
  readonly bytes: number;
  readonly go: () => void;
}

/**
 * Limits the total size of images in requests in flight, first come, first served. A request larger than the limit is sent when it is
 * alone; the maximum body size bounds it.
 */
export class InputBudget {
  readonly #bound: number;
  #reserved = 0;
  readonly #waiting = new Set<Waiter>();

  /** @param bound in bytes. Default {@link maxOutgoing} */
  constructor(bound: number = maxOutgoing) {
    this.#bound = bound;
  }

  /** Bytes reserved now. */
  get reserved(): number {
    return this.#reserved;
  }

  /**
   * Waits until this many bytes can be reserved. The caller releases them with `give`.
   *
   * @throws (rejects with) the reason of the signal, once it is aborted
   */
  take(bytes: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason as Error);
      if (this.#waiting.size === 0 && this.#fits(bytes)) {
        this.#reserved += bytes;
        return resolve();
      }
      const waiter: Waiter = {
        bytes,
        go: () => {
          signal.removeEventListener('abort', leave);
          resolve();
        },
      };
      const leave = (): void => {
        this.#waiting.delete(waiter);
        reject(signal.reason as Error);
        // The waiter that left may have blocked a smaller one behind it.
        this.#admit();
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.add(waiter);
    });
  }

  give(bytes: number): void {
    this.#reserved -= bytes;
    this.#admit();
  }

  #fits(bytes: number): boolean {
    return this.#reserved === 0 || this.#reserved + bytes <= this.#bound;
  }

  #admit(): void {
    for (const waiter of this.#waiting) {
      if (!this.#fits(waiter.bytes)) return;
      this.#waiting.delete(waiter);
      this.#reserved += waiter.bytes;
      waiter.go();
    }
  }
}

/** The result of a request that shows images, or the error of an image that could not be read: then no request was sent. */
export type LoadedInputs<T> = { readonly result: T } | { readonly unread: SaveFailure };

/** Thrown when an image cannot be read. */
class Unread extends Error {
  readonly failure: SaveFailure;

  constructor(failure: SaveFailure) {
    super(failure.message, { cause: failure.cause });
    this.failure = failure;
  }
}

/** Returns a loaded image. @throws Unread, which {@link withInputs} catches */
export function read(result: InputResult): LoadedImage {
  if (!result.ok) throw new Unread(result.error);
  return result.value;
}

/** Returns an image as it is sent, without its width and height. */
export const inlined = ({ mimeType, data }: LoadedImage): InlineImage => ({ mimeType, data });

/**
 * Makes a request that shows images, and keeps them in memory only until the request ends.
 *
 * @param request calls `reserve` with the size of its images in bytes of Base64, then reads them
 */
export async function withInputs<T>(
  inputBudget: InputBudget,
  signal: AbortSignal,
  request: (reserve: (bytes: number) => Promise<void>) => Promise<T>,
): Promise<LoadedInputs<T>> {
  let reserved = 0;
  try {
    const result = await request(async (bytes) => {
      if (bytes === 0) return;
      await inputBudget.take(bytes, signal);
      reserved = bytes;
    });
    return { result };
  } catch (error) {
    if (error instanceof Unread) return { unread: error.failure };
    if (error instanceof MissingInput)
      return { unread: { code: 'input.missing', class: 'permanent', message: error.message } };
    if (signal.aborted && error === signal.reason) return { unread: aborted };
    throw error;
  } finally {
    if (reserved > 0) inputBudget.give(reserved);
  }
}

/** The request was not sent, so the job is not in doubt. */
const aborted: SaveFailure = {
  code: 'download.aborted',
  class: 'retry',
  message: 'The run ended before the images of this request were read.',
};
