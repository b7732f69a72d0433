import type { Job } from '../../machine/job.ts';
import { Heap } from '../queues.ts';

/** A task past its deadline that may still be worked on and takes a slot until a given time. */
interface Overdue {
  readonly job: Job;
  readonly until: number;
}

/**
 * Tasks that no job waits for any more and that still take slots: until a given time, or until a read shows that the service no longer
 * works on them.
 */
export class OverdueTasks {
  /** Tasks by job key, those that give their slot back first in front. */
  readonly #tasks = new Map<string, Overdue>();
  readonly #looks = new Heap<{ readonly at: number; readonly key: string }>((a, b) => a.at < b.at);

  get size(): number {
    return this.#tasks.size;
  }

  /**
   * @param until when the slot is free, Unix ms
   * @param lookAt when the task is read first, Unix ms
   */
  keep(job: Job, until: number, lookAt: number): void {
    this.#tasks.set(job.record.key, { job, until });
    this.lookLater(job, lookAt);
  }

  /** Plans the next read of the task, Unix ms, if it keeps its slot until then. */
  lookLater({ record: { key } }: Job, at: number): void {
    if (at < (this.#tasks.get(key)?.until ?? 0)) this.#looks.push({ at, key });
  }

  /** Frees the slot of the job's task. */
  giveBack(key: string): void {
    this.#tasks.delete(key);
  }

  /** Frees the slots that are due. */
  giveBackDue(now: number): void {
    for (const [key, { until }] of this.#tasks) {
      if (until > now) return;
      this.#tasks.delete(key);
    }
  }

  /** When the next slot is freed, Unix ms. */
  get givesBackAt(): number | undefined {
    for (const { until } of this.#tasks.values()) return until;
    return undefined;
  }

  /** The next task to read, and when, Unix ms. */
  get nextLook(): { readonly job: Job; readonly at: number } | undefined {
    for (let look = this.#looks.peek(); look !== undefined; look = this.#looks.peek()) {
      const job = this.#tasks.get(look.key)?.job;
      if (job !== undefined) return { job, at: look.at };
      this.#looks.pop();
    }
    return undefined;
  }

  /** Notes that the read of {@link nextLook} is sent. */
  looks(): void {
    this.#looks.pop();
  }
}
