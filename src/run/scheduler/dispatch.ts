import type { Route, RunEnd } from '../events.ts';
import type { Job } from '../machine/job.ts';
import { isPoll, pollBatch } from './batch-poll.ts';
import { drain } from './drain.ts';
import { advance } from './job-runner.ts';
import { hasDueCells } from './state/queries.ts';
import type { SchedulerState } from './state/state.ts';
import { lookAgainAt, lookDueAt } from './state/wake.ts';
import { isUnconfirmedSearch, searchUnconfirmed } from './unconfirmed-search.ts';

/** The job whose turn it is, or the end of a run whose budget does not allow the next request. */
export type DispatchChoice =
  | { readonly job: Job; readonly isOverdue?: true }
  | { readonly end: Extract<RunEnd, { kind: 'budget' }> };

/** Grants jobs their requests until no job has its turn. */
export function dispatch(state: SchedulerState): void {
  while (!state.lifecycle.isHalted && !hasDueCells(state)) {
    const choice = nextDispatch(state);
    if (choice === undefined) return;
    if ('end' in choice) drain(state, choice.end);
    else if (choice.isOverdue) lookAtOverdue(state, choice.job);
    else if (isUnconfirmedSearch(choice.job)) searchUnconfirmed(state, choice.job);
    else if (state.pollsBatches && isPoll(choice.job)) pollBatch(state, choice.job);
    else advance(state, choice.job, { type: 'granted' });
  }
}

/**
 * Takes the job whose turn it is out of its queue: first jobs that need no request, then jobs that wait for a task slot, then the routes,
 * each within its limits and the budget. Undefined where no job has its turn.
 */
export function nextDispatch(state: SchedulerState): DispatchChoice | undefined {
  const { jobs } = state;
  const uncut = jobs.takeToCut();
  if (uncut !== undefined) return { job: uncut };
  const job = jobs.hasFreeSlot ? jobs.takeForSlot() : undefined;
  if (job !== undefined) return { job };
  for (const route of state.routes.order) {
    const choice = nextOnRoute(state, route);
    if (choice !== undefined) return choice;
  }
  return undefined;
}

/** Reads a task past its deadline, to see whether it still takes a slot. No lease is kept for that, and no run waits for the answer. */
function lookAtOverdue(state: SchedulerState, overdue: Job): void {
  const { lease: _, ...job } = overdue;
  const { key, taskId = '' } = job.record;
  state.jobs.overdue.looks();
  state.jobs.overdue.lookLater(job, lookAgainAt(state));
  state.routes.onSent('poll', state.now, key);
  state.outbox.send({ job, send: { kind: 'fetch', taskId, why: 'overdue' } });
}

function nextOnRoute(state: SchedulerState, name: Route): DispatchChoice | undefined {
  const { routes, budget, options, now, jobs } = state;
  if (name === 'poll' && (lookDueAt(state) ?? now + 1) <= now) {
    const { job } = jobs.overdue.nextLook ?? {};
    if (job !== undefined) return { job, isOverdue: true };
  }
  const queue = routes.next(name, now)?.queue;
  const job = queue?.front();
  if (queue === undefined || job === undefined) return undefined;
  if (name === 'submit' || name === 'text') {
    const { record } = job;
    const refusal =
      budget.refusal(record) ?? options.shared?.allowance?.refusal(record, budget.reserveOf(record));
    if (refusal !== undefined) {
      if (refusal !== 'wait' && !routes.isSpending) return { end: refusal };
      // A request in flight may turn out to be unpaid; an allowance may be refilled.
      routes.hold(name);
      return undefined;
    }
  }
  queue.leave();
  return { job };
}
