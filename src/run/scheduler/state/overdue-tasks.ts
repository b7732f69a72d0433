import type { Job } from '../../machine/job.ts';
import { Heap } from '../queues.ts';

/** A task past its deadline may still be worked on: it keeps its place until then. */
interface Overdue {
  readonly job: Job;
  readonly until: number;
}

/**
 * Tasks that their jobs wait for no more, and that keep their places: until a moment, or until a look shows that the service works on
 * them no more.
 */
export class OverdueTasks {
  /** By the keys of their jobs, the first one to give its place back first. */
  readonly #tasks = new Map<string, Overdue>();
  readonly #looks = new Heap<{ readonly at: number; readonly key: string }>((a, b) => a.at < b.at);

  get size(): number {
    return this.#tasks.size;
  }

  /**
   * @param until when the place is free, Unix ms
   * @param lookAt when its task is looked at first, Unix ms
   */
  keep(job: Job, until: number, lookAt: number): void {
    this.#tasks.set(job.record.key, { job, until });
    this.lookLater(job, lookAt);
  }

  /** Looks at the task then, Unix ms, if it keeps its place for so long. */
  lookLater({ record: { key } }: Job, at: number): void {
    if (at < (this.#tasks.get(key)?.until ?? 0)) this.#looks.push({ at, key });
  }

  /** The job's task keeps no place any more. */
  giveBack(key: string): void {
    this.#tasks.delete(key);
  }

  /** Gives the places back whose time has come. */
  giveBackDue(now: number): void {
    for (const [key, { until }] of this.#tasks) {
      if (until > now) return;
      this.#tasks.delete(key);
    }
  }

  /** When the next place is given back, Unix ms. */
  get givesBackAt(): number | undefined {
    for (const { until } of this.#tasks.values()) return until;
    return undefined;
  }

  /** The next task to be looked at, and from when on, Unix ms. */
  get nextLook(): { readonly job: Job; readonly at: number } | undefined {
    for (let look = this.#looks.peek(); look !== undefined; look = this.#looks.peek()) {
      const job = this.#tasks.get(look.key)?.job;
      if (job !== undefined) return { job, at: look.at };
      this.#looks.pop();
    }
    return undefined;
  }

  /** The look at {@link nextLook} leaves. */
  looks(): void {
    this.#looks.pop();
  }
}
