import type { SubmitResult } from '../../service/image-service.ts';

/** After a refusal, so many tasks begin before the window is tried one wider: at most one submission in this many is refused for it. */
const betweenTries = 80;
/** The most by which that number grows while one try after another is refused. */
const mostPatience = 4;

/**
 * How many tasks the service accepts at a time, learnt from its queue codes (gateway 3.2, 9.2). A full queue sets the window to
 * the tasks that the service has, so that the next submission waits until one of them ends. The window is tried one wider after 80
 * tasks that began at once, after 160 and 320 where that is refused again; once a try succeeds, after each full window. A task
 * that begins at once beyond the window widens it to fit. From 1 to `limits.tasks`.
 */
export class ConcurrencyWindow {
  readonly #most: number;
  #window: number;
  /** Tasks that began at once since the window last changed. */
  #accepted = 0;
  /** Tasks that begin before the window is tried one wider; undefined: a full window of them. */
  #until: number | undefined;
  #patience = 1;
  /** True from the try of a wider window until a task fills it. */
  #isTrying = false;

  /**
   * @param most `limits.tasks`
   * @param learned the window that an earlier run found
   */
  constructor(most: number, learned?: number) {
    this.#most = most;
    this.#window = Math.max(1, Math.min(most, learned ?? most));
    this.#until = this.#window < most ? betweenTries : undefined;
  }

  /** Tasks that may be on the service. */
  get window(): number {
    return this.#window;
  }

  /** @param held tasks that the service has, without the one that was submitted */
  note(result: SubmitResult, held: number): void {
    if (result.kind === 'queue-full') {
      this.#patience = this.#isTrying ? Math.min(mostPatience, 2 * this.#patience) : 1;
      this.#set(Math.max(1, Math.min(this.#window, held)), betweenTries * this.#patience);
      this.#isTrying = false;
      return;
    }
    // A task that waits behind others is accepted, and shows that there is no room for more.
    const beginsAtOnce = result.kind !== 'refused' && result.code !== inQueue && (result.waiting ?? 0) === 0;
    if (!beginsAtOnce || this.#window >= this.#most) return;
    if (held >= this.#window) return this.#set(Math.min(this.#most, held + 1), this.#until);
    if (this.#isTrying && held === this.#window - 1) {
      // There is more room: the window grows fast until it is refused again.
      this.#isTrying = false;
      this.#patience = 1;
      this.#until = undefined;
    }
    this.#accepted += 1;
    if (this.#accepted < (this.#until ?? this.#window)) return;
    this.#isTrying = true;
    this.#set(this.#window + 1, this.#until);
  }

  #set(window: number, until: number | undefined): void {
    this.#window = window;
    this.#until = until;
    this.#accepted = 0;
  }
}

/** The code of a submission that waits behind others (gateway 3.2). */
const inQueue = 22;
