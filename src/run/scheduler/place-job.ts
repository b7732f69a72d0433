import { isInterrupted } from '../../plan/estimate/revival.ts';
import { framesError } from '../../plan/graph/frames.ts';
import type { JobError, JobRecord } from '../../plan/job.ts';
import { lacksFilesYet } from '../../plan/resolve/former.ts';
import { isOutdated, lineageNow } from '../../plan/resolve/lineage.ts';
import { isParked, type Job, withLease } from '../machine/job.ts';
import { asBefore } from '../machine/redo.ts';
import {
  adopt,
  begunWith,
  interruptedAttempt,
  mayRetry,
  needsParentTask,
  recoverInterrupted,
  retryOf,
  waitsForParent,
} from '../machine/resume.ts';
import type { Lease } from '../ports.ts';
import { closeCell, drain, leaveJob, leaveUnsaved } from './drain.ts';
import { redoOf, writeRecord } from './redo-orders.ts';
import type { KindState } from './routes/kinds.ts';
import { isWorkedOn } from './state/active-jobs.ts';
import { failedFast, mayBeLeft, tooManyFailures } from './state/lifecycle.ts';
import { isAwaited, isFailure, taskOf, waitsForNewParent } from './state/queries.ts';
import type { SchedulerState } from './state/state.ts';
import { lookAgainAt } from './state/wake.ts';

/**
 * Adds a job or replaces its state: notes the record to make durable, and puts the job into the queue for its next request. A settled job
 * leaves the active jobs, and its cells become due.
 *
 * @param before the job as it was; undefined for one that is added
 */
export function placeJob(state: SchedulerState, before: Job | undefined, job: Job): void {
  const { jobs, budget, outbox, routes, stall, lifecycle, now, cells } = state;
  const { record, nextRequest } = job;
  jobs.put(job);
  if (before !== undefined && isWorkedOn(before) && !isWorkedOn(job))
    routes.queues.submit.lane().pace.ended(record.key, now);
  if (record.taskId !== before?.record.taskId) state.owners.note(record);
  if (before !== undefined) budget.note(before.record, record);
  // A job that is only added needs no new record: plan and store yield the same job again.
  if (before !== undefined && before.record !== record) writeRecord(state, record, job.lease);
  if (before?.record.status !== record.status) {
    outbox.emitStatus(before?.record, record);
    stall.moved(now);
    // Jobs that depend on the task need not wait for its files.
    if (before !== undefined && lacksFilesYet(record))
      for (const open of cells.open.awaiting(record.key))
        if (open.hasMore && open.waiting.size - 1 <= (open.rest ?? Infinity)) cells.open.due.add(open);
  }
  if (nextRequest === before?.nextRequest) return;
  if (before !== undefined && isOutOfPlace(state, before, job)) return returnToCells(state, job);
  const kind = lifecycle.isEnding ? undefined : closedTo(state, job);
  if (kind !== undefined) {
    if (kind.closed === undefined) return park(state, kind, job);
    kind.leave(record.key);
    return leaveJob(state, job);
  }
  jobs.enqueue(job);
  if (nextRequest.kind === 'answer') return;
  if (nextRequest.kind === 'nothing') return settle(state, job);
  if (lifecycle.isEnding && mayBeLeft(job)) return leaveUnsaved(state, job);
  if (
    nextRequest.kind === 'wait' &&
    !isParked(job) &&
    record.error !== undefined &&
    record.status === 'pending'
  )
    outbox.emit({ type: 'job:retry', key: record.key, inMs: nextRequest.until - now, error: record.error });
}

/** Whether a job waits for its turn and has nothing in flight. */
export const parkable = ({ record, nextRequest }: Job): boolean =>
  record.status === 'pending' &&
  record.modal === undefined &&
  (nextRequest.kind === 'task-slot' || nextRequest.kind === 'submit' || nextRequest.kind === 'ask');

