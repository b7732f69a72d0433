import type { Cancel } from '../cancel.ts';

/** This much of every body is not counted. So a small response, as nearly all are, never waits for a large one. */
const freeBytes = 64 * 1024;

const defaultBound = 128 * 1024 * 1024;

/** One response's body while it is read. */
export interface BodyHold {
  /**
   * Counts bytes that have arrived. Undefined: they may be kept at once. Else they may be kept, and more of the body be
   * asked for, when the promise resolves.
   *
   * @throws (rejects with) the reason of the signal that the hold was opened with, once it is aborted
   */
  take(bytes: number): Promise<void> | undefined;
  /** The body is read, or given up: what it held is free. */
  release(): void;
}

interface Body {
  bytes: number;
  /** The part of the body that is in the sum. */
  counted: number;
}

interface Waiter {
  readonly body: Body;
  readonly bytes: number;
  readonly go: () => void;
}

/**
 * Counts the bytes of responses that are being read, over all requests of a client, and holds their sum to a bound.
 *
 * Past the bound, readers stop asking for more: the rest of the bytes stays at the service. First come, first served; a
 * newcomer never overtakes a waiting reader. The longest waiting reader gets the pass: it reads its body to the end, even
 * above the bound, so that some reader always makes room. Hence `held` is never more than the bound and the one body that
 * has the pass, which has a bound of its own; and of each body besides, 64 KiB and the chunk in hand.
 */
export class BodyPool {
  readonly #bound: number;
  #held = 0;
  #most = 0;
  #pass: Body | undefined;
  /** In order of arrival. While somebody waits, somebody has the pass. */
  readonly #waiting = new Set<Waiter>();

  /** @param bound in bytes. Default 128 MiB */
  constructor(bound: number = defaultBound) {
    this.#bound = bound;
  }

  /** Bytes that are counted now. */
  get held(): number {
    return this.#held;
  }

  /** The most that were ever counted. */
  get most(): number {
    return this.#most;
  }

  /** Readers that wait for room. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Begins to count a body. The caller must release the hold. */
  open(signal: Cancel): BodyHold {
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

  /** Gives the body the pass where there is no room and no body has it. */
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

  #wait(body: Body, bytes: number, signal: Cancel): Promise<void> {
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
        // It may have kept a smaller one behind it from going.
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

/** By how much the sum grows when the body does. */
const growth = (body: Body, bytes: number): number =>
  Math.max(0, body.bytes + bytes - freeBytes) - body.counted;
