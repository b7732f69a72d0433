import type { SaveFailure } from '../../artifacts/writer.ts';
import { suggestedBy } from '../../plan/button-match.ts';
import type { JobError, JobRecord } from '../../plan/job.ts';
import type { SubmitResult } from '../../service/image-service.ts';
import type { ServiceFailure, ServiceResult } from '../../service/result.ts';
import { become, type Job, type JobContext, type JobStep, leaseName, type NextRequest } from './job.ts';
import { mustAskWhose, sameMomentMs } from './ownership.ts';
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
 * A button that opens a modal: its task waits idle until a confirm of the modal arrives (gateway 4.6). A modal may be confirmed once, so
 * each confirm has a durable intent of its own. Between click and confirm the job has the status `modal`, in which a run may end without
 * anything in doubt. A task that still shows MODAL after a confirm proves nothing (gateway 4.6): only a task that has moved on shows that
 * the confirm arrived. So a run only polls for a confirm that may have arrived, and sends another only if the user allows it, because a
 * second confirm may be paid.
 *
 * - `modal`: to be confirmed. `sent` is the number of confirms that may have arrived; where it is not 0, the user has allowed another
 * - `submitting` with a modal: a confirm was sent and its result is unknown
 */

/** Whether a confirm was sent: MODAL means "not finished" from then on. */
export const isConfirmSent = ({ modal }: JobRecord): boolean => modal !== undefined && modal.sent > 0;

/**
 * Whether the content of a confirm is known: the pipeline has a prompt or a mask, a remix repeats the former prompt, or the button belongs
 * to a describe, which has a prompt.
 */
export const canConfirm = ({ request, pressed }: Pick<JobRecord, 'request' | 'pressed'>): boolean =>
  request.press !== undefined &&
  (request.mask !== undefined ||
    request.fields['remix'] === true ||
    saysPrompt(request.fields['prompt']) ||
    (pressed !== undefined && suggestedBy(pressed) !== undefined));

const saysPrompt = (prompt: unknown): boolean => prompt !== undefined && prompt !== null && prompt !== '';

/** How long a job waits so that its record is durable before its next request, ms. */
const nextTurnMs = 1;

/** Handles a task that waits for its modal: by the response to the click (code 21) or by a poll (gateway 4.6). */
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
  return canConfirm(record) ? rest(open, nextTurnMs, { kind: 'modal' }, now) : failUnanswered(open, now);
}

const failUnanswered = (job: Job, now: number): JobStep =>
  settle(
    job,
    'failed',
    {
      code: 'modal.unanswered',
      message:
        job.record.request.press !== undefined
          ? 'The button opened a dialog that needs further input. Give the answer in the path: `prompt`, and for Vary (Region) `mask` too.'
          : 'The task needs further input, which only a button\u2019s step in a path can give (`prompt`, `mask`).',
    },
    now,
  );

/** Returns the first request of a job with an open modal: its confirm, or a poll that shows whether one arrived. */
export function firstModalRequest(record: JobRecord, mayBeGone?: Job['mayBeGone']): NextRequest {
  const { taskId, sent } = modalOf(record);
  return sent === 0 && mayBeGone === undefined ? { kind: 'modal' } : { kind: 'fetch', taskId, why: 'modal' };
}

/** Sends the confirm of a modal. The first confirm belongs to the click, which is counted; each further one is an attempt. */
export function modalNow(job: Job, context: JobContext): JobStep {
  const { now, speed } = context;
  const { record } = job;
  const modal = modalOf(record);
  if (!canConfirm(record)) return failUnanswered(job, now);
  // The modal of another job is not confirmed. Before the first confirm the service shows whose modal it is.
  if (modal.sent === 0 && mustAskWhose(job, context))
    return { job: { ...job, nextRequest: { kind: 'fetch', taskId: modal.taskId, why: 'poll' } } };
  // An unanswered submission of the same burst may get the same id.
  if (job.owned !== true && record.claimed !== true && context.mayGetSameId(record))
    return rest(job, sameMomentMs, { kind: 'modal' }, now);
  const sent = become(record, 'submitting', {
    modal: { ...modal, sent: modal.sent + 1 },
    attempts: record.attempts + Number(modal.sent > 0),
    speed,
    submittedAt: now,
    submittedBy: job.lease && leaseName(job.lease),
    sender: undefined,
    error: undefined,
  });
  const { pollUntil: _, mayBeGone: _open, polledMs: _polled, queued: _queue, begunAt: _work, ...fresh } = job;
  return {
    job: { ...fresh, record: sent, misses: 0, nextRequest: { kind: 'answer' } },
    send: { kind: 'modal' },
  };
}

