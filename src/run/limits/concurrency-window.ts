import type { SubmitResult } from '../../service/image-service.ts';

/**
 * How many tasks the service accepts at a time, learnt from its queue codes (gateway 3.2, 9.2). A full queue sets the window to
 * the tasks that the service has, so that the next submission waits until one of them ends. After a full window of tasks that
 * began at once, the window grows by one; a task that begins at once beyond the window widens it to fit. From 1 to `limits.tasks`.
 */
export class ConcurrencyWindow {
  readonly #most: number;
  #window: number;
  /** Tasks that began at once since the window last changed. */
  #accepted = 0;

  /** @param most `limits.tasks` */
  constructor(most: number) {
    this.#most = most;
    this.#window = most;
  }

  /** Tasks that may be on the service. */
  get window(): number {
    return this.#window;
  }

  /** @param held tasks that the service has, without the one that was submitted */
  note(result: SubmitResult, held: number): void {
    if (result.kind === 'queue-full') {
      this.#window = Math.max(1, Math.min(this.#window, held));
      this.#accepted = 0;
      return;
    }
    // A task that waits behind others is accepted, and shows that there is no room for more.
    const beginsAtOnce = result.kind !== 'refused' && result.code !== inQueue && (result.waiting ?? 0) === 0;
    if (!beginsAtOnce || this.#window >= this.#most) return;
    if (held >= this.#window) {
      this.#window = Math.min(this.#most, held + 1);
      this.#accepted = 0;
      return;
    }
    this.#accepted += 1;
    if (this.#accepted < this.#window) return;
    this.#window += 1;
    this.#accepted = 0;
  }
}

/** The code of a submission that waits behind others (gateway 3.2). */
const inQueue = 22;
