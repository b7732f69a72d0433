import type { JobRecord } from '../../../plan/job.ts';
import type { RunEnd, RunEvent } from '../../events.ts';

/** Number and duration of reads that find every task unknown, after which the service counts as having forgotten them. */
const tellingLooks = { count: 3, overMs: 60_000 } as const;

/** Number of new tasks lost in a row after which no more begin. */
const maxProbes = 5;

/**
 * Detects that a service has forgotten its tasks, for example a proxy after a restart: it then knows none of the tasks that the run waits
 * for, though they may still be worked on. One new task at a time tests whether it remembers tasks again.
 */
export class LostTasks {
  /** Reads since the last one that found a task. */
  #unknown: { readonly since: number; readonly looks: number } | undefined;
  #forgottenAt: number | undefined;
  #latestFound = Number.NEGATIVE_INFINITY;
  #probes = 0;

  /** True while only unknown tasks are found. */
  get isForgetting(): boolean {
    return this.#forgottenAt !== undefined;
  }

  /** Notes that the service has shown a task. @param record of the job that waits for it; absent where none does */
  found(record?: JobRecord): void {
    this.#unknown = undefined;
    this.#forgottenAt = undefined;
    this.#probes = 0;
    this.#latestFound = Math.max(this.#latestFound, record?.submittedAt ?? Number.NEGATIVE_INFINITY);
  }

  /** Whether a task submitted later was found: the slot of this one is free. */
  hasFoundLater({ submittedAt = Number.POSITIVE_INFINITY }: JobRecord): boolean {
    return this.#latestFound > submittedAt;
  }

  /** Notes a task that the service does not know. @returns a notice for the user, once it has forgotten all */
  unknown(tasks: number, now: number): RunEvent | undefined {
    const { since = now, looks = 0 } = this.#unknown ?? {};
    this.#unknown = { since, looks: looks + 1 };
    const isTelling = looks + 1 >= tellingLooks.count && now - since >= tellingLooks.overMs;
    if (!isTelling || this.isForgetting) return undefined;
    this.#forgottenAt = now;
    return {
      type: 'run:notice',
      code: 'tasks.forgotten',
      message: `The service knows none of the ${tasks} tasks that this run waits for: it may have been restarted and have forgotten them. One new task at a time is begun until one is found; the others are checked until timeouts.task.`,
    };
  }

  /** Notes a lost task. @returns the end of the run, where new tasks are lost again and again */
  lost({ submittedAt = 0 }: JobRecord): RunEnd | undefined {
    if (this.#forgottenAt === undefined || submittedAt < this.#forgottenAt) return undefined;
    this.#probes += 1;
    if (this.#probes < maxProbes) return undefined;
    return {
      kind: 'stopped',
      code: 'tasks.forgotten',
      message: `The service accepted ${maxProbes} new tasks in a row and knows none of them, so nothing more is begun and paid for. Check that it is set up as before and keeps its tasks; then run again: tasks that it knows by then are not paid again.`,
    };
  }
}