/** Returns the closed or paused kind that keeps a job from its request; undefined where its turn may come. */
function closedTo({ kinds }: SchedulerState, job: Job): KindState | undefined {
  const kind = parkable(job) ? kinds.of(job) : undefined;
  const rests = kind?.restsUntil !== undefined && kind.probe !== job.record.key;
  return rests || kind?.closed !== undefined ? kind : undefined;
}

/** Makes a job wait until its kind is served again. It keeps no task slot meanwhile. */
export function park({ jobs }: SchedulerState, kind: KindState, job: Job): void {
  const { fresh: _, ...unread } = job;
  const next = job.nextRequest.kind === 'submit' ? ({ kind: 'task-slot' } as const) : job.nextRequest;
  kind.parked.add(job.record.key);
  jobs.put({ ...unread, nextRequest: { kind: 'wait', until: Number.POSITIVE_INFINITY, next } });
}

/** Adds a job that an earlier run left unfinished. */
export function adoptJob(state: SchedulerState, record: JobRecord, lease?: Lease): void {
  // A job whose modal waits for its confirm is left to the cells that need the job.
  if (record.status === 'modal') return;
  if (isInterrupted(record)) return recoverJob(state, record, lease);
  const job = adopt(record, Number.MAX_SAFE_INTEGER, taskOf(state, record.parent));
  placeJob(state, undefined, withLease({ lease: takeUp(state, lease, record.key) }, job));
}

/** Adds a job for a slice. The last decision about it, for any slice, may not be durable yet; the job continues from there. */
export function takeUp(
  { slices, outbox }: SchedulerState,
  lease: Lease | undefined,
  key: string,
): Lease | undefined {
  const decided = outbox.leaseOf(key);
  return decided === undefined ? slices.takeUp(lease, key) : { ...decided };
}

/** Recovers a job whose request was in flight when an earlier run ended. The cells that need the job add it. */
export function recoverJob(state: SchedulerState, record: JobRecord, lease?: Lease): void {
  const { options, budget, outbox } = state;
  const recovered = recoverInterrupted(record, options.startedAt, budget.reserveOf(record));
  budget.note(record, recovered);
  writeRecord(state, recovered, lease);
  outbox.attempt(interruptedAttempt(record));
  outbox.emitStatus(record, recovered);
}

/** Leaves a job to the cells that need it, which add it when it can begin: only planned jobs are paid. */
export function returnToCells(state: SchedulerState, { record }: Job): void {
  const { key, former, error, status } = record;
  const isRedo = status === 'pending' && former !== undefined && error !== undefined;
  // A later run replaces a result that is still outdated, or that an open redo order names: the redo has not failed.
  if (isRedo && redoOf(state, key) === undefined && !isOutdated(asBefore(record), state.lookup))
    noteFailedRedo(state, record, error);
  state.jobs.drop(key);
  releaseCells(state, key);
}

/** Counts a failed redo: the user asked for another result and there is none. */
export function noteFailedRedo(
  state: SchedulerState,
  { key, origin: { step: name, cell } }: JobRecord,
  { code, message }: JobError,
): void {
  state.redosFailed += 1;
  state.outbox.emit({
    type: 'run:notice',
    code: 'redo.failed',
    message: `--redo: ${key} (${name} in cell ${cell}) was not made again, and stays as it was (${code}): ${message}`,
  });
}

/** Tells the user once in a run that a grid could not be cut or lacks frames. An image that was never a grid is not reported. */
function noteWhole(state: SchedulerState, record: JobRecord): void {
  const error = record.status === 'done' ? framesError(record) : undefined;
  if (error === undefined || error.code === 'frames.no-grid' || state.notedWhole) return;
  state.notedWhole = true;
  const { files = [] } = record.frames ?? {};
  const { step: name, cell } = record.origin;
  state.outbox.emit({
    type: 'run:notice',
    code: error.code,
    message: `The grid of ${name} in cell ${cell} ${files.length === 0 ? 'stays whole' : 'lacks frames of the service'}: ${error.message} promptpress show tells it of others (${record.key}).`,
  });
}

