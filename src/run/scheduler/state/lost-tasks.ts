import type { JobRecord } from '../../../plan/job.ts';
import type { RunEnd, RunEvent } from '../../events.ts';

/** Looks that find every task unknown say something once there were so many, over so long. */
const tellingLooks = { count: 3, overMs: 60_000 } as const;

/** So many new tasks in a row may be lost before none is begun any more. */
const mostProbes = 5;

/**
 * Whether a service has forgotten its tasks, as a proxy has that was restarted: then each task that the run waits for is unknown to it, and
 * may still be worked on. One new task at a time shows whether it remembers those again.
 */
export class LostTasks {
  /** Of the looks since the last one that found a task. */
  #unknown: { readonly since: number; readonly looks: number } | undefined;
  #forgottenAt: number | undefined;
  #latestFound = Number.NEGATIVE_INFINITY;
  #probes = 0;

  /** True while nothing but unknown tasks is seen. */
  get isForgetting(): boolean {
    return this.#forgottenAt !== undefined;
  }

  /** The service has shown a task. @param record of the job that waits for it; absent: none does */
  found(record?: JobRecord): void {
    this.#unknown = undefined;
    this.#forgottenAt = undefined;
    this.#probes = 0;
    this.#latestFound = Math.max(this.#latestFound, record?.submittedAt ?? Number.NEGATIVE_INFINITY);
  }

  /** True where a task was found that was submitted later: the place of this one is free. */
  hasFoundLater({ submittedAt = Number.POSITIVE_INFINITY }: JobRecord): boolean {
    return this.#latestFound > submittedAt;
  }

  /** The service does not know a task. @returns what the user is told, once it has forgotten all */
  unknown(tasks: number, now: number): RunEvent | undefined {
    const { since = now, looks = 0 } = this.#unknown ?? {};
    this.#unknown = { since, looks: looks + 1 };
    const isTelling = looks + 1 >= tellingLooks.count && now - since >= tellingLooks.overMs;
    if (!isTelling || this.isForgetting) return undefined;
    this.#forgottenAt = now;
    return {
      type: 'run:notice',
      code: 'tasks.forgotten',
      message: `The service knows none of the ${tasks} tasks that it is looked at for: it may have been restarted and have forgotten them. One new task at a time is begun until one is found; the others are looked at until timeouts.task.`,
    };
  }

  /** A task counts as lost. @returns why the run must end, where new ones are lost again and again */
  lost({ submittedAt = 0 }: JobRecord): RunEnd | undefined {
    if (this.#forgottenAt === undefined || submittedAt < this.#forgottenAt) return undefined;
    this.#probes += 1;
    if (this.#probes < mostProbes) return undefined;
    return {
      kind: 'stopped',
      code: 'tasks.forgotten',
      message: `The service took ${mostProbes} new tasks in a row and knows none of them, so nothing more is begun and paid for. Look whether it is set up as before, and keeps its tasks; then run again: what it knows by then is not paid again.`,
    };
  }
}
