import { isTextRequest } from '../../plan/job-request.ts';
import { become, isParked, type Job } from '../machine/job.ts';
import { leaveJob } from './drain.ts';
import { placeJob } from './place-job.ts';
import type { KindState, Refused } from './routes/kinds.ts';
import { areAllCellsOpened } from './state/queries.ts';
import type { SchedulerState } from './state/state.ts';

/**
 * Suspends a refused job for which nothing was paid: it fails once others of its kind are served, and goes back to pending where its kind
 * closes.
 *
 * @param failed the job as it would have settled; absent: the job is tried once more when nothing else is left to do
 */
export function suspendRefused(
  state: SchedulerState,
  kind: KindState,
  before: Job,
  refused: Job,
  failed?: Job,
): void {
  const { key, request } = refused.record;
  const record = become(refused.record, 'pending', {
    finishedAt: undefined,
    invocation: undefined,
    submittedAt: undefined,
    putBack: true,
    tries: 0,
  });
  const { fresh: _, refused: __, ...rest } = refused;
  const next = { kind: isTextRequest(request) ? 'ask' : 'task-slot' } as const;
  const suspended: Job = { ...rest, record, nextRequest: { kind: 'wait', until: Infinity, next } };
  const wasPutBack = before.record.putBack === true;
  placeJob(state, before, suspended);
  if (state.jobs.get(key) !== suspended) return;
  if (kind.closed !== undefined || (failed === undefined && wasPutBack))
    return leaveToLaterRun(state, kind, suspended);
  awaitVerdict(state, kind, key, { wasPutBack, ...(failed && { failed }) });
}

/** Largest number of refused jobs of one kind that wait for a verdict: more than the equal refusals in a row that close it. */
const maxRefused = 32;

/** Makes a job wait for a verdict on its kind. Where too many wait, the one that has waited longest fails. */
export function awaitVerdict(state: SchedulerState, kind: KindState, key: string, refused: Refused): void {
  kind.refused.set(key, refused);
  const [oldest] = kind.refused;
  if (kind.refused.size > maxRefused && oldest?.[1].failed !== undefined)
    failRefused(state, kind, oldest[0], oldest[1].failed);
}

/** Fails the refused jobs of a kind, because others of the kind are served. */
export function failAllRefused(state: SchedulerState, kind: KindState): void {
  for (const [key, { failed }] of kind.refused)
    if (failed !== undefined) failRefused(state, kind, key, failed);
}

/** Fails a suspended job, because others of its kind are served or no better answer can be expected. */
function failRefused(state: SchedulerState, kind: KindState, key: string, failed: Job): void {
  kind.refused.delete(key);
  const job = state.jobs.get(key);
  if (job === undefined || !isParked(job)) return;
  const { putBack: _, ...record } = failed.record;
  placeJob(state, job, { ...failed, record });
}

/** Leaves a job of a closed kind to a later run, and counts it. */
export function leaveToLaterRun(state: SchedulerState, kind: KindState, job: Job): void {
  kind.leave(job.record.key);
  leaveJob(state, job);
}

/** Leaves a job of a kind that was never served to this worker. How often other workers were refused is unknown. */
function leaveUnserved(state: SchedulerState, kind: KindState, job: Job, { record: { error } }: Job): void {
  kind.leftFor = {
    code: 'route.refused',
    message: `The service served none of the ${kind.name} requests of a worker. Its answer: ${error?.message ?? ''}`,
  };
  leaveToLaterRun(state, kind, job);
}

/** How long a worker must be idle before it judges refused jobs, ms: it may receive more cells, which show more. */
const idleMs = 2000;

/** Judges the refused jobs once nothing else is left to do. @returns false where there are none */
export function judgeRefused(state: SchedulerState): boolean {
  const { jobs, kinds, lifecycle, now, options } = state;
  const areAlone = areRefusedAlone(state);
  const mayGetCells = areAlone && !lifecycle.isEnding && !areAllCellsOpened(state);
  kinds.judgesAt = mayGetCells ? (kinds.judgesAt ?? now + idleMs) : undefined;
  if (!areAlone || now < (kinds.judgesAt ?? now)) return false;
  kinds.judgesAt = undefined;
  for (const kind of kinds.all())
    for (const [key, { failed, wasPutBack }] of kind.refused) {
      const job = jobs.get(key);
      kind.refused.delete(key);
      if (job?.nextRequest.kind !== 'wait') continue;
      if (failed === undefined) placeJob(state, job, { ...job, nextRequest: { ...job.nextRequest.next } });
      else if (!kind.isServed && options.others !== undefined) leaveUnserved(state, kind, job, failed);
      else if (!kind.isServed && wasPutBack) leaveToLaterRun(state, kind, job);
      else failRefused(state, kind, key, failed);
    }
  return true;
}

function areRefusedAlone(state: SchedulerState): boolean {
  const { jobs, kinds, routes, lifecycle, options, cells } = state;
  if (jobs.size === 0 || routes.inFlight > 0 || lifecycle.isHalted) return false;
  // A worker cannot know that its cells are the last: its refused jobs would keep its slices from ending.
  const hasNoCells =
    areAllCellsOpened(state) || (options.others !== undefined && cells.incoming.length === 0);
  if (!lifecycle.isEnding && !hasNoCells) return false;
  let suspended = 0;
  for (const { refused } of kinds.all()) suspended += refused.size;
  return suspended > 0 && suspended >= jobs.size;
}
