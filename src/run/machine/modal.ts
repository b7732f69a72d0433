import type { SaveFailure } from '../../artifacts/writer.ts';
import { suggestedBy } from '../../plan/button-match.ts';
import type { JobError, JobRecord } from '../../plan/job.ts';
import type { SubmitResult } from '../../service/image-service.ts';
import type { ServiceFailure, ServiceResult } from '../../service/result.ts';
import { become, type Job, type JobContext, type JobStep, type Want } from './job.ts';
import { modalLag } from './retry/modal-lag.ts';
import { afterAll, defer, restAfter, retryLater, retryUnread } from './retry/retry.ts';
import {
  bannedPrompt,
  inDoubtError,
  isRunStopping,
  isUnmade,
  jobError,
  queueFull,
  refusalCode,
} from './retry/service-failure.ts';
import { attemptOf, rest, settle } from './transition.ts';

/**
 * A button that opens a modal: its task waits, and does nothing, until the modal is answered (gateway 4.6). A modal
 * may be answered once, so its submission has a durable intent of its own. Between the two lies a state of its own,
 * `modal`, in which a run may end without anything being in doubt. Once it was sent, a task that still shows MODAL says
 * nothing (gateway 4.6): whether it arrived is seen only where the task has moved on. So one that may have arrived, whatever
 * the status that says so, is only looked for, and sent again on nobody's word but the user's: a second answer may be paid.
 *
 * - `modal`: to be answered. `sent` is how many answers may have arrived; where it is not 0, the user told to send another
 * - `submitting` with a modal: it was sent, and nobody knows more
 */

/** True for a modal that was sent: MODAL means "not finished" from now on. */
export const isAnswered = ({ modal }: JobRecord): boolean => modal !== undefined && modal.sent > 0;

/**
 * True where it is known what to answer a modal with: the pipeline says so, a remix repeats the prompt there is, and a button of
 * a describe has a prompt of its own.
 */
export const canAnswer = ({ request, pressed }: Pick<JobRecord, 'request' | 'pressed'>): boolean =>
  request.kind === 'click' &&
  (request.mask !== undefined ||
    request.fields['remix'] === true ||
    saysPrompt(request.fields['prompt']) ||
    (pressed !== undefined && suggestedBy(pressed) !== undefined));

const saysPrompt = (prompt: unknown): boolean => prompt !== undefined && prompt !== null && prompt !== '';

/** How long a job rests so that what was decided is durable before the next thing is sent. */
const nextTurnMs = 1;

/** The task waits for its modal: by the answer to the click (code 21), or when it was looked at (gateway 4.6). */
export function modalOpened(job: Job, taskId: string, { now }: JobContext): JobStep {
  const { lastPoll: _, ...rested } = job;
  const record = become(job.record, 'modal', {
    taskId,
    modal: { taskId, sent: 0 },
    tries: 0,
    error: undefined,
    finishedAt: undefined,
  });
  const open: Job = { ...rested, record, misses: 0 };
  return canAnswer(record) ? rest(open, nextTurnMs, { kind: 'modal' }, now) : failUnanswered(open, now);
}

const failUnanswered = (job: Job, now: number): JobStep =>
  settle(
    job,
    'failed',
    {
      code: 'modal.unanswered',
      message:
        job.record.request.kind === 'click'
          ? 'The button opened a dialog that wants further input. Say in the path what to answer: `prompt`, and for Vary (Region) `mask` too.'
          : 'The task wants further input, which only a button\u2019s step in a path can give (`prompt`, `mask`).',
    },
    now,
  );

/** What a job with an open modal wants first: to answer it, or to see whether what was sent arrived, or whether it is open still. */
export function firstModalWant(record: JobRecord, mayBeGone?: Job['mayBeGone']): Want {
  const { taskId, sent } = modalOf(record);
  return sent === 0 && mayBeGone === undefined ? { kind: 'modal' } : { kind: 'fetch', taskId, why: 'modal' };
}

/** Its turn has come. The first answer belongs to the click, which is counted; each further one is an attempt. */
export function modalNow(job: Job, { now, speed }: JobContext): JobStep {
  const { record } = job;
  const modal = modalOf(record);
  if (!canAnswer(record)) return failUnanswered(job, now);
  const sent = become(record, 'submitting', {
    modal: { ...modal, sent: modal.sent + 1 },
    attempts: record.attempts + Number(modal.sent > 0),
    speed,
    submittedAt: now,
    error: undefined,
  });
  const { pollUntil: _, mayBeGone: _open, ...fresh } = job;
  return { job: { ...fresh, record: sent, misses: 0, want: { kind: 'answer' } }, send: { kind: 'modal' } };
}

/** The service answered the modal's submission, or did not. */
export function modalAnswered(job: Job, result: ServiceResult<SubmitResult>, context: JobContext): JobStep {
  const step = result.ok ? onAnswer(job, result.value, context) : onFailure(job, result.error, context);
  const at = job.record.submittedAt ?? context.now;
  const outcome = `modal.${result.ok ? result.value.kind : result.error.class}`;
  const error = result.ok ? undefined : jobError(result.error);
  return { ...step, attempt: attemptOf(step.job.record, at, outcome, error) };
}

