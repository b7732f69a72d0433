import type { SaveFailure } from '../../artifacts/writer.ts';
import { findButton } from '../../plan/button-match.ts';
import type { JobError, JobRecord } from '../../plan/job.ts';
import { begunFrom } from '../../plan/resolve/lineage.ts';
import type { SubmitResult, Task } from '../../service/image-service.ts';
import type { ServiceFailure, ServiceResult } from '../../service/result.ts';
import { become, type Job, type JobContext, type JobStep, leaseName, type NextRequest } from './job.ts';
import { firstModalRequest, modalOpened } from './modal.ts';
import { withExisting } from './ownership.ts';
import { buttonError, pressError } from './retry/button-error.ts';
import {
  freshMs,
  needsButtonReading,
  recheckButton,
  refusedBefore,
  refusedForGood,
} from './retry/button-freshness.ts';
import { clearDeferrals, deferralCount } from './retry/deferrals.ts';
import { addUnanswered, closeUnanswered, mayHaveMade } from './retry/in-doubt.ts';
import {
  afterSeveral,
  defer,
  restAfter,
  retryFetch,
  retryLater,
  retryUnread,
  revert,
} from './retry/retry.ts';
import {
  inDoubtError,
  isRunStopping,
  isUnmade,
  jobError,
  queueFull,
  refusalCode,
} from './retry/service-failure.ts';
import { beforeSubmitting, mustSearch } from './search/search.ts';
import { attemptOf, rest, settle } from './transition.ts';

/**
 * Returns the request of a job with a task slot: its turn to submit. A click first checks its mask, if any, then reads the parent's
 * buttons. A job past its deadline polls its task a last time.
 */
export function firstRequest(job: Job): NextRequest {
  const { taskId } = job.record;
  if (job.lastPoll && taskId !== undefined) return { kind: 'fetch', taskId, why: 'poll' };
  if (job.record.modal !== undefined) return firstModalRequest(job.record, job.mayBeGone);
  const { request } = job.record;
  if (request.press === undefined) return { kind: 'submit' };
  if (request.mask !== undefined && !job.masked) return { kind: 'mask' };
  if (job.parentTaskId === undefined)
    throw new Error(`Internal error: click ${job.record.key} has no finished task to press.`);
  return { kind: 'fetch', taskId: job.parentTaskId, why: 'parent' };
}

/** Returns a job with a task slot and its {@link firstRequest}. A click whose button was shown a moment ago need not read it. */
export function withFirstRequest(job: Job, { buttonsOf }: JobContext): Job {
  const nextRequest = firstRequest(job);
  const { request } = job.record;
  if (request.press === undefined || nextRequest.kind !== 'fetch' || nextRequest.why !== 'parent')
    return { ...job, nextRequest };
  const reading = buttonsOf(nextRequest.taskId);
  if (reading === undefined) return { ...job, nextRequest };
  // The gateway's copy of a finished task may be incomplete. So the button is read again where it is missing, is one of several or cannot
  // be pressed, or where only another alternative or pattern fits.
  const [first] = request.press;
  const found = findButton(first === undefined || first.kind === 'pattern' ? [] : [first], reading.buttons);
  if (found.kind !== 'one' || pressError(found.button, request) !== undefined) return { ...job, nextRequest };
  const fresh = { button: found.button, readAt: reading.readAt, shown: true as const };
  return { ...clearDeferrals(job, 'poll'), misses: 0, fresh, nextRequest: { kind: 'submit' } };
}

/**
 * Handles the check of a click's mask against the image under its button. Some gateways charge for a click whose modal is never confirmed,
 * so a click with a mask that does not fit is neither sent nor recorded as sent. The confirm makes the mask once more: a file can change
 * while the modal waits, and a run that continues with an open modal has checked nothing.
 */
export function maskChecked(job: Job, failure: SaveFailure | undefined, context: JobContext): JobStep {
  if (failure !== undefined)
    return isRunStopping(failure)
      ? rest(job, 0, { kind: 'mask' }, context.now)
      : retryUnread(job, failure, { status: 'pending', next: { kind: 'mask' } }, context);
  const masked: Job = { ...job, masked: true };
  return { job: withFirstRequest(masked, context) };
}

