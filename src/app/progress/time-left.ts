import type { Load, Outlook, Room } from './work.ts';

/** How many jobs of each room may be worked on at once, as the pipeline limits them. */
export type RoomLimits = Readonly<Record<Room, number>>;

/** The figure follows the estimate within this time, or within this share of what is left if that is longer. */
const followMs = 4_000;
const followShare = 1 / 12;
/** Jobs after which the durations are known well. */
const manyJobs = 60;

/** How many jobs of a room are worked on at once while there is more to do than room: learned, as services and rates hold back. */
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

  /** For `ms` so many jobs were worked on. @param windowMs the time that the mean looks back */
  note(active: number, ms: number, windowMs: number): void {
    if (ms <= 0) return;
    this.#seenMs = Math.min(windowMs, this.#seenMs + ms);
    const weight = Math.min(1, ms / this.#seenMs);
    this.#mean = this.#mean === undefined ? active : this.#mean + weight * (active - this.#mean);
  }
}

/**
 * When a run will be over: the time that all open jobs take, divided by how many are worked on at once, and never less than
 * the longest way to the end of a cell. The figure moves slowly: it counts down, and follows a changed estimate step by step.
 */
export class TimeLeft {
  readonly #parallel: Readonly<Record<Room, Parallel>>;
  /** Unix ms. */
  #end: number | undefined;
  #at: number;
  #seen: Outlook | undefined;

  constructor(limits: RoomLimits, now: number) {
    this.#parallel = { task: new Parallel(limits.task), text: new Parallel(limits.text) };
    this.#at = now;
  }

  /**
   * Looks at what is left now, and answers how long that takes, ms; undefined while too little is known.
   *
   * @param cells how many cells are still to be opened: what can begin at once is short of room
   * @param learned how many jobs of each room have settled in this run: before the first, the rooms only fill
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
    // While little is known the estimate itself is new.
    const known = Math.min(1, (more.learned.task + more.learned.text) / manyJobs);
    const share = 1 - Math.exp(-passed / Math.max(followMs, left * followShare * known));
    this.#end += (wish - this.#end) * share;
    return Math.max(0, this.#end - now);
  }

  #estimate({ task, text, longestBegun, longestCell }: Outlook): number | undefined {
    if (task.isUnknown || (text.isUnknown && task.ms === 0)) return undefined;
    const rooms = Math.max(this.#timeOf('task', task), this.#timeOf('text', text));
    // At the end the rooms empty while the last cells are finished.
    return Math.max(longestBegun, rooms + longestCell * tail);
  }

  #timeOf(room: Room, load: Load): number {
    const jobs = load.active + load.queued + load.open;
    return load.ms / Math.max(0.05, Math.min(this.#parallel[room].mean, jobs));
  }
}

/** The share of the longest way by which the last cells outlast a run whose rooms stay full. */
const tail = 0.5;
