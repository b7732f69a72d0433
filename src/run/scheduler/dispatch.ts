import type { Route, RunEnd } from '../events.ts';
import type { Purse } from '../limits/budget.ts';
import type { Job } from '../machine/job.ts';
import type { Desk } from './jobs/active-jobs.ts';
import { routeOrder } from './routes/routes.ts';

/** Whose turn it is, or why the run must end because what it would cost may not be spent. */
export type Grant = { readonly job: Job } | { readonly end: Extract<RunEnd, { kind: 'budget' }> };

/** Finds whose turn it is: room for tasks first, then the routes, each within its limits and what may still be spent. */
export class Grants {
  readonly #desk: Desk;
  readonly #purse: Purse;

  constructor(desk: Desk, purse: Purse) {
    this.#desk = desk;
    this.#purse = purse;
  }

  /**
   * Takes the next job out of its line. Undefined: nobody's turn has come.
   *
   * @param mayBegin true while new tasks may be begun
   */
  next(now: number, mayBegin: boolean): Grant | undefined {
    const first = mayBegin && this.#desk.hasRoom ? this.#desk.takeForRoom() : undefined;
    if (first !== undefined) return { job: first };
    for (const name of routeOrder) {
      const grant = this.#onRoute(name, now);
      if (grant !== undefined) return grant;
    }
    return undefined;
  }

  /** Takes up to so many more jobs out of the line of those whose tasks are looked at, as far as they come one after another. */
  polls(most: number): readonly Job[] {
    const { line } = this.#desk.traffic.lanes.poll;
    const jobs: Job[] = [];
    while (jobs.length < most) {
      const job = line.front();
      if (job === undefined || !isPoll(job)) break;
      line.leave();
      jobs.push(job);
    }
    return jobs;
  }

  #onRoute(name: Route, now: number): Grant | undefined {
    const { traffic } = this.#desk;
    if (!traffic.hasRoom(name)) return undefined;
    const { line } = traffic.lanes[name];
    const job = line.front();
    if (job === undefined || traffic.nextAtOf(name, job, now) > now) return undefined;
    if (name === 'submit' || name === 'text') {
      const refusal = this.#purse.refusal(job.record);
      if (refusal !== undefined) {
        if (!traffic.isSpending) return { end: refusal };
        // What is under way may come back unspent.
        traffic.hold(name);
        return undefined;
      }
    }
    line.leave();
    return { job };
  }
}

/** True for a job that wants to know whether its task is finished. */
export const isPoll = ({ want }: Job): boolean => want.kind === 'fetch' && want.why === 'poll';
