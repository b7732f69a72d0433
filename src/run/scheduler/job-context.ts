import { isJobKey } from '../../plan/key.ts';
import { promptAbove } from '../../plan/resolve/nearest-prompt.ts';
import type { Job, JobContext } from '../machine/job.ts';
import { maxListed } from '../machine/search/listing.ts';
import { unconfirmedSearch } from '../machine/search/search.ts';
import { noTally } from './routes/kinds.ts';
import { pollsTakeMs } from './state/queries.ts';
import type { SchedulerState } from './state/state.ts';

/** Default of `timeouts.queue`. */
const queueMs = 7_200_000;

/** Returns the input of the state machine in addition to the job and the event. */
export function jobContext(state: SchedulerState, job?: Job): JobContext {
  const {
    options,
    now,
    watchedSince,
    estimators,
    searches,
    tellsSeeds,
    buttons,
    owners,
    lookup,
    jobs,
    kinds,
    ended,
    lost,
  } = state;
  const { settings, invocation, random } = options;
  const { costModel } = estimators;
  return {
    now,
    invocation,
    watchedSince,
    random,
    retry: settings.retry,
    taskMs: settings.timeouts.taskMs,
    queueMs: settings.timeouts.queueMs ?? queueMs,
    hasFoundLater: (record) => lost.hasFoundLater(record),
    overtakenAt: (record) => ended.overtakenAt(record),
    speed: settings.speed,
    retryInDoubt: settings.inDoubt === 'retry',
    searches,
    tellsSeeds,
    unconfirmedSearchInMs: unconfirmedSearchInMs(state),
    price: costModel.price,
    replyPrice: costModel.answerPrice,
    assumedUsage: costModel.usage,
    buttonsOf: (taskId) => buttons.read(taskId, now),
    jobOf: lookup,
    // Keys of jobs of other workers are not loaded, so keys are recognized by their format.
    isJob: (key) => lookup(key) !== undefined || (options.others !== undefined && isJobKey(key)),
    rivals: (record) => owners.rivals(record).flatMap((key) => lookup(key) ?? []),
    hasPeers: options.others !== undefined,
    mayGetSameId: (record) => jobs.mayGetSameId(record),
    showsIds: owners.showsIds,
    promptAbove: (record) => promptAbove(record, lookup),
    tally: (route) => {
      if (route === 'poll') return kinds.polls.tally;
      if (route === 'download') return kinds.downloads.tally;
      return (job && kinds.of(job))?.tally ?? noTally;
    },
    pollMaxMs: settings.poll.maxMs,
    pollInMs: (record, elapsedMs, wasPolled = false) =>
      pollDueInMs(state, estimators.pollInMs(record, elapsedMs), wasPolled),
  };
}

function unconfirmedSearchInMs({
  options,
  searches,
  lifecycle,
  unconfirmedSearches,
  now,
}: SchedulerState): number | undefined {
  if (options.settings.findInDoubt !== true || !searches || lifecycle.isEnding) return undefined;
  const { searchedAt, isUnderWay } = unconfirmedSearches;
  return Math.max(
    unconfirmedSearch.afterMs,
    (isUnderWay ? now : searchedAt) + unconfirmedSearch.everyMs - now,
  );
}

/** Limits the polls but the first of a task, which may have ended. Jobs that share one request are aligned to common times. */
function pollDueInMs(state: SchedulerState, inMs: number, isRepeated: boolean): number {
  const { pollsBatches, jobs, now, options } = state;
  if (!pollsBatches) return isRepeated ? Math.max(inMs, pollsTakeMs(state, jobs.tasksInFlight)) : inMs;
  const requests = Math.ceil(jobs.size / maxListed);
  const apartMs = Math.max(options.settings.poll.minMs, Math.ceil(pollsTakeMs(state, requests)));
  return apartMs < 1 ? inMs : Math.ceil((now + inMs) / apartMs) * apartMs - now;
}
