import { isTextRequest } from '../../plan/job-request.ts';
import { become, isParked, type Job } from '../machine/job.ts';
import { leaveJob } from './drain.ts';
import { placeJob } from './place-job.ts';
import type { KindState, Refused } from './routes/kinds.ts';
import { areAllCellsOpened } from './state/queries.ts';
import type { SchedulerState } from './state/state.ts';

/**
 * Holds a job that was refused, and for which nothing was paid: it fails once others of its kind are served, and goes back to pending
 * where its kind closes.
 *
 * @param failed the job as it would have settled; absent: it is tried once more when nothing else is left to do
 */
export function holdRefused(
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
  const next = { kind: isTextRequest(request) ? 'ask' : 'room' } as const;
  const held: Job = { ...rest, record, want: { kind: 'wait', until: Infinity, next } };
  const wasPutBack = before.record.putBack === true;
  placeJob(state, before, held);
  if (state.jobs.get(key) !== held) return;
  if (kind.closed !== undefined || (failed === undefined && wasPutBack))
    return leaveToLaterRun(state, kind, held);
  awaitVerdict(state, kind, key, { wasPutBack, ...(failed && { failed }) });
}

/** Maximum of refused jobs of one kind that wait for a verdict: more than the equal refusals in a row that close it. */
const mostRefused = 32;

/** Lets a job wait for a verdict on its kind. Of too many, the one that has waited longest fails. */
export function awaitVerdict(state: SchedulerState, kind: KindState, key: string, refused: Refused): void {
  kind.refused.set(key, refused);
  const [oldest] = kind.refused;
  if (kind.refused.size > mostRefused && oldest?.[1].failed !== undefined)
    failRefused(state, kind, oldest[0], oldest[1].failed);
}

/** Others of this kind are served: what was refused fails. */
export function failAllRefused(state: SchedulerState, kind: KindState): void {
  for (const [key, { failed }] of kind.refused)
    if (failed !== undefined) failRefused(state, kind, key, failed);
}

/** Fails a job that was held: others of its kind are served, or there is no other answer to hope for. */
function failRefused(state: SchedulerState, kind: KindState, key: string, failed: Job): void {
  kind.refused.delete(key);
  const job = state.jobs.get(key);
  if (job === undefined || !isParked(job)) return;
  const { putBack: _, ...record } = failed.record;
  placeJob(state, job, { ...failed, record });
}

/** Leaves a job of a closed kind, and counts it. */
export function leaveToLaterRun(state: SchedulerState, kind: KindState, job: Job): void {
  kind.leave(job.record.key);
  leaveJob(state, job);
}

/** Leaves a job of a kind of which this worker was served nothing: how often others were refused it, no worker knows. */
function leaveUnserved(state: SchedulerState, kind: KindState, job: Job, { record: { error } }: Job): void {
  kind.leftFor = {
    code: 'route.refused',
    message: `The service served none of the ${kind.name} requests of a worker. Its answer: ${error?.message ?? ''}`,
  };
  leaveToLaterRun(state, kind, job);
}

/** How long a worker has nothing else to do before it judges what was refused, ms: it may be given more cells, which show more. */
const idleMs = 2000;

/** Nothing is left to do but jobs on whose refusal there is no verdict: they get one. @returns false where there is none */
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
      if (job?.want.kind !== 'wait') continue;
      if (failed === undefined) placeJob(state, job, { ...job, want: { ...job.want.next } });
      else if (!kind.isServed && options.others !== undefined) leaveUnserved(state, kind, job, failed);
      else if (!kind.isServed && wasPutBack) leaveToLaterRun(state, kind, job);
      else failRefused(state, kind, key, failed);
    }
  return true;
}

function areRefusedAlone(state: SchedulerState): boolean {
  const { jobs, kinds, routes, lifecycle, options, cells } = state;
  if (jobs.size === 0 || routes.inFlight > 0 || lifecycle.isHalted) return false;
  // A worker never knows its cells to be the last: what it was refused would keep its slices from their end.
  const hasNoCells =
    areAllCellsOpened(state) || (options.others !== undefined && cells.incoming.length === 0);
  if (!lifecycle.isEnding && !hasNoCells) return false;
  let held = 0;
  for (const { refused } of kinds.all()) held += refused.size;
  return held > 0 && held >= jobs.size;
}
