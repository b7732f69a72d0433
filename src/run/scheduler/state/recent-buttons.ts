import type { Task } from '../../../service/image-service.ts';
import type { JobContext } from '../../machine/job.ts';

/**
 * How long a click may use buttons shown to others, ms. Far below the age at which the button of a click is read again, because the click
 * may still wait for its turn.
 */
export const shownMs = 2000;

/** Largest number of tasks whose buttons are stored. A task has about ten of them, in about 2 kB. */
const maxTasks = 512;

/**
 * Cache of buttons that the service has just shown. The poll that shows the end of a task shows its buttons too, so a click that begins at
 * once, or next to other clicks on the same task, needs no request for them.
 */
export class RecentButtons {
  /** Buttons by task id, the oldest reading first. */
  readonly #readings = new Map<string, Pick<Task, 'buttons'> & { readonly readAt: number }>();
  #isTrusted = true;

  /** Notes the buttons that a request for a task has shown. They are valid only once the task is finished (gateway 4.3). */
  note({ id, state, buttons }: Task, now: number): void {
    this.#readings.delete(id);
    if (!this.#isTrusted || state !== 'success' || buttons.length === 0) return;
    this.#readings.set(id, { buttons, readAt: now });
    const [oldest = id] = this.#readings.keys();
    if (this.#readings.size > maxTasks) this.#readings.delete(oldest);
  }

  /** Returns the buttons of a task if they are recent enough for a click. */
  read(taskId: string, now: number): ReturnType<JobContext['buttonsOf']> {
    const reading = this.#readings.get(taskId);
    return reading !== undefined && isRecent(reading.readAt, now) ? reading : undefined;
  }

  /** Forgets all buttons, because the service refused a button that it had just shown and now shows another one in its place. */
  distrust(): void {
    this.#isTrusted = false;
    this.#readings.clear();
  }
}

/** The machine's clock may be set back. */
const isRecent = (readAt: number, now: number): boolean => Math.abs(now - readAt) <= shownMs;