/** Handles the result of a confirm. */
export function onModalResult(job: Job, result: ServiceResult<SubmitResult>, context: JobContext): JobStep {
  const step = result.ok ? onResponse(job, result.value, context) : onFailure(job, result.error, context);
  const at = job.record.submittedAt ?? context.now;
  const outcome = `modal.${result.ok ? result.value.kind : result.error.class}`;
  const error = result.ok ? undefined : jobError(result.error);
  return { ...step, attempt: attemptOf(step.job.record, at, outcome, error) };
}

function onResponse(job: Job, result: SubmitResult, context: JobContext): JobStep {
  const { record } = job;
  switch (result.kind) {
    case 'accepted':
    case 'modal': {
      // Code 21 to a confirm: the task exists already (gateway 3.2).
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

/** A second confirm is refused, by code or status, if the first one arrived after all. A third would be refused too. */
const onRefused = (job: Job, error: JobError, context: JobContext): JobStep =>
  modalOf(job.record).sent > 1
    ? pollModal(job, error, context.retry.attempts, context)
    : settle(job, 'failed', error, context.now);

/** Returns the record after a confirm has arrived: the service works on the task. */
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
      return failure.mayBeDone ? onNoResponse(job, failure, context) : modalUnsent(job, context);
    case 'permanent':
      return onRefused(job, jobError(failure), context);
    case 'lost':
      return onNoResponse(job, failure, context);
    case 'retry':
      return isUnmade(failure) ? retryModal(job, failure, context) : onNoResponse(job, failure, context);
  }
}

/** Handles a mask, or an image size for it, that could not be read: nothing was sent. */
export function modalUnread(job: Job, failure: SaveFailure, context: JobContext): JobStep {
  if (isRunStopping(failure)) return modalUnsent(job, context);
  const unsent = revertModal(job);
  return retryUnread(unsent, failure, { status: 'modal', next: firstModalRequest(unsent.record) }, context);
}

/** Queues a confirm again that was not accepted and so counts as not sent. The route's pause holds it back. */
export const modalUnsent = (job: Job, { now }: JobContext): JobStep =>
  rest(revertModal(job), 0, { kind: 'modal' }, now);

/** Defers a confirm like a submission, but keeps its slot, because the task waits on the service. */
function deferModal(job: Job, error: JobError, atLeastMs: number | undefined, context: JobContext): JobStep {
  // An earlier confirm may have arrived.
  const onStarved = (starved: Job, why: JobError): JobStep =>
    modalOf(starved.record).sent > 0
      ? pollModal(starved, why, starved.record.tries, context)
      : settle(starved, 'failed', why, context.now);
  const next: NextRequest = { kind: 'modal' };
  return defer(revertModal(job), { route: 'submit', error, atLeastMs, next, onStarved }, context);
}

function revertModal(job: Job): Job {
  const modal = modalOf(job.record);
  const attempts = job.record.attempts - Number(modal.sent > 1);
  const record = become(job.record, 'modal', { modal: { ...modal, sent: modal.sent - 1 }, attempts });
  return { ...job, record };
}

/** Retries a confirm that certainly had no effect, where the service advises a retry. Only its tries are counted. */
function retryModal(job: Job, failure: ServiceFailure, context: JobContext): JobStep {
  const unsent: Job = { ...revertModal(job), misses: 0 };
  const error = jobError(failure);
  // An earlier confirm may have arrived.
  const onExhausted = (tries: number): JobStep =>
    modalOf(unsent.record).sent > 0
      ? onNoResponse(job, failure, context)
      : settle(unsent, 'failed', afterAll(error, tries), context.now, { tries: 0 });
  const retry = { error, atLeastMs: failure.retryAfterMs, next: firstModalRequest(unsent.record) };
  return retryLater(unsent, { status: 'modal', ...retry, onExhausted }, context);
}

function onNoResponse(job: Job, failure: ServiceFailure, context: JobContext): JobStep {
  const error = inDoubtError(failure, 'The answer to the dialog');
  return pollModal(
    job,
    { ...error, message: `${error.message} ${costsNothing}` },
    job.record.tries + 1,
    context,
  );
}

const costsNothing = 'Running again only checks whether it arrived, which costs nothing.';

/** Polls the task: once it has moved on, the confirm has arrived. */
function pollModal(job: Job, error: JobError, tries: number, context: JobContext): JobStep {
  const record = become(job.record, 'submitting', { error, tries });
  const polling: Job = { ...job, record, misses: 0, pollUntil: context.now + modalLag.ms };
  return restAfter(1, polling, { next: firstModalRequest(record) }, context);
}

/** The error of a modal whose confirm was in flight when a run ended, and whose task has not moved on. */
export const interruptedModal: JobError = {
  code: 'submit.interrupted-modal',
  message: `The run ended between answering the dialog of this button and receiving the result. The task still waits, so the answer may be lost, or the service may not show it yet. ${costsNothing}`,
};

export function modalOf({ key, modal }: JobRecord): NonNullable<JobRecord['modal']> {
  if (modal === undefined) throw new Error(`Internal error: job ${key} has no modal.`);
  return modal;
}
