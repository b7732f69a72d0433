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
export class Outgoing {
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
