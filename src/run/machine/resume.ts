import { formatBranch } from '../../pipeline/selectors/parse.ts';
import { isSettled, type JobOrigin, type JobRecord } from '../../plan/job.ts';
import { extendsParent, isTextRequest } from '../../plan/job-request.ts';
import { formerOf } from '../../plan/resolve/former.ts';
import { begunFrom, type Lineage } from '../../plan/resolve/lineage.ts';
import type { Slot } from '../../plan/slot.ts';
import type { RunSettings } from '../ports.ts';
import { become, type Job, newJob } from './job.ts';
import { canAnswer, firstModalWant, interruptedModal, isAnswered } from './modal.ts';
import { redoneOnce } from './redo.ts';
import { addUnanswered, closeUnanswered, interruptedSubmit } from './retry/in-doubt.ts';
import { wantFile, wantFresh } from './save.ts';
import { requeue } from './text-call.ts';

/**
 * What a run makes of a slot when its cell is opened: a job to work on, or nothing. Only what was settled before
 * this run began can be revived, so that one invocation never goes round in circles; what came from a job that was made again is,
 * whenever it was settled, once for each new result of that.
 *
 * @param lineage what it would be made from now
 */
export function jobForSlot(
  slot: Slot,
  lineage: Lineage,
  settings: RunSettings,
  redo: ReadonlySet<string>,
  invocation: number,
  now: number,
): Job | undefined {
  const job = resumeSlot(slot, lineage.parentTaskId, settings, redo, invocation, now);
  return job === undefined || waitsForParent(job) ? undefined : begunWith(job, lineage);
}

/**
 * What is begun has its lineage on record from now on. What is under way keeps that of its submission, and so does what may be: a task that
 * is found for it was made from what was there then. Only when it is submitted again is it made from what is there now.
 */
export function begunWith(job: Job, lineage: Lineage): Job {
  const { record } = job;
  if (record.status !== 'pending') return job;
  if (record.doubtful?.since !== undefined) return { ...job, lineage };
  return { ...job, record: begunFrom(record, lineage) };
}

/** What presses or extends a task cannot begin while that is made again; once it is finished, its cell is looked at again. */
export const waitsForParent = ({ record, want, parentTaskId, lastPoll }: Job): boolean =>
  want.kind === 'room' &&
  !lastPoll &&
  (record.request.kind === 'click' || extendsParent(record.request)) &&
  record.modal === undefined &&
  parentTaskId === undefined;

function resumeSlot(
  slot: Slot,
  parentTaskId: string | undefined,
  settings: RunSettings,
  redo: ReadonlySet<string>,
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
      attempts: 0,
      tries: 0,
      resubmits: 0,
      artifacts: [],
    };
    return newJob(fresh, slot.depth, parentTaskId);
  }
  // How a call is made, and where its files lie, the pipeline says afresh: neither is part of the key.
  const kept: JobRecord = {
    ...record,
    keep: record.keep || slot.keep,
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
      return slot.unsaved ? saveAgain(kept, slot.depth) : undefined;
    case 'in-doubt':
      if (!before) return undefined;
      return settings.inDoubt === 'retry'
        ? submitAgain(kept, slot.depth, parentTaskId)
        : pollOnce(kept, slot.depth, parentTaskId, now);
    case 'failed':
      // A missing button that the slot calls optional reads as skipped: there is nothing to retry.
      // Nor is there where no slot wants the files that are missing.
      if (!before || slot.status === 'skipped' || slot.status === 'done') return undefined;
      if (record.error?.code === 'task.timeout' && record.taskId !== undefined)
        return { ...newJob(become(kept, 'running'), slot.depth, parentTaskId), lastPoll: true };
      return mayRetry(record, settings) ? retryOf(kept, slot.depth, parentTaskId) : undefined;
    case 'pending':
    case 'submitting':
    case 'running':
    case 'modal':
    case 'saving':
      return undefined;
  }
}

/** A job that an earlier run left, taken up where its record says it was. */
export function adopt(record: JobRecord, depth: number, parentTaskId: string | undefined): Job {
  const job = newJob(record, depth, parentTaskId);
  if (record.status === 'running' && record.taskId !== undefined)
    return { ...job, want: { kind: 'fetch', taskId: record.taskId, why: 'poll' } };
  if (record.status === 'saving') return { ...job, want: wantFile(job) };
  // An open modal waits for room: nobody has begun it in this run, and its answer makes it a task in flight.
  const isAnswering = record.modal !== undefined && record.status === 'submitting';
  return isAnswering ? { ...job, want: firstModalWant(record) } : job;
}

