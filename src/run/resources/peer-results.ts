import { type LateFact, StateError } from '../../state/store.ts';
import type { Clock } from '../clock.ts';

/** How often the jobs of others are looked at that cells wait for, ms. */
const everyMs = 1000;

interface Others {
  look(keys: readonly string[]): Promise<readonly LateFact[]>;
}

/** A store that is away for a moment is looked at again; the next commit says it where that lasts. */
function unread(error: unknown): readonly LateFact[] {
  if (error instanceof StateError) return [];
  throw error;
}

/** Looks at the jobs of other workers that cells wait for: all of them with one query, once a second while there are any. */
export class PeerResults {
  readonly #others: Others;
  readonly #clock: Clock;
  readonly #awaited: () => readonly string[];
  readonly #begin: (work: () => Promise<void>) => void;
  readonly #onLooked: (heard: readonly LateFact[]) => void;
  #cancel: (() => void) | undefined;
  #isLooking = false;

  /**
   * @param awaited keys of the jobs that cells wait for
   * @param begin keeps the run from ending while it is looked
   * @param onLooked is given what was heard late of these jobs
   */
  constructor(
    others: Others,
    clock: Clock,
    awaited: () => readonly string[],
    begin: (work: () => Promise<void>) => void,
    onLooked: (heard: readonly LateFact[]) => void,
  ) {
    this.#others = others;
    this.#clock = clock;
    this.#awaited = awaited;
    this.#begin = begin;
    this.#onLooked = onLooked;
  }

  /** Something may be waited for since. */
  arm(): void {
    if (this.#cancel !== undefined || this.#isLooking || this.#awaited().length === 0) return;
    this.#cancel = this.#clock.at(this.#clock.now() + everyMs, () => {
      this.#cancel = undefined;
      this.#isLooking = true;
      this.#begin(async () => {
        const heard = await this.#others.look(this.#awaited()).catch(unread);
        this.#isLooking = false;
        this.#onLooked(heard);
        this.arm();
      });
    });
  }

  end(): void {
    this.#cancel?.();
  }
}
