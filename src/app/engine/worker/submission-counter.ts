import type { Clock } from '../../../run/clock.ts';
import type { ResultStore } from '../../../run/ports.ts';

/** How old the count outside of the engine may be, ms. */
const everyMs = 1000;

/** Where a worker counts its submissions. */
export interface CountPorts {
  readonly clock: Clock;
  /** Adds to what the engine has counted. @returns the sum of all workers, durable */
  readonly add: (count: number) => Promise<number>;
  /** Says that sum outside of the engine. */
  readonly raise: (total: number) => Promise<void>;
  /** Where the results go, if it may be away too. */
  readonly results?: ResultStore;
}

/**
 * Counts the submissions of one worker, at most once a second: in the engine first and then in the place of the results, so that whoever finds
 * more in the place than in the engine has an older engine. While that cannot be said, an older engine would not be known: the place is told to be
 * away, and nothing new is sent.
 */
export class SubmissionCounter implements ResultStore {
  readonly #ports: CountPorts;
  #pending = 0;
  #total = 0;
  #raised = 0;
  #fault: string | undefined;
  /** Why the results cannot be stored. */
  #why: string | undefined;
  readonly #listeners = new Set<(why: string | undefined) => void>();
  #cancel: (() => void) | undefined;
  #writing: Promise<void> | undefined;
  #isOver = false;

  constructor(ports: CountPorts) {
    this.#ports = ports;
  }

  /** A submission or a text call is on its way. */
  note(): void {
    this.#pending += 1;
    this.#arm();
  }

  /** The place takes no results, or no counts. */
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

  /** Says what is left. Never rejects. */
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
        // An engine that is away tells so itself, and nothing is submitted meanwhile.
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
      this.#fault = `Submissions cannot be counted beside the results, so that an older database would not be known: nothing new is sent until they can. ${error instanceof Error ? error.message : String(error)}`;
    }
    this.#tell();
  }

  #tell(): void {
    for (const listener of this.#listeners) listener(this.#why ?? this.#fault);
  }
}