/**
 * True for a job whose request was under way when an earlier run ended: nobody knows whether the request arrived, so that no run may
 * go on with the job as its record says. An answer to a modal is no such request: the task shows whether it arrived.
 */
export const isInterrupted = ({ status, modal }: JobRecord): boolean =>
  status === 'submitting' && modal === undefined;

/**
 * What becomes of such a job: a text call is made again, a submission is in doubt.
 *
 * @param startedAt of this run, Unix ms
 * @param price of the submission, where known
 */
export const recoverInterrupted = (
  record: JobRecord,
  startedAt: number,
  price: number | undefined,
): JobRecord => (isTextRequest(record.request) ? requeue(record) : interrupted(record, startedAt, price));

/**
 * A job whose submission was under way when an earlier run ended. It is in doubt since before this run, so that
 * `--in-doubt retry` counts for it when its cell is opened.
 *
 * @param price of the submission, where known
 */
export function interrupted(record: JobRecord, startedAt: number, price: number | undefined): JobRecord {
  // An answer to a modal is paid with its click.
  const left = record.modal === undefined ? addUnanswered(record, price) : record;
  return become(left, 'in-doubt', {
    finishedAt: startedAt - 1,
    error: isAnswered(record) ? (record.error ?? interruptedModal) : interruptedSubmit,
  });
}

/** True when `--retry-failed` (and `--code`) names this failure. */
export function mayRetry(record: JobRecord, settings: RunSettings): boolean {
  const { retryFailed } = settings;
  return (
    retryFailed !== undefined && (retryFailed.code === undefined || retryFailed.code === record.error?.code)
  );
}

/** A failed job on the user's word: what is already made is only brought in, everything else is submitted again. */
export function retryOf(record: JobRecord, depth: number, parentTaskId: string | undefined): Job {
  const made =
    record.result !== undefined &&
    record.taskId !== undefined &&
    record.error?.code !== 'service.task-unknown';
  return { ...(made ? saveAgain(record, depth) : submitAgain(record, depth, parentTaskId)), isRetry: true };
}

/** A button is not pressed again whose modal waits: for an answer that was never sent, that was refused, or that may be lost. */
function submitAgain(record: JobRecord, depth: number, parentTaskId: string | undefined): Job {
  const { modal, status } = record;
  // What the pipeline still has no answer to, another click may not ask: accounts are set to ask, or not to.
  const waits = modal !== undefined && !modal.accepted && canAnswer(record);
  if (!waits) return newJob(resetForResubmit(record), depth, parentTaskId);
  const open = become(record, 'modal', { tries: 0, error: undefined, finishedAt: undefined });
  const mayBeGone = status === 'failed' ? status : 'in-doubt';
  return { ...newJob(open, depth, parentTaskId), mayBeGone };
}

function saveAgain(record: JobRecord, depth: number): Job {
  const job = newJob(become(record, 'saving', { error: undefined, finishedAt: undefined }), depth, undefined);
  // Its old links are most likely gone by now (gateway 4.7).
  return { ...job, want: wantFresh(job) };
}

/** Where a lost answer to a modal arrived, its task shows it sooner or later, and looking costs nothing (gateway 4.6). */
const pollOnce = (
  record: JobRecord,
  depth: number,
  parentTaskId: string | undefined,
  pollUntil: number,
): Job | undefined =>
  isAnswered(record) && !record.modal?.accepted
    ? {
        ...newJob(become(record, 'submitting', { finishedAt: undefined }), depth, parentTaskId),
        pollUntil,
      }
    : undefined;

/** The same on the user's word. What a failed one had made all the same, without its files, gives way at once. */
const redone = (record: JobRecord): JobRecord =>
  record.status === 'failed' && record.result !== undefined && record.former === undefined
    ? { ...resetForResubmit(record), redone: redoneOnce(record, record) }
    : resetForResubmit(record);

/**
 * The record as it was before its first submission, its history of attempts and cost kept, and what it had come to if it was
 * done: that stands until there is a new result.
 */
export function resetForResubmit(record: JobRecord): JobRecord {
  const former = record.status === 'done' ? formerOf(record) : record.former;
  return become(closeUnanswered(record), 'pending', {
    former,
    tries: 0,
    resubmits: 0,
    taskId: undefined,
    parentTaskId: undefined,
    kept: undefined,
    modal: undefined,
    pressed: undefined,
    named: undefined,
    submittedAt: undefined,
    finishedAt: undefined,
    result: undefined,
    error: undefined,
    artifacts: former === undefined ? [] : record.artifacts,
    text: undefined,
    turns: undefined,
    invalid: undefined,
  });
}

function originOf(slot: Slot): JobOrigin {
  return { cell: slot.cell, step: slot.step, branch: formatBranch(slot.branch), slot: slot.id };
}