function onAnswer(job: Job, result: SubmitResult, context: JobContext): JobStep {
  const { record } = job;
  switch (result.kind) {
    case 'accepted':
    case 'modal': {
      // 21 to a modal: that task is there already (gateway 3.2).
      const { taskId } = result;
      const running = movedOn(record, taskId);
      return rest(
        { ...job, record: running, misses: 0 },
        context.pollInMs(running, 0),
        { kind: 'fetch', taskId, why: 'poll' },
        context.now,
      );
    }
    case 'queue-full':
      return deferModal(job, queueFull(result), undefined, context);
    case 'refused': {
      const { message, requestId } = result;
      const code = refusalCode(result.code);
      const error: JobError = { code, message, ...(requestId && { requestId }) };
      return result.code === bannedPrompt
        ? settle(job, 'failed', error, context.now)
        : onRefused(job, error, context);
    }
  }
}

/** A second answer is refused too where the first one arrived after all, by a code or by a status: a third would be as well. */
const onRefused = (job: Job, error: JobError, context: JobContext): JobStep =>
  modalOf(job.record).sent > 1
    ? pollModal(job, error, context.retry.attempts, context)
    : settle(job, 'failed', error, context.now);

/** The record once its modal has arrived: the task is worked on. */
export const movedOn = (record: JobRecord, taskId: string): JobRecord =>
  become(record, 'running', {
    taskId,
    modal: { ...modalOf(record), accepted: true },
    tries: 0,
    error: undefined,
    finishedAt: undefined,
  });

function onFailure(job: Job, failure: ServiceFailure, context: JobContext): JobStep {
  switch (failure.class) {
    case 'throttle':
      return deferModal(job, jobError(failure), failure.retryAfterMs, context);
    case 'unsent':
      return modalUnsent(job, context);
    case 'stop':
      return failure.mayBeDone ? onNoAnswer(job, failure, context) : modalUnsent(job, context);
    case 'permanent':
      return onRefused(job, jobError(failure), context);
    case 'lost':
      return onNoAnswer(job, failure, context);
    case 'retry':
      return isUnmade(failure) ? retryModal(job, failure, context) : onNoAnswer(job, failure, context);
  }
}

/** A mask, or what it is measured by, could not be read: nothing was sent. */
export function modalUnread(job: Job, failure: SaveFailure, context: JobContext): JobStep {
  if (isRunStopping(failure)) return modalUnsent(job, context);
  const unsent = revertModal(job);
  return retryUnread(unsent, failure, { status: 'modal', next: firstModalWant(unsent.record) }, context);
}

/** Not taken on, and as if it had not been sent: back in line, where the route's pause holds it. */
export const modalUnsent = (job: Job, { now }: JobContext): JobStep =>
  rest(revertModal(job), 0, { kind: 'modal' }, now);

/** As a submission that is put off, but it keeps its room: its task waits on the service. */
function deferModal(job: Job, error: JobError, atLeastMs: number | undefined, context: JobContext): JobStep {
  // One before it may have arrived.
  const onStarved = (starved: Job, why: JobError): JobStep =>
    modalOf(starved.record).sent > 0
      ? pollModal(starved, why, starved.record.tries, context)
      : settle(starved, 'failed', why, context.now);
  const next: Want = { kind: 'modal' };
  return defer(revertModal(job), { route: 'submit', error, atLeastMs, next, onStarved }, context);
}

function revertModal(job: Job): Job {
  const modal = modalOf(job.record);
  const attempts = job.record.attempts - Number(modal.sent > 1);
  const record = become(job.record, 'modal', { modal: { ...modal, sent: modal.sent - 1 }, attempts });
  return { ...job, record };
}

/** It certainly came to nothing, and the service advises another one: as if it had not been sent, but for the tries. */
function retryModal(job: Job, failure: ServiceFailure, context: JobContext): JobStep {
  const unsent: Job = { ...revertModal(job), misses: 0 };
  const error = jobError(failure);
  // One before it may have arrived.
  const onExhausted = (tries: number): JobStep =>
    modalOf(unsent.record).sent > 0
      ? onNoAnswer(job, failure, context)
      : settle(unsent, 'failed', afterAll(error, tries), context.now, { tries: 0 });
  const retry = { error, atLeastMs: failure.retryAfterMs, next: firstModalWant(unsent.record) };
  return retryLater(unsent, { status: 'modal', ...retry, onExhausted }, context);
}

function onNoAnswer(job: Job, failure: ServiceFailure, context: JobContext): JobStep {
  const error = inDoubtError(failure, 'The answer to the dialog');
  return pollModal(
    job,
    { ...error, message: `${error.message} ${costsNothing}` },
    job.record.tries + 1,
    context,
  );
}

const costsNothing = 'Running again only looks whether it arrived, which costs nothing.';

/** Nobody knows whether it arrived: the task says so, if it has moved on. */
function pollModal(job: Job, error: JobError, tries: number, context: JobContext): JobStep {
  const record = become(job.record, 'submitting', { error, tries });
  const polling: Job = { ...job, record, misses: 0, pollUntil: context.now + modalLag.ms };
  return restAfter(1, polling, { next: firstModalWant(record) }, context);
}

/** What is said of a modal whose submission was under way when a run ended, and whose task has not moved on. */
export const interruptedModal: JobError = {
  code: 'submit.interrupted-modal',
  message: `The run ended between answering the dialog of this button and hearing what became of that. The task still waits, so the answer may be lost, or the service may not show it yet. ${costsNothing}`,
};

export function modalOf({ key, modal }: JobRecord): NonNullable<JobRecord['modal']> {
  if (modal === undefined) throw new Error(`Internal error: job ${key} has no modal.`);
  return modal;
}
