import type { Route, RunEnd } from '../events.ts';
import type { BudgetTracker } from '../limits/budget.ts';
import type { Job } from '../machine/job.ts';
import type { ActiveJobs } from './jobs/active-jobs.ts';
import { routeOrder } from './routes/routes.ts';

/** Whose turn it is, or why the run must end because what it would cost may not be spent. */
export type DispatchChoice = { readonly job: Job } | { readonly end: Extract<RunEnd, { kind: 'budget' }> };

/** Finds whose turn it is: room for tasks first, then the routes, each within its limits and what may still be spent. */
export class Dispatch {
  readonly #activeJobs: ActiveJobs;
  readonly #budgetTracker: BudgetTracker;

  constructor(activeJobs: ActiveJobs, budgetTracker: BudgetTracker) {
    this.#activeJobs = activeJobs;
    this.#budgetTracker = budgetTracker;
  }

  /**
   * Takes the next job out of its line. Undefined: nobody's turn has come.
   *
   * @param mayBegin true while new tasks may be begun
   */
  next(now: number, mayBegin: boolean): DispatchChoice | undefined {
    const first = mayBegin && this.#activeJobs.hasRoom ? this.#activeJobs.takeForRoom() : undefined;
    if (first !== undefined) return { job: first };
    for (const name of routeOrder) {
      const grant = this.#onRoute(name, now);
      if (grant !== undefined) return grant;
    }
    return undefined;
  }

  /** Takes up to so many more jobs out of the line of those whose tasks are looked at, as far as they come one after another. */
  polls(most: number): readonly Job[] {
    const { queue } = this.#activeJobs.routes.queues.poll;
    const jobs: Job[] = [];
    while (jobs.length < most) {
      const job = queue.front();
      if (job === undefined || !isPoll(job)) break;
      queue.leave();
      jobs.push(job);
    }
    return jobs;
  }

  #onRoute(name: Route, now: number): DispatchChoice | undefined {
    const { routes } = this.#activeJobs;
    if (!routes.hasRoom(name)) return undefined;
    const { queue } = routes.queues[name];
    const job = queue.front();
    if (job === undefined || routes.nextAtOf(name, job, now) > now) return undefined;
    if (name === 'submit' || name === 'text') {
      const refusal = this.#budgetTracker.refusal(job.record);
      if (refusal !== undefined) {
        if (!routes.isSpending) return { end: refusal };
        // What is under way may come back unspent.
        routes.hold(name);
        return undefined;
      }
    }
    queue.leave();
    return { job };
  }
}

/** True for a job that wants to know whether its task is finished. */
export const isPoll = ({ want }: Job): boolean => want.kind === 'fetch' && want.why === 'poll';
