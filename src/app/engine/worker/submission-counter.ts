import type { Clock } from '../../../run/clock.ts';
import type { ResultStore } from '../../../run/ports.ts';

/** Largest age of the count that is kept beside the results, ms. */
const everyMs = 1000;

/** The two places where a worker counts its submissions: the engine and the results. */
export interface CountPorts {
  readonly clock: Clock;
  /** Adds to the count in the engine. @returns the sum of all workers, stored durably */
  readonly add: (count: number) => Promise<number>;
  /** Writes that sum beside the results. */
  readonly raise: (total: number) => Promise<void>;
  /** The store of the results, if it can be unavailable too. */
  readonly results?: ResultStore;
}

/**
 * Counts the submissions of one worker, at most once a second: in the engine first and then beside the results. So a higher count beside
 * the results shows that the engine was restored from an older copy. While the count cannot be written, the store reports that it is
 * unavailable, and nothing new is sent.
 */
export class SubmissionCounter implements ResultStore {
  readonly #ports: CountPorts;
  #pending = 0;
  #total = 0;
  #raised = 0;
  #fault: string | undefined;
  /** Why results or counts cannot be stored. */
  #why: string | undefined;
  readonly #listeners = new Set<(why: string | undefined) => void>();
  #cancel: (() => void) | undefined;
  #writing: Promise<void> | undefined;
  #isOver = false;

  constructor(ports: CountPorts) {
    this.#ports = ports;
  }

  /** Notes that a submission or a text call was sent. */
  note(): void {
    this.#pending += 1;
    this.#arm();
  }

  /** Whether results or counts cannot be stored at the moment. */
  get isAway(): boolean {
    return (this.#why ?? this.#fault) !== undefined;
  }

  readonly onAway = (listener: (why: string | undefined) => void): (() => void) => {
    this.#listeners.add(listener);
    const unlisten = this.#ports.results?.onAway((why) => {
      this.#why = why;
      this.#tell();
    });
    if (this.#fault !== undefined) this.#tell();
    return () => {
      this.#listeners.delete(listener);
      unlisten?.();
    };
  };

  /** Writes the remaining count. Never rejects. */
  async stop(): Promise<void> {
    this.#isOver = true;
    this.#cancel?.();
    await this.#writing;
    await this.#write();
  }

  #arm(): void {
    if (this.#isOver || this.#cancel !== undefined || this.#writing !== undefined) return;
    const { clock } = this.#ports;
    this.#cancel = clock.at(clock.now() + everyMs, () => {
      this.#cancel = undefined;
      this.#writing = this.#writeNow();
    });
  }

  async #writeNow(): Promise<void> {
    await this.#write();
    this.#writing = undefined;
    if (this.#pending > 0 || this.#total > this.#raised) this.#arm();
  }

  async #write(): Promise<void> {
    const { add, raise } = this.#ports;
    const sent = this.#pending;
    if (sent > 0) {
      try {
        this.#total = await add(sent);
      } catch {
        // An engine that is unavailable reports that itself, and nothing is submitted meanwhile.
        return;
      }
      this.#pending -= sent;
    }
    if (this.#total <= this.#raised) return;
    const total = this.#total;
    try {
      await raise(total);
      this.#raised = total;
      if (this.#fault === undefined) return;
      this.#fault = undefined;
    } catch (error) {
      if (this.#fault !== undefined) return;
      this.#fault = `Submissions cannot be counted beside the results, so an older database would not be noticed: nothing new is sent until they can. ${error instanceof Error ? error.message : String(error)}`;
    }
    this.#tell();
  }

  #tell(): void {
    for (const listener of this.#listeners) listener(this.#why ?? this.#fault);
  }
}
