import type { Task } from '../../../service/image-service.ts';
import type { JobContext } from '../../machine/job.ts';
import { freshMs } from '../../machine/retry/button-freshness.ts';

/** Tasks whose buttons are remembered at most. One has about ten of them, in about 2 kB. */
const mostTasks = 512;

/**
 * The buttons of tasks that the service showed a moment ago. The poll that shows the end of a task shows its buttons too, so a click that
 * begins at once, or beside other clicks on the same task, needs no request of its own for them.
 */
export class RecentButtons {
  /** By task id, the oldest reading first. */
  readonly #readings = new Map<string, Pick<Task, 'buttons'> & { readonly readAt: number }>();

  /** Notes what a request for a task has shown. Buttons are valid only once the task is finished (gateway 4.3). */
  note({ id, state, buttons }: Task, now: number): void {
    if (state !== 'success' || buttons.length === 0) return;
    this.#readings.delete(id);
    this.#readings.set(id, { buttons, readAt: now });
    for (const [oldest, { readAt }] of this.#readings) {
      if (this.#readings.size <= mostTasks && isFresh(readAt, now)) return;
      this.#readings.delete(oldest);
    }
  }

  /** @returns what was shown so lately that a click may use it */
  read(taskId: string, now: number): ReturnType<JobContext['buttonsOf']> {
    const reading = this.#readings.get(taskId);
    return reading !== undefined && isFresh(reading.readAt, now) ? reading : undefined;
  }
}

/** The machine's clock may be set back. */
const isFresh = (readAt: number, now: number): boolean => Math.abs(now - readAt) <= freshMs;
