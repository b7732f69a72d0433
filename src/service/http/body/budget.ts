/** Bytes of every body that are not counted, so that a small response, as nearly all are, never waits for a large one. */
const freeBytes = 64 * 1024;

const defaultBound = 128 * 1024 * 1024;

/** Counts the bytes of one response's body while it is read. */
export interface BodyHold {
  /**
   * Counts bytes that have arrived. Undefined: the reader may keep them at once. Otherwise it may keep them, and request more of the
   * body, when the promise resolves.
   *
   * @throws (rejects with) the reason of the signal that the hold was opened with, once it is aborted
   */
  take(bytes: number): Promise<void> | undefined;
  /** Frees the bytes of the body, which was read or given up. */
  release(): void;
}

interface Body {
  bytes: number;
  /** Bytes of the body that are in the sum. */
  counted: number;
}

interface Waiter {
  readonly body: Body;
  readonly bytes: number;
  readonly go: () => void;
}

/**
 * Counts the bytes of responses being read, over all requests of a client, and keeps their sum within a bound.
 *
 * Past the bound, readers stop requesting more: the rest of the bytes stays at the service. First come, first served: a new reader
 * never overtakes a waiting one. The reader that has waited longest gets the pass: it reads its body to the end, even above the bound,
 * so that some reader always frees memory. Hence `held` is at most the bound plus the one body with the pass, which has its own bound.
 * 64 KiB of each body, and the chunk in hand, are not counted.
 */
export class BodyPool {
  readonly #bound: number;
  #held = 0;
  #most = 0;
  #pass: Body | undefined;
  /** Waiting readers in order of arrival. While one waits, some reader has the pass. */
  readonly #waiting = new Set<Waiter>();

  /** @param bound in bytes. Default 128 MiB */
  constructor(bound: number = defaultBound) {
    this.#bound = bound;
  }

  /** Bytes that are counted now. */
  get held(): number {
    return this.#held;
  }

  /** Largest number of bytes ever counted. */
  get most(): number {
    return this.#most;
  }

  /** Number of readers that wait for room. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Starts counting a body. The caller must release the hold. */
  open(signal: AbortSignal): BodyHold {
    const body: Body = { bytes: 0, counted: 0 };
    return {
      take: (bytes) => {
        if (this.#mayKeep(body, bytes)) {
          this.#keep(body, bytes);
          return undefined;
        }
        return this.#wait(body, bytes, signal);
      },
      release: () => {
        this.#held -= body.counted;
        body.counted = 0;
        body.bytes = 0;
        if (this.#pass === body) this.#pass = undefined;
        this.#admit();
      },
    };
  }

  #mayKeep(body: Body, bytes: number): boolean {
    const more = growth(body, bytes);
    if (more === 0 || this.#pass === body) return true;
    return this.#waiting.size === 0 && this.#hasRoom(body, more);
  }

  /** Whether the body fits. If it does not, and no other body has the pass, it gets the pass. */
  #hasRoom(body: Body, more: number): boolean {
    if (this.#held + more <= this.#bound) return true;
    if (this.#pass !== undefined) return false;
    this.#pass = body;
    return true;
  }

  #keep(body: Body, bytes: number): void {
    const more = growth(body, bytes);
    body.bytes += bytes;
    body.counted += more;
    this.#held += more;
    this.#most = Math.max(this.#most, this.#held);
  }

  #wait(body: Body, bytes: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        body,
        bytes,
        go: () => {
          signal.removeEventListener('abort', giveUp);
          resolve();
        },
      };
      const giveUp = (): void => {
        this.#waiting.delete(waiter);
        reject(signal.reason);
        // A smaller body may have waited behind it.
        this.#admit();
      };
      if (signal.aborted) return reject(signal.reason);
      signal.addEventListener('abort', giveUp, { once: true });
      this.#waiting.add(waiter);
    });
  }

  #admit(): void {
    for (const waiter of this.#waiting) {
      const { body, bytes, go } = waiter;
      if (!this.#hasRoom(body, growth(body, bytes))) return;
      this.#waiting.delete(waiter);
      this.#keep(body, bytes);
      go();
    }
  }
}

/** Returns by how much the sum grows when the body grows. */
const growth = (body: Body, bytes: number): number =>
  Math.max(0, body.bytes + bytes - freeBytes) - body.counted;
