import type { SharedLimits, TaskSlots } from '../run/ports.ts';

/** The task slots of one process, over all runs that it works on. */
export class WorkerSlots {
  readonly #most: number;
  /** Tasks in flight per run, and the listeners for free slots. */
  readonly #runs = new Map<TaskSlots, { used: number; readonly onMore: Set<() => void> }>();

  /** @param most largest number of tasks in flight; absent: limited only by the limits of each run */
  constructor(most = Number.POSITIVE_INFINITY) {
    this.#most = most;
  }

  /** Largest number of tasks in flight. */
  get most(): number {
    return this.#most;
  }

  /** Restricts the limits of a run by the slots of its process. They count until {@link leave}; those of a run without tasks never do. */
  within(limits: SharedLimits): SharedLimits {
    const { taskSlots, onMore } = limits;
    if (taskSlots === undefined) return limits;
    const own = { used: 0, onMore: new Set<() => void>() };
    this.#runs.set(taskSlots, own);
    const free = (): number => {
      let used = 0;
      for (const run of this.#runs.values()) if (run !== own) used += run.used;
      return Math.max(0, this.#most - used);
    };
    return {
      ...limits,
      taskSlots: {
        get granted() {
          return Math.min(taskSlots.granted, free());
        },
        note: (tasks) => {
          const isLess = tasks < own.used;
          own.used = tasks;
          taskSlots.note?.(tasks);
          if (isLess) this.#tellOthers(taskSlots);
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

  /** Notes that a run has nothing in flight any more. */
  leave(taskSlots: TaskSlots): void {
    this.#runs.delete(taskSlots);
    this.#tellOthers(taskSlots);
  }

  #tellOthers(taskSlots: TaskSlots): void {
    if (this.#most === Number.POSITIVE_INFINITY) return;
    for (const [other, { onMore }] of this.#runs)
      if (other !== taskSlots) for (const listener of onMore) listener();
  }
}
