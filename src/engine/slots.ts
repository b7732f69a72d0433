import type { SharedLimits, TaskSlots } from '../run/ports.ts';

/** The tasks that one process may have in flight, over all runs that it works on. */
export class WorkerSlots {
  readonly #most: number;
  /** What each run has in flight, and what tells it that there is more room. */
  readonly #runs = new Map<TaskSlots, { used: number; readonly onMore: Set<() => void> }>();

  /** @param most absent: as many as the limits of each run leave it */
  constructor(most = Number.POSITIVE_INFINITY) {
    this.#most = most;
  }

  /** How many tasks may be in flight at most. */
  get most(): number {
    return this.#most;
  }

  /** The limits of a run, within what its process may have in flight. They count until {@link leave}; those of a run without tasks never do. */
  within(limits: SharedLimits): SharedLimits {
    const { rooms, onMore } = limits;
    if (rooms === undefined) return limits;
    const own = { used: 0, onMore: new Set<() => void>() };
    this.#runs.set(rooms, own);
    const free = (): number => {
      let used = 0;
      for (const run of this.#runs.values()) if (run !== own) used += run.used;
      return Math.max(0, this.#most - used);
    };
    return {
      ...limits,
      rooms: {
        get granted() {
          return Math.min(rooms.granted, free());
        },
        note: (tasks) => {
          const isLess = tasks < own.used;
          own.used = tasks;
          rooms.note?.(tasks);
          if (isLess) this.#tellOthers(rooms);
        },
      },
      onMore: (listener) => {
        own.onMore.add(listener);
        const remove = onMore?.(listener);
        return () => {
          own.onMore.delete(listener);
          remove?.();
        };
      },
    };
  }

  /** A run has nothing in flight any more. */
  leave(rooms: TaskSlots): void {
    this.#runs.delete(rooms);
    this.#tellOthers(rooms);
  }

  #tellOthers(rooms: TaskSlots): void {
    if (this.#most === Number.POSITIVE_INFINITY) return;
    for (const [other, { onMore }] of this.#runs)
      if (other !== rooms) for (const listener of onMore) listener();
  }
}