/** Handles the read of the parent's task: finds the button to press. */
export function parentRead(job: Job, result: ServiceResult<Task>, context: JobContext): JobStep {
  const { now } = context;
  const { request } = job.record;
  if (request.press === undefined) throw new Error('Internal error: only a click reads its parent.');
  // The job has no task on the service: others may use its slot until it reads the parent again.
  if (!result.ok) return retryFetch(job, result.error, { kind: 'task-slot' }, context);
  const task = result.value;
  if (task.state === 'failure')
    return settle(
      job,
      'failed',
      { code: 'parent.lost', message: `The parent's task ${task.id} is ${task.status} on the service now.` },
      now,
    );
  if (task.state !== 'success') {
    // The parent was finished when this job became ready, so the gateway shows an old copy (gateway 3.5).
    if (job.misses + 1 >= context.retry.attempts)
      return settle(
        job,
        'failed',
        {
          code: 'parent.lost',
          message: `The parent's task ${task.id} is "${task.status}" on the service again.`,
        },
        now,
      );
    return rest({ ...job, misses: job.misses + 1 }, context.pollInMs(job.record, 0), firstRequest(job), now);
  }
  const found = findButton(request.press, task.buttons);
  if (found.kind === 'one') {
    const { button } = found;
    const mistake = pressError(button, request);
    if (mistake !== undefined) return settle(asButtonless(job, task), 'failed', mistake, now);
    const fresh = { button, readAt: now, ...(job.fresh === undefined ? {} : { again: true as const }) };
    const read: Job = { ...job, misses: 0, fresh, nextRequest: { kind: 'submit' } };
    return apartFromReading(refusedBefore(read, button.customId, context), context);
  }
  return settle(asButtonless(job, task), 'failed', buttonError(request.press, found, task), now);
}

const asButtonless = (job: Job, { buttonless }: Task): Job =>
  buttonless === undefined ? job : { ...job, buttonless: true };

/**
 * Delays a deferred click after its reading: where a proxy limits requests of all kinds together, the reading would use up the click's turn
 * every time.
 */
function apartFromReading(step: JobStep, { retry, now }: JobContext): JobStep {
  const { job } = step;
  if (job.nextRequest.kind !== 'submit' || deferralCount(job, 'submit') === 0) return step;
  return { ...step, ...rest(job, Math.min(retry.baseMs, freshMs / 2), job.nextRequest, now) };
}

/**
 * Submits the job on its turn. The intent becomes durable before the request is sent, and counts as an attempt from then on, so that a
 * crash can only overstate the spending.
 */
export function submitNow(job: Job, context: JobContext): JobStep {
  const { now } = context;
  if (mustSearch(job, context)) return { job: { ...job, nextRequest: beforeSubmitting(job, context) } };
  if (needsButtonReading(job, now)) return { job: { ...job, nextRequest: firstRequest(job) } };
  const begun = job.lineage === undefined ? job.record : begunFrom(job.record, job.lineage);
  const record = become(begun, 'submitting', {
    attempts: begun.attempts + 1,
    speed: context.speed,
    submittedAt: now,
    submittedBy: job.lease && leaseName(job.lease),
    pressed: job.fresh?.button,
    // The result will come from the task that is pressed now, whatever the record says.
    parentTaskId: job.parentTaskId ?? begun.parentTaskId,
    taskId: undefined,
    claimed: undefined,
    sender: undefined,
    error: undefined,
    finishedAt: undefined,
  });
  const { again: _, ...fresh } = job.fresh ?? {};
  const { lineage: __, ...known } = job;
  const sent: Job = { ...known, record, nextRequest: { kind: 'answer' } };
  return { job: 'button' in fresh ? { ...sent, fresh } : sent, send: { kind: 'submit' } };
}

/** Handles the result of a submission. */
export function onSubmitResult(job: Job, result: ServiceResult<SubmitResult>, context: JobContext): JobStep {
  const step = result.ok ? onResponse(job, result.value, context) : onNoResponse(job, result.error, context);
  const at = job.record.submittedAt ?? context.now;
  const outcome = result.ok ? result.value.kind : result.error.class;
  const error = result.ok ? undefined : jobError(result.error);
  return { ...step, attempt: attemptOf(step.job.record, at, outcome, error) };
}

function onResponse(job: Job, result: SubmitResult, context: JobContext): JobStep {
  const { now } = context;
  const { record } = job;
  switch (result.kind) {
    case 'accepted': {
      const accepted = become(charged(record, context), 'running', {
        taskId: result.taskId,
        tries: 0,
        putBack: undefined,
      });
      const running = withExisting(accepted, result.code, context);
      const isQueued = result.code === inQueue || (result.waiting ?? 0) > 0;
      return rest(
        { ...job, record: running, misses: 0, ...(isQueued && { queued: 'queued' }) },
        context.pollInMs(running, now - (running.submittedAt ?? now)),
        { kind: 'fetch', taskId: result.taskId, why: 'poll' },
        now,
      );
    }
    case 'modal':
      return modalOpened({ ...job, record: charged(record, context) }, result.taskId, context);
    case 'queue-full':
      return deferSubmit(job, queueFull(result), undefined, context);
    case 'refused': {
      const { message, requestId, made } = result;
      const error: JobError = { code: refusalCode(result.code), message, ...(requestId && { requestId }) };
      if (made) return refusedForGood({ ...job, record: charged(job.record, context) }, error, now);
      return (
        recheckButton(job, { ok: true, value: result }, error, context) ?? refusedForGood(job, error, now)
      );
    }
  }
}

