import type { Clock } from '../../run/clock.ts';
import type { SliceQueue, Turn } from './queue.ts';

/** The lease is told of so often in its time: two of these may be missed. */
const perLease = 3;
/** A queue that gave no answer is told again so soon, ms, if not sooner. */
const againMs = 1000;

/**
 * Tells the queue, again and again, of the slices that this worker is at work on. While the queue is away they go on: whether one was
 * taken over meanwhile is a matter of its epoch.
 */
export class Keeper {
  readonly #queue: Pick<SliceQueue, 'keep'>;
  readonly #clock: Clock;
  readonly #leaseMs: number;
  readonly #onLost: (turn: Turn) => void;
  readonly #held = new Set<Turn>();
  #cancel: (() => void) | undefined;
  #telling: Promise<void> | undefined;
  #isOver = false;
  #error: unknown;

  /** @param onLost called with a slice that is not this worker's own any more */
  constructor(
    queue: Pick<SliceQueue, 'keep'>,
    clock: Clock,
    { leaseMs, onLost }: { readonly leaseMs: number; readonly onLost: (turn: Turn) => void },
  ) {
    this.#queue = queue;
    this.#clock = clock;
    this.#leaseMs = leaseMs;
    this.#onLost = onLost;
    this.#tellIn(leaseMs / perLease);
  }

  /** Why the queue could not be told last; undefined: it was. */
  get error(): unknown {
    return this.#error;
  }

  /** Keeps a slice that was taken. @returns what ends that: before the slice is given back, or done */
  hold(turn: Turn): () => void {
    this.#held.add(turn);
    return () => {
      this.#held.delete(turn);
    };
  }

  /** Tells no more. Resolves once nothing is under way. */
  async stop(): Promise<void> {
    this.#isOver = true;
    this.#cancel?.();
    await this.#telling;
  }

  #tellIn(ms: number): void {
    if (this.#isOver) return;
    this.#cancel = this.#clock.at(this.#clock.now() + ms, () => {
      this.#telling = this.#tell();
    });
  }

  async #tell(): Promise<void> {
    const from = this.#clock.now();
    let nextMs = this.#leaseMs / perLease;
    try {
      const lost = this.#held.size === 0 ? [] : await this.#queue.keep([...this.#held]);
      this.#error = undefined;
      // What has ended meanwhile was not lost.
      for (const turn of lost) if (this.#held.delete(turn)) this.#onLost(turn);
      nextMs = Math.max(0, nextMs - (this.#clock.now() - from));
    } catch (error) {
      this.#error = error;
      nextMs = Math.min(againMs, nextMs / 2);
    }
    this.#tellIn(nextMs);
  }
}
