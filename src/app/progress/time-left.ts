import type { Load, Outlook, Room } from './work.ts';

/** Largest number of jobs that the pipeline allows at the same time, for image tasks and for text calls. */
export type RoomLimits = Readonly<Record<Room, number>>;

/** The shown time approaches a changed estimate within this time, ms, or within a share of the time left if that is longer. */
const followMs = 4_000;
const followShare = 1 / 12;
/** Number of jobs after which durations are known well. */
const manyJobs = 60;

/** Mean number of jobs that are worked on at once, for tasks or for texts, learned while more jobs wait than the limit allows. */
class Parallel {
  readonly #limit: number;
  #mean: number | undefined;
  #seenMs = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get mean(): number {
    return Math.max(0.05, this.#mean ?? this.#limit);
  }

  /** Records that this many jobs were worked on for `ms`. @param windowMs time over which the mean is taken */
  note(active: number, ms: number, windowMs: number): void {
    if (ms <= 0) return;
    this.#seenMs = Math.min(windowMs, this.#seenMs + ms);
    const weight = Math.min(1, ms / this.#seenMs);
    this.#mean = this.#mean === undefined ? active : this.#mean + weight * (active - this.#mean);
  }
}

/**
 * Estimates when a run will be over: the total time of all open jobs divided by the number worked on at once, and at least the longest path
 * to the end of a cell. The shown time counts down and approaches a changed estimate slowly.
 */
export class TimeLeft {
  readonly #parallel: Readonly<Record<Room, Parallel>>;
  /** Estimated end, Unix ms. */
  #end: number | undefined;
  #at: number;
  #seen: Outlook | undefined;

  constructor(limits: RoomLimits, now: number) {
    this.#parallel = { task: new Parallel(limits.task), text: new Parallel(limits.text) };
    this.#at = now;
  }

  /**
   * Updates the estimate and returns the time left, ms; undefined while too little is known.
   *
   * @param cells true while cells are still to be opened: more jobs wait for a free slot then
   * @param learned number of jobs of each kind that have settled in this run
   */
  look(
    outlook: Outlook,
    now: number,
    more: {
      readonly cells: boolean;
      readonly stopping: boolean;
      readonly learned: Readonly<Record<Room, number>>;
    },
  ): number | undefined {
    const passed = now - this.#at;
    this.#at = now;
    const before = this.#seen ?? outlook;
    this.#seen = outlook;
    const window = Math.max(30_000, 4 * outlook.longestCell);
    for (const room of ['task', 'text'] as const) {
      const load = before[room];
      const isShort = load.queued > 0 || (more.cells && load.open > 0);
      if (isShort && more.learned[room] > 0) this.#parallel[room].note(load.active, passed, window);
    }
    if (outlook.jobs === 0) {
      this.#end = undefined;
      return 0;
    }
    const left = more.stopping ? outlook.longestBegun : this.#estimate(outlook);
    if (left === undefined) return undefined;
    const wish = now + left;
    if (this.#end === undefined) this.#end = wish;
    // While little is known, the estimate itself is uncertain.
    const known = Math.min(1, (more.learned.task + more.learned.text) / manyJobs);
    const share = 1 - Math.exp(-passed / Math.max(followMs, left * followShare * known));
    this.#end += (wish - this.#end) * share;
    return Math.max(0, this.#end - now);
  }

  #estimate({ task, text, longestBegun, longestCell }: Outlook): number | undefined {
    if (task.isUnknown || (text.isUnknown && task.ms === 0)) return undefined;
    const rooms = Math.max(this.#timeOf('task', task), this.#timeOf('text', text));
    // At the end, fewer jobs run at once while the last cells are finished.
    return Math.max(longestBegun, rooms + longestCell * tail);
  }

  #timeOf(room: Room, load: Load): number {
    const jobs = load.active + load.queued + load.open;
    return load.ms / Math.max(0.05, Math.min(this.#parallel[room].mean, jobs));
  }
}

/** Share of the longest path by which the last cells outlast the full use of the limits. */
const tail = 0.5;
