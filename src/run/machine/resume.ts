import { isInterrupted } from '../../plan/estimate/revival.ts';
import { type Attempt, isSettled, type JobRecord } from '../../plan/job.ts';
import { extendsParent, isTextRequest } from '../../plan/job-request.ts';
import { formerOf } from '../../plan/resolve/former.ts';
import { begunFrom, type Lineage } from '../../plan/resolve/lineage.ts';
import { originOf } from '../../plan/resolve/upstream.ts';
import type { Slot } from '../../plan/slot.ts';
import type { RunSettings } from '../ports.ts';
import { become, type Job, newJob } from './job.ts';
import { canConfirm, firstModalRequest, interruptedModal, isConfirmSent } from './modal.ts';
import { redoneOnce } from './redo.ts';
import { addUnanswered, closeUnanswered, interruptedSubmit, lostCall } from './retry/in-doubt.ts';
import { fileRequest, freshRequest } from './save.ts';
import { requeue, submissionName } from './text-call.ts';
import { attemptOf } from './transition.ts';

/**
 * Returns the job of a slot when its cell is opened; undefined where nothing is to be done. Only a job that settled before this run began
 * can be started again, so that no run repeats itself. A job below a redone one is started again whenever it settled, once for each new
 * result of its parent; until that result exists, the job is not submitted again from the former one, which would be paid twice.
 *
 * @param lineage the current parents of the job
 * @param redo keys of the jobs that the user wants redone and that have not begun
 */
export function jobForSlot(
  slot: Slot,
  lineage: Lineage,
  settings: RunSettings,
  redo: Pick<ReadonlySet<string>, 'has'>,
  invocation: number,
  now: number,
): Job | undefined {
  const job = resumeSlot(slot, lineage.parentTaskId, settings, redo, invocation, now);
  return job === undefined || waitsForParent(job) ? undefined : begunWith(job, lineage);
}

/**
 * Writes the lineage into the record of a job that begins. A job whose submission is, or may be, in flight keeps the lineage of that
 * submission, because a task found for it was made from those parents. Its next submission uses the new lineage.
 */
export function begunWith(job: Job, lineage: Lineage): Job {
  const { record } = job;
  if (record.status !== 'pending') return job;
  if (record.doubtful?.since !== undefined) return { ...job, lineage };
  return { ...job, record: begunFrom(record, lineage) };
}

/** Whether a job presses or extends a task that is being redone. Its cell is resolved again once that task is finished. */
export const waitsForParent = ({ record, nextRequest, parentTaskId, lastPoll }: Job): boolean =>
  nextRequest.kind === 'task-slot' &&
  !lastPoll &&
  record.modal === undefined &&
  needsParentTask(record) &&
  parentTaskId === undefined;

/** Whether a job presses or extends the task of its parent. */
export const needsParentTask = ({ request }: JobRecord): boolean =>
  request.press !== undefined || extendsParent(request);

