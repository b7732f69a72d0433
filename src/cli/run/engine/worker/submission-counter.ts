import type { Clock } from '../../../../run/clock.ts';

/** How old the count outside of the engine may be, ms. */
const everyMs = 1000;

/** Where a worker counts its submissions. */
export interface CountPorts {
  readonly clock: Clock;
  /** Adds to what the engine has counted. @returns the sum of all workers, durable */
  readonly add: (count: number) => Promise<number>;
  /** Says that sum outside of the engine. */
  readonly raise: (total: number) => Promise<void>;
  /** Is told once why that fails, until it works again. */
  readonly onFault: (error: unknown) => void;
}

/**
 * Counts the submissions of one worker, at most once a second: in the engine first and then in the place of the results, so that whoever finds
 * more in the place than in the engine has an older engine.
 */
export class SubmissionCounter {
  readonly #ports: CountPorts;
  #pending = 0;
  #total = 0;
  #raised = 0;
  #isFaulty = false;
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
    const { add, raise, onFault } = this.#ports;
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
      this.#isFaulty = false;
    } catch (error) {
      if (!this.#isFaulty) onFault(error);
      this.#isFaulty = true;
    }
  }
}
