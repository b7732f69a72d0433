import type { Clock } from '../../run/clock.ts';
import type { TaskSlots } from '../../run/ports.ts';
import { Share, type ShareAsk, type SharePart } from './share.ts';

/** A worker that had room and nothing for it wants none for so long, ms: others may have a use for it. */
const restMs = 3000;

/** What a worker tells of its tasks beside its part of the limit: counts of its whole session, so that what nobody has heard is told again. */
interface TasksAsk extends Partial<ShareAsk> {
  /** How often the service has refused one more task. */
  readonly refused: number;
  /** False: it does not count tasks, as was found since. */
  readonly counted: boolean;
  /** Tasks that began. */
  readonly began: number;
}

/**
 * The tasks that this worker may have in flight. It wants one more than it uses, all while it uses all that it has, and none while it holds no
 * slice. Of room that nobody wants it has one, so that it may take a slice.
 */
export class TaskShare extends Share implements TaskSlots {
  readonly #clock: Clock;
  readonly #wake: () => void;
  #used = 0;
  #slices = 0;
  /** So many answers that leave it room are waited for since its first slice: until then it wants all. */
  #beginning = 0;
  #restsUntil = Number.NEGATIVE_INFINITY;
  /** Since when it has no room and no task, Unix ms; infinite: it has. */
  #lacksSince: number | undefined;
  #refused = 0;
  #counted = true;
  #began = 0;

  /** @param wake asks the engine soon */
  constructor(limit: number, clock: Clock, wake: () => void) {
    super(limit, 0);
    this.#clock = clock;
    this.#wake = wake;
  }

  get granted(): number {
    return this.cap(this.#clock.now());
  }

  /** For how long the worker has had no room and no task, ms; undefined: nobody has said yet what it may have. */
  get lackedMs(): number | undefined {
    return this.#lacksSince === undefined ? undefined : Math.max(0, this.#clock.now() - this.#lacksSince);
  }

  /** The worker holds so many slices. */
  noteSlices(slices: number): void {
    const isFirst = this.#slices === 0 && slices > 0;
    this.#slices = slices;
    if (!isFirst) return;
    this.#beginning = 2;
    this.#wake();
  }

  /** The run has so many tasks in flight. */
  note(tasks: number): void {
    this.#began += Math.max(0, tasks - this.#used);
    this.#used = tasks;
    this.notePeak(this.#clock.now());
  }

  /** The service has refused one more task. @param counted false: it does not count tasks, as was found since */
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
