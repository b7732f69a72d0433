import type { Job } from '../machine/job.ts';
import { unconfirmedSearch } from '../machine/search/search.ts';
import { rest } from '../machine/transition.ts';
import type { RunInput } from './commit.ts';
import { advance } from './job-runner.ts';
import { placeJob } from './place-job.ts';
import { deferred } from './routes/outcome.ts';
import type { SchedulerState } from './state/state.ts';

/** Whether a job in doubt is to have its task searched for now. */
export const isUnconfirmedSearch = ({ record, nextRequest }: Job): boolean =>
  nextRequest.kind === 'search' && record.status === 'in-doubt';

/** Searches with one list request for the tasks of all jobs in doubt that are due; never two at once, nor two soon after one another. */
export function searchUnconfirmed(state: SchedulerState, first: Job): void {
  const { unconfirmedSearches, jobs, routes, outbox, now } = state;
  const { searchedAt, isUnderWay } = unconfirmedSearches;
  const inMs = isUnderWay ? unconfirmedSearch.everyMs : searchedAt + unconfirmedSearch.everyMs - now;
  if (inMs > 0) return placeJob(state, first, rest(first, inMs, { kind: 'search' }, now).job);
  state.unconfirmedSearches = { searchedAt: now, isUnderWay: true };
  const all = [...jobs.all()].filter(isUnconfirmedSearch);
  for (const job of all) placeJob(state, job, { ...job, nextRequest: { kind: 'answer' } });
  const beside = all.flatMap(({ record }) => (record.key === first.record.key ? [] : [record]));
  routes.onSent('poll', now, first.record.key);
  outbox.send({ job: first, send: { kind: 'search', beside } });
}

/** Handles the list for jobs in doubt: passes its result to the other jobs too. */
export function onUnconfirmedSearched(
  state: SchedulerState,
  { beside }: Extract<RunInput, { type: 'searched' }>,
): void {
  if (beside === undefined) return;
  const { routes, jobs, now } = state;
  state.unconfirmedSearches = { ...state.unconfirmedSearches, isUnderWay: false };
  const isServing = routes.queues.poll.lane().isServing(now);
  for (const [key, result] of beside) {
    const job = jobs.get(key);
    if (job !== undefined) advance(state, job, { type: 'searched', result: deferred(result, isServing) });
  }
}
