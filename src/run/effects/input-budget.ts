import type { InputResult, LoadedImage } from '../../artifacts/inputs.ts';
import type { SaveFailure } from '../../artifacts/writer.ts';
import type { InlineImage } from '../../service/text-service.ts';
import { MissingInput } from './conversation.ts';

/** Bytes of images that are held, as Base64, for text calls under way: one large body or many small ones. */
export const mostOutgoing = 128 * 1024 * 1024;

interface Waiter {
  readonly bytes: number;
  readonly go: () => void;
}

/**
 * Holds the images of all text calls under way to a bound. First come, first served. What is larger than the bound goes
 * when it is alone: a single call is bounded by what a body may be.
 */
export class InputBudget {
  readonly #bound: number;
  #held = 0;
  /** In order of arrival. */
  readonly #waiting = new Set<Waiter>();

  /** @param bound in bytes. Default {@link mostOutgoing} */
  constructor(bound: number = mostOutgoing) {
    this.#bound = bound;
  }

  /** Bytes that are held now. */
  get held(): number {
    return this.#held;
  }

  /**
   * Waits until so many bytes may be held. Whoever asked gives them back.
   *
   * @throws (rejects with) the reason of the signal, once it is aborted
   */
  take(bytes: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason as Error);
      if (this.#waiting.size === 0 && this.#hasRoom(bytes)) {
        this.#held += bytes;
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
        // It may have kept a smaller one behind it from going.
        this.#admit();
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.add(waiter);
    });
  }

  give(bytes: number): void {
    this.#held -= bytes;
    this.#admit();
  }

  #hasRoom(bytes: number): boolean {
    return this.#held === 0 || this.#held + bytes <= this.#bound;
  }

  #admit(): void {
    for (const waiter of this.#waiting) {
      if (!this.#hasRoom(waiter.bytes)) return;
      this.#waiting.delete(waiter);
      this.#held += waiter.bytes;
      waiter.go();
    }
  }
}

/** What came of a request that shows images, or why they could not be read, so that it was not made. */
export type LoadedInputs<T> = { readonly result: T } | { readonly unread: SaveFailure };

/** An image that could not be read. */
class Unread extends Error {
  readonly failure: SaveFailure;

  constructor(failure: SaveFailure) {
    super(failure.message, { cause: failure.cause });
    this.failure = failure;
  }
}

/** @throws Unread, which {@link withInputs} takes */
export function read(result: InputResult): LoadedImage {
  if (!result.ok) throw new Unread(result.error);
  return result.value;
}

/** An image as it is sent: its size is nothing that the wire knows. */
export const inlined = ({ mimeType, data }: LoadedImage): InlineImage => ({ mimeType, data });

/**
 * Makes a request that shows images, which are held only while it is under way.
 *
 * @param request reads its images once it holds room for their bytes, of Base64
 */
export async function withInputs<T>(
  inputBudget: InputBudget,
  signal: AbortSignal,
  request: (hold: (bytes: number) => Promise<void>) => Promise<T>,
): Promise<LoadedInputs<T>> {
  let held = 0;
  try {
    const result = await request(async (bytes) => {
      if (bytes === 0) return;
      await inputBudget.take(bytes, signal);
      held = bytes;
    });
    return { result };
  } catch (error) {
    if (error instanceof Unread) return { unread: error.failure };
    if (error instanceof MissingInput)
      return { unread: { code: 'input.missing', class: 'permanent', message: error.message } };
    if (signal.aborted && error === signal.reason) return { unread: aborted };
    throw error;
  } finally {
    if (held > 0) inputBudget.give(held);
  }
}

/** It never left, so it is not in doubt. */
const aborted: SaveFailure = {
  code: 'download.aborted',
  class: 'retry',
  message: 'The run was left before the images of this request were read.',
};
