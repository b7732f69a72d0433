import type { Job, PollTarget } from '../machine/job.ts';
import { step } from '../machine/machine.ts';
import { hasNoListing, maxListed, pollResults } from '../machine/search/listing.ts';
import type { RunInput } from './commit.ts';
import { jobContext } from './job-context.ts';
import { advance } from './job-runner.ts';
import { noteOutcome } from './kind-results.ts';
import { placeJob } from './place-job.ts';
import { deferred, readResult } from './routes/outcome.ts';
import type { SchedulerState } from './state/state.ts';

/** Polls with one request the task of the job whose turn it is, and those of the jobs queued behind it. */
export function pollBatch(state: SchedulerState, first: Job): void {
  const jobs = [first, ...takePolls(state, maxListed - 1)];
  if (jobs.length === 1) return advance(state, first, { type: 'granted' });
  const targets = jobs.flatMap((job): PollTarget[] => {
    const { job: next, send } = step(job, { type: 'granted' }, jobContext(state, job));
    placeJob(state, job, next);
    return send?.kind === 'fetch'
      ? [{ key: job.record.key, taskId: send.taskId, ...(job.lease && { lease: job.lease }) }]
      : [];
  });
  state.routes.onSent('poll', state.now, targets[0]?.key);
  state.outbox.send({ job: first, send: { kind: 'list', targets } });
}

/** Splits the result of a batch poll among its jobs. A gateway without a list of tasks is polled task by task from then on. */
export function onBatchPolled(
  state: SchedulerState,
  { targets, result: answer }: Extract<RunInput, { type: 'listed' }>,
): void {
  const { routes, jobs, outbox, now } = state;
  const key = targets[0]?.key ?? '';
  const { lane } = routes.onResult('poll', now, key);
  const result = deferred(answer, routes.queues.poll.lane().isServing(now));
  const isUnlisted = hasNoListing(result);
  // A job that was lost, and possibly taken up again, is polled by its own requests.
  const isLeased = ({ key, lease }: PollTarget): boolean => jobs.get(key)?.lease === lease;
  if (isUnlisted) state.pollsBatches = false;
  else
    noteOutcome(state, {
      route: 'poll',
      reading: readResult(result),
      isFirst: false,
      key,
      kind: state.kinds.polls,
    });
  lane.pace.withdraw(key, now);
  for (const [key, event] of pollResults(targets.filter(isLeased), result)) {
    const job = jobs.get(key);
    if (job?.record.taskId === undefined) continue;
    // The task was not polled, so this is not a failed read.
    const nextRequest = { kind: 'fetch', taskId: job.record.taskId, why: 'poll' } as const;
    if (isUnlisted) placeJob(state, job, { ...job, nextRequest });
    else advance(state, job, event);
  }
  if (isUnlisted && !result.ok)
    outbox.emit({ type: 'run:notice', code: result.error.code, message: noListing });
}

/** Whether the job's next request is a poll of its task. */
export const isPoll = ({ nextRequest }: Job): boolean =>
  nextRequest.kind === 'fetch' && nextRequest.why === 'poll';

/** Takes up to `most` polls from the front of the queue, stopping at the first other request. */
function takePolls({ routes }: SchedulerState, most: number): readonly Job[] {
  const { queue } = routes.queues.poll.lane();
  const jobs: Job[] = [];
  while (jobs.length < most) {
    const job = queue.front();
    if (job === undefined || !isPoll(job)) break;
    queue.leave();
    jobs.push(job);
  }
  return jobs;
}

const noListing =
  'This gateway does not list several tasks in one request (poll.list): they are polled one by one.';
