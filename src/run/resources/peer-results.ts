import { type LateFact, StateError } from '../../state/store.ts';
import type { Clock } from '../clock.ts';

/** Interval at which the awaited jobs of other workers are read, ms. */
const everyMs = 1000;

interface Others {
  read(keys: readonly string[]): Promise<readonly LateFact[]>;
}

/** A store that is unavailable for a moment is read again later. A longer outage makes the next commit fail. */
function unread(error: unknown): readonly LateFact[] {
  if (error instanceof StateError) return [];
  throw error;
}

/** Reads the jobs of other workers that cells wait for: all of them with one query, once a second while there are any. */
export class PeerResults {
  readonly #others: Others;
  readonly #clock: Clock;
  readonly #awaited: () => readonly string[];
  readonly #begin: (work: () => Promise<void>) => void;
  readonly #onRead: (lateFacts: readonly LateFact[]) => void;
  #cancel: (() => void) | undefined;
  #isReading = false;

  /**
   * @param awaited returns the keys of the jobs that cells wait for
   * @param begin keeps the run from ending during a read
   * @param onRead called with the late facts about these jobs
   */
  constructor(
    others: Others,
    clock: Clock,
    awaited: () => readonly string[],
    begin: (work: () => Promise<void>) => void,
    onRead: (lateFacts: readonly LateFact[]) => void,
  ) {
    this.#others = others;
    this.#clock = clock;
    this.#awaited = awaited;
    this.#begin = begin;
    this.#onRead = onRead;
  }

  /** Starts the timer if cells now wait for jobs of other workers. */
  arm(): void {
    if (this.#cancel !== undefined || this.#isReading || this.#awaited().length === 0) return;
    this.#cancel = this.#clock.at(this.#clock.now() + everyMs, () => {
      this.#cancel = undefined;
      this.#isReading = true;
      this.#begin(async () => {
        const lateFacts = await this.#others.read(this.#awaited()).catch(unread);
        this.#isReading = false;
        this.#onRead(lateFacts);
        this.arm();
      });
    });
  }

  end(): void {
    this.#cancel?.();
  }
}