function resumeSlot(
  slot: Slot,
  parentTaskId: string | undefined,
  settings: RunSettings,
  redo: Pick<ReadonlySet<string>, 'has'>,
  invocation: number,
  now: number,
): Job | undefined {
  const { job: spec, record } = slot;
  if (spec === undefined) return undefined;
  if (record === undefined) {
    if (!slot.ready) return undefined;
    const fresh: JobRecord = {
      key: spec.key,
      kind: spec.kind,
      status: 'pending',
      request: spec.request,
      ...(spec.parent === undefined ? {} : { parent: spec.parent }),
      ...(spec.inputs === undefined ? {} : { inputs: spec.inputs }),
      ...(spec.files === undefined ? {} : { files: spec.files }),
      ...(spec.call === undefined ? {} : { call: spec.call }),
      origin: originOf(slot),
      keep: slot.keep,
      ...(slot.split && { split: true }),
      ...(slot.seed && { seed: true }),
      attempts: 0,
      tries: 0,
      resubmits: 0,
      artifacts: [],
    };
    return newJob(fresh, slot.depth, parentTaskId);
  }
  // The pipeline sets the call's options and file paths for each run: neither is part of the key.
  const kept: JobRecord = {
    ...(isSettled(record.status) ? withoutSplit(record) : record),
    keep: record.keep || slot.keep,
    ...(slot.split && { split: true }),
    ...(slot.seed && { seed: true }),
    ...(spec.files === undefined ? {} : { files: spec.files }),
    ...(spec.call === undefined ? {} : { call: spec.call }),
  };
  if (isInterrupted(record))
    throw new Error(
      `Internal error: ${record.key} was submitted by an earlier run and would be submitted again.`,
    );
  if (!isSettled(record.status))
    return slot.ready || record.status !== 'pending' ? adopt(kept, slot.depth, parentTaskId) : undefined;
  const before = record.invocation !== invocation;
  if (slot.outdated && slot.ready) return newJob(resetForResubmit(kept), slot.depth, parentTaskId);
  if (before && redo.has(record.key))
    return slot.waitsForRedo ? undefined : newJob(redone(kept), slot.depth, parentTaskId);
  switch (record.status) {
    case 'done':
      if (slot.uncut || slot.unseeded) return adopt(become(kept, 'saving'), slot.depth, parentTaskId);
      return slot.unsaved ? saveAgain(kept, slot.depth) : undefined;
    case 'in-doubt':
      if (!before) return undefined;
      if (settings.inDoubt !== 'retry') return pollOnce(kept, slot.depth, parentTaskId, now);
      return slot.waitsForRedo ? undefined : submitAgain(kept, slot.depth, parentTaskId);
    case 'failed':
      // A missing button that the slot calls optional counts as skipped: there is nothing to retry. The same holds where no slot wants the
      // missing files.
      if (!before || slot.status === 'skipped' || slot.status === 'done') return undefined;
      if (record.error?.code === 'task.timeout' && record.taskId !== undefined)
        return { ...newJob(become(kept, 'running'), slot.depth, parentTaskId), lastPoll: true };
      if (!mayRetry(record, settings)) return undefined;
      return slot.waitsForRedo && !isMade(record) ? undefined : retryOf(kept, slot.depth, parentTaskId);
    case 'pending':
    case 'submitting':
    case 'running':
    case 'modal':
    case 'saving':
      return undefined;
  }
}

/** Whether a new result is cut, and its seed read, follows the pipeline as it is now, not as it was when the job ended. */
function withoutSplit({ split: _split, seed: _seed, ...record }: JobRecord): JobRecord {
  return record;
}

/** Returns a job that an earlier run left, resumed at the status of its record. */
export function adopt(record: JobRecord, depth: number, parentTaskId: string | undefined): Job {
  const job = newJob(record, depth, parentTaskId);
  if (record.status === 'running' && record.taskId !== undefined)
    return { ...job, nextRequest: { kind: 'fetch', taskId: record.taskId, why: 'poll' } };
  if (record.status === 'saving') return { ...job, nextRequest: fileRequest(job) };
  // An open modal needs a slot: this run has not begun it, and its confirm makes it a task in flight.
  const isConfirming = record.modal !== undefined && record.status === 'submitting';
  return isConfirming ? { ...job, nextRequest: firstModalRequest(record) } : job;
}

/**
 * Returns the record of an interrupted job for this run: a text call is made again, a submission is in doubt. Either may have been paid,
 * and is counted as unanswered.
 *
 * @param startedAt start of this run, Unix ms
 * @param most the estimated usage of the request; an estimate saved before the request was sent takes precedence
 */
export const recoverInterrupted = (
  record: JobRecord,
  startedAt: number,
  most: { readonly cost?: number; readonly tokens: number },
): JobRecord => {
  const { cost, tokens } = { ...most, ...record.reserve };
  if (!isTextRequest(record.request)) return interrupted(record, startedAt, cost);
  const lost = become(lostCall(record, cost, tokens), record.status, { reserve: undefined });
  const { submittedAt, submittedBy, unheard = [] } = record;
  if (submittedAt === undefined || submittedBy === undefined) return requeue(lost);
  // Another worker may have received the answer and cannot report it yet.
  const name = submissionName({ submittedAt, submittedBy });
  return become(requeue(lost), 'pending', { unheard: [...unheard, name].slice(-maxUnheard) });
};

/** Largest number of calls in a row whose workers were lost; the oldest ones beyond it are given up. */
const maxUnheard = 8;

/** The history entry for the request of an interrupted job, because the next submission replaces its time in the record. */
export const interruptedAttempt = ({ key, request, submittedAt = 0 }: JobRecord): Attempt =>
  attemptOf({ key }, submittedAt, 'unanswered', isTextRequest(request) ? undefined : interruptedSubmit);

