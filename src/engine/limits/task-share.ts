import type { Clock } from '../../run/clock.ts';
import type { Rooms } from '../../run/ports.ts';
import { Share, type ShareAsk } from './share.ts';

/** A worker that had room and nothing for it wants none for so long, ms: others may have a use for it. */
const restMs = 3000;

/** What a worker tells of its tasks beside its part of the limit. */
export interface TasksAsk extends ShareAsk {
  /** The service has refused one more task; null: it does not count tasks, as was found since. */
  readonly full: boolean | null;
  /** Tasks that began at once. */
  readonly began: number;
}

/**
 * The tasks that this worker may have in flight. It wants one more than it uses, all while it uses all that it has, and none while it holds no
 * slice. Of room that nobody wants it has one, so that it may take a slice.
 */
export class TaskShare extends Share implements Rooms {
  readonly #clock: Clock;
  readonly #wake: () => void;
  #used = 0;
  /** The most that were used at once since it asked last. */
  #peak = 0;
  #slices = 0;
  /** True from its first slice until it has room. */
  #isBeginning = false;
  #restsUntil = Number.NEGATIVE_INFINITY;
  #lacksSince: number | undefined;
  #full: boolean | null = false;
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
    if (!this.isKnown) return undefined;
    return this.#lacksSince === undefined ? 0 : this.#clock.now() - this.#lacksSince;
  }

  /** The worker holds so many slices. */
  noteSlices(slices: number): void {
    const isFirst = this.#slices === 0 && slices > 0;
    this.#slices = slices;
    if (!isFirst) return;
    this.#isBeginning = true;
    this.#wake();
  }

  /** The run has so many tasks in flight. */
  note(tasks: number): void {
    if (tasks > this.#used) this.#began += tasks - this.#used;
    this.#used = tasks;
    this.#peak = Math.max(this.#peak, tasks);
  }

  /** The service has refused one more task. @param full null: it does not count tasks, as was found since */
  noteFull(full: true | null = true): void {
    this.#full = full;
    this.#wake();
  }

  override ask(now: number): TasksAsk {
    const ask = { ...super.ask(now), full: this.#full, began: this.#began };
    if (this.granted > 0) this.#isBeginning = false;
    this.#peak = this.#used;
    this.#full = false;
    this.#began = 0;
    return ask;
  }

  /** Nobody may have heard it: it is said again. */
  onUnheard({ full, began }: TasksAsk): void {
    if (this.#full === false) this.#full = full;
    this.#began += began;
    this.#isBeginning ||= this.#slices > 0;
  }

  /** The engine has answered. */
  noteAnswer(): void {
    if (this.granted + this.#used > 0) this.#lacksSince = undefined;
    else this.#lacksSince ??= this.#clock.now();
  }

  protected used(): number {
    return this.#used;
  }

  protected wish(now: number, holds: number): { readonly want: number; readonly unit: number } {
    return { want: this.#wish(now, holds), unit: 1 };
  }

  #wish(now: number, holds: number): number {
    const { limit = 0 } = this;
    if (this.#peak > 0) return this.#peak >= holds ? limit : Math.min(limit, this.#peak + 1);
    if (this.#slices === 0) return 0;
    if (this.#isBeginning) return limit;
    if (holds > 0) this.#restsUntil = now + restMs;
    return now < this.#restsUntil ? 0 : 1;
  }
}