/** The service's code for a submission that waits in its queue (gateway 3.2). */
const inQueue = 22;

/** Returns the record of an accepted job with its price. A modal adds nothing to the cost of its click. */
function charged(accepted: JobRecord, context: JobContext): JobRecord {
  const record = closeUnanswered(accepted);
  const price = context.price(record);
  return price === undefined ? record : become(record, record.status, { cost: (record.cost ?? 0) + price });
}

/** Handles an unreadable input: nothing was sent, so it is not an attempt. Only failures that may pass are retried. */
export function submitUnread(job: Job, failure: SaveFailure, context: JobContext): JobStep {
  return isRunStopping(failure)
    ? submitUnsent(job, context)
    : retryUnread(revert(job), failure, { status: 'pending', next: { kind: 'submit' } }, context);
}

/** Handles a submission without an answer, or without one that confirms a task. Its possible cost counts from now on. */
function onNoResponse(job: Job, failure: ServiceFailure, context: JobContext): JobStep {
  const { record } = job;
  const known = mayHaveMade(failure) ? { ...job, record: addUnanswered(record, context.price(record)) } : job;
  return onFailure(known, failure, context);
}

function onFailure(job: Job, failure: ServiceFailure, context: JobContext): JobStep {
  switch (failure.class) {
    case 'throttle':
      return deferSubmit(job, jobError(failure), failure.retryAfterMs, context);
    case 'unsent':
      return submitUnsent(job, context);
    case 'stop':
      // The run ends. The service did not accept the job, which is then as before its turn, unless a task may exist.
      return failure.mayBeDone
        ? settle(job, 'in-doubt', inDoubtError(failure), context.now)
        : submitUnsent(job, context);
    case 'permanent':
      return (
        recheckButton(job, { ok: false, error: failure }, jobError(failure), context) ??
        refusedForGood(job, jobError(failure), context.now)
      );
    case 'lost':
      return context.retryInDoubt || (failure.likeBadGateway && context.retry.retriesAmbiguous)
        ? retrySubmit(job, failure, context)
        : settle(job, 'in-doubt', inDoubtError(failure), context.now);
    case 'retry': {
      const staysInDoubt = context.retry.ambiguous === 'hold' && !isUnmade(failure);
      return staysInDoubt
        ? settle(job, 'in-doubt', inDoubtError(failure), context.now)
        : retrySubmit(job, failure, context);
    }
  }
}

/** Puts a job that was not sent back into the queue, where the route's pause holds it. Not an attempt. */
export const submitUnsent = (job: Job, { now }: JobContext): JobStep =>
  rest(revert(job), 0, { kind: 'submit' }, now);

/** Defers a submission that was not accepted: the job gives up its slot, queues behind others and forgets the reading of its button. */
function deferSubmit(job: Job, error: JobError, atLeastMs: number | undefined, context: JobContext): JobStep {
  const { fresh: _, ...unread } = revert(job);
  return defer(unread, { route: 'submit', error, atLeastMs, next: { kind: 'task-slot' } }, context);
}

/**
 * Retries an attempt that failed in a way that may pass, behind jobs that were tried less often. After the last try the job fails only
 * where no attempt can have made a task.
 */
function retrySubmit(failed: Job, failure: ServiceFailure, context: JobContext): JobStep {
  const { fresh: _, ...job } = failed;
  const retry = {
    error: jobError(failure),
    atLeastMs: failure.retryAfterMs,
    next: beforeSubmitting(job, context),
  };
  const onExhausted = (tries: number): JobStep => {
    const mayBeMade = mayHaveMade(failure);
    const error = afterSeveral(mayBeMade ? inDoubtError(failure) : retry.error, tries);
    // The task that the last try may have made is searched for before the job is put in doubt.
    const tried: Job = { ...job, record: become(job.record, 'pending', { tries, error }) };
    const searching = restAfter(tries, tried, retry, context);
    return mustSearch(job, context)
      ? searching
      : settle(job, mayBeMade ? 'in-doubt' : 'failed', error, context.now, { tries: 0 });
  };
  return retryLater(job, { status: 'pending', ...retry, onExhausted }, context);
}
