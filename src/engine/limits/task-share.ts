import type { Clock } from '../../run/clock.ts';
import type { TaskSlots } from '../../run/ports.ts';
import { Share, type ShareAsk, type SharePart } from './share.ts';

/** How long a worker with an unused task slot asks for no more, ms: others may need it. */
const restMs = 3000;

/** What a worker reports about its tasks, with its request for a share. Totals of its whole session, so that a lost report is repeated. */
interface TasksAsk extends Partial<ShareAsk> {
  /** Number of times that the service has refused a further task. */
  readonly refused: number;
  /** False where the service was found not to limit the number of tasks. */
  readonly counted: boolean;
  /** Number of tasks begun. */
  readonly began: number;
}

/**
 * The number of tasks that this worker may have in flight. It asks for one more than it uses, for all while it uses all that it has, and
 * for none while it holds no slice. Of slots that nobody asks for it keeps one, so that it can take a slice.
 */
export class TaskShare extends Share implements TaskSlots {
  readonly #clock: Clock;
  readonly #wake: () => void;
  #used = 0;
  #slices = 0;
  /** Number of answers with free slots since its first slice; until enough have come it asks for all. */
  #beginning = 0;
  #restsUntil = Number.NEGATIVE_INFINITY;
  /** Since when it has neither a slot nor a task, Unix ms; infinity where it has one. */
  #lacksSince: number | undefined;
  #refused = 0;
  #counted = true;
  #began = 0;

  /** @param wake makes the next heartbeat come soon */
  constructor(limit: number, clock: Clock, wake: () => void) {
    super(limit, 0);
    this.#clock = clock;
    this.#wake = wake;
  }

  get granted(): number {
    return this.cap(this.#clock.now());
  }

  /** How long the worker has had neither a slot nor a task, ms; undefined before the first grant. */
  get lackedMs(): number | undefined {
    return this.#lacksSince === undefined ? undefined : Math.max(0, this.#clock.now() - this.#lacksSince);
  }

  /** Notes the number of slices that the worker holds. */
  noteSlices(slices: number): void {
    const isFirst = this.#slices === 0 && slices > 0;
    this.#slices = slices;
    if (!isFirst) return;
    this.#beginning = 2;
    this.#wake();
  }

  /** Notes the number of tasks that the run has in flight. */
  note(tasks: number): void {
    this.#began += Math.max(0, tasks - this.#used);
    this.#used = tasks;
    this.notePeak(this.#clock.now());
  }

  /** Notes that the service has refused a further task. @param counted false where the service was found not to limit tasks */
  noteFull(counted = true): void {
    this.#counted = counted;
    if (counted) this.#refused += 1;
    this.#wake();
  }

  override ask(now: number): TasksAsk {
    return { ...super.ask(now), refused: this.#refused, counted: this.#counted, began: this.#began };
  }

  override onAnswer(at: number, part: SharePart): boolean {
    const now = this.#clock.now();
    if (this.granted > 0) this.#beginning -= 1;
    const isMore = super.onAnswer(at, part);
    this.#lacksSince =
      this.granted + this.#used > 0 ? Number.POSITIVE_INFINITY : Math.min(this.#lacksSince ?? now, now);
    return isMore;
  }

  protected used(): number {
    return this.#used;
  }

  protected wish(now: number, holds: number, peak: number): number {
    if (peak > 0) return peak >= holds ? Number.POSITIVE_INFINITY : peak + 1;
    if (this.#slices === 0) return 0;
    if (this.#beginning > 0) return Number.POSITIVE_INFINITY;
    if (holds > 0) this.#restsUntil = now + restMs;
    return now < this.#restsUntil ? 0 : 1;
  }
}