function settle(state: SchedulerState, job: Job): void {
  const { jobs, outbox, lifecycle, clicks, options } = state;
  const { record, lastPoll, depth } = job;
  const { settings } = options;
  jobs.drop(record.key);
  if (record.error?.code === 'task.timeout' && record.status === 'failed' && !lastPoll && !job.unknown)
    jobs.changeOverdue((tasks) => tasks.keep(job, state.now + settings.timeouts.taskMs, lookAgainAt(state)));
  if (record.split === true) noteWhole(state, record);
  if (lastPoll && record.status === 'failed' && mayRetry(record, settings) && !lifecycle.isEnding) {
    const parentTaskId = taskOf(state, record.parent);
    const lineage = lineageNow(record, parentTaskId, state.lookup);
    const again = withLease(job, begunWith(retryOf(record, depth, parentTaskId), lineage));
    const isUnpaid = again.record.status === 'pending';
    if (!waitsForParent(again) && !(isUnpaid && waitsForNewParent(state, record.key)))
      return placeJob(state, undefined, again);
    // A job that this one is based on is being redone: the cell adds this one again after that.
    writeRecord(state, again.record, job.lease);
    outbox.emitStatus(record, again.record);
    return releaseCells(state, record.key);
  }
  const { failFast, maxFailures, acceptedFailures } = settings;
  const mayEnd = failFast || maxFailures !== undefined || record.request.press !== undefined;
  if (mayEnd && !lastPoll && isFailure(state, record)) {
    if (acceptedFailures?.includes(record.error?.code ?? '') !== true) {
      state.failures += 1;
      if (failFast) drain(state, failedFast(record));
      if (maxFailures === state.failures) drain(state, tooManyFailures(maxFailures, record));
    }
    // The grid of a retried click is paid already, and the button may have worked in other cells of an earlier run.
    const end =
      job.earlierFailure === undefined ? clicks.failed(record, job.buttonless ? 1 : undefined) : undefined;
    if (end !== undefined) drain(state, end);
  }
  if (record.status === 'done' && record.redone === undefined) return releaseDone(state, record);
  releaseCells(state, record.key);
}

/** Marks the cells of a job as due that is settled, or left to the cells that need it. */
export function releaseCells({ cells }: SchedulerState, key: string): void {
  for (const open of cells.open.release(key)) cells.open.due.add(open);
}

/** A job is done that was never redone: cells in which nothing depends on it are not resolved again. */
function releaseDone(state: SchedulerState, record: JobRecord): void {
  const { cells, clicks } = state;
  if (record.request.press !== undefined) clicks.worked(record);
  for (const open of cells.open.release(record.key, true))
    if (open.isComplete === true) {
      if (open.waiting.size === 0) closeCell(state, open);
    } else if (open.waiting.size <= (open.rest ?? Infinity)) cells.open.due.add(open);
}

/** Whether a job that an earlier run left must not be paid by this run. */
function isOutOfPlace(state: SchedulerState, { record: before }: Job, job: Job): boolean {
  const { key, status } = job.record;
  // An earlier run opened this modal, or its confirm failed: the prompt may have changed, or the cell is no longer planned.
  if (status === 'modal') return !isAwaited(state, key);
  const wasAhead = before.status === 'running' || before.status === 'modal' || before.modal !== undefined;
  return status === 'pending' && wasAhead && !mayBeSubmittedAgain(state, job);
}

/**
 * Whether a job of an earlier run may be submitted again: not while no open cell needs it, its parent is being redone, or its parent has
 * another task than before.
 */
function mayBeSubmittedAgain(state: SchedulerState, { record, parentTaskId }: Job): boolean {
  const { key, parent } = record;
  if (!isAwaited(state, key) || waitsForNewParent(state, key)) return false;
  // A parent that is being redone after a failure has no task now, and had none when this job was added.
  if (parentTaskId === undefined && needsParentTask(record)) return false;
  return taskOf(state, parent) === parentTaskId;
}