/**
 * Returns the record of a job whose submission was in flight when an earlier run ended. It is in doubt since before this run, so that
 * `--in-doubt retry` applies to it when its cell is opened.
 *
 * @param price price of the submission, where known
 */
export function interrupted(record: JobRecord, startedAt: number, price: number | undefined): JobRecord {
  // A confirm of a modal is paid with its click.
  const left = record.modal === undefined ? addUnanswered(record, price) : record;
  return become(left, 'in-doubt', {
    reserve: undefined,
    finishedAt: startedAt - 1,
    error: isConfirmSent(record) ? (record.error ?? interruptedModal) : interruptedSubmit,
  });
}

/** Whether `--retry-failed` (and `--code`) selects this failure. */
export function mayRetry(record: JobRecord, settings: RunSettings): boolean {
  const { retryFailed } = settings;
  return (
    retryFailed !== undefined && (retryFailed.code === undefined || retryFailed.code === record.error?.code)
  );
}

/** Retries a failed job as the user asked: an existing result is only downloaded, everything else is submitted again. */
export function retryOf(record: JobRecord, depth: number, parentTaskId: string | undefined): Job {
  const job = isMade(record) ? saveAgain(record, depth) : submitAgain(record, depth, parentTaskId);
  return { ...job, earlierFailure: record.error?.message ?? '' };
}

/** Whether the service made what a failed job asked for, and only its files are missing. */
const isMade = ({ result, taskId, error }: JobRecord): boolean =>
  result !== undefined && taskId !== undefined && error?.code !== 'service.task-unknown';

/** Submits a job again. A button whose modal waits is not pressed again: its confirm was never sent, was refused, or may be lost. */
function submitAgain(record: JobRecord, depth: number, parentTaskId: string | undefined): Job {
  const { modal, status } = record;
  // Without a confirm in the pipeline a new click may still succeed: the account decides whether modals open.
  const waits = modal !== undefined && !modal.accepted && canConfirm(record);
  if (!waits) return newJob(resetForResubmit(record), depth, parentTaskId);
  const open = become(record, 'modal', { tries: 0, error: undefined, finishedAt: undefined });
  const mayBeGone = status === 'failed' ? status : 'in-doubt';
  return { ...newJob(open, depth, parentTaskId), mayBeGone };
}

function saveAgain(record: JobRecord, depth: number): Job {
  const job = newJob(become(record, 'saving', { error: undefined, finishedAt: undefined }), depth, undefined);
  // The old links have probably expired (gateway 4.7).
  return { ...job, nextRequest: freshRequest(job) };
}

/** Polls once for a lost confirm: if it arrived, its task shows that sooner or later, and a poll costs nothing (gateway 4.6). */
const pollOnce = (
  record: JobRecord,
  depth: number,
  parentTaskId: string | undefined,
  pollUntil: number,
): Job | undefined =>
  isConfirmSent(record) && !record.modal?.accepted
    ? {
        ...newJob(become(record, 'submitting', { finishedAt: undefined }), depth, parentTaskId),
        pollUntil,
      }
    : undefined;

/** Resets a job for `--redo`. A failed job's result without files is replaced at once. */
const redone = (record: JobRecord): JobRecord =>
  record.status === 'failed' && record.result !== undefined && record.former === undefined
    ? { ...resetForResubmit(record), redone: redoneOnce(record, record) }
    : resetForResubmit(record);

/**
 * Returns the record as before its first submission, with its attempts and cost. The result of a done job is kept as `former` until there
 * is a new one.
 */
export function resetForResubmit(record: JobRecord): JobRecord {
  const former = record.status === 'done' ? formerOf(record) : record.former;
  return become(closeUnanswered(record), 'pending', {
    former,
    tries: 0,
    resubmits: 0,
    taskId: undefined,
    claimed: undefined,
    parentTaskId: undefined,
    kept: undefined,
    modal: undefined,
    pressed: undefined,
    named: undefined,
    submittedAt: undefined,
    finishedAt: undefined,
    result: undefined,
    error: undefined,
    putBack: undefined,
    unheard: undefined,
    artifacts: former === undefined ? [] : record.artifacts,
    frames: former === undefined ? undefined : record.frames,
    text: undefined,
    turns: undefined,
    rounds: undefined,
    invalid: undefined,
    reusedFrom: undefined,
  });
}
