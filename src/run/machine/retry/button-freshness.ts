import type { JobError } from '../../../plan/job.ts';
import type { SubmitResult } from '../../../service/image-service.ts';
import type { ServiceResult } from '../../../service/result.ts';
import { become, type Job, type JobContext, type JobStep } from '../job.ts';
import { rest, settle } from '../transition.ts';
import { deferralCount } from './deferrals.ts';
import { afterSeveral, restAfter } from './retry.ts';
import { bannedPrompt } from './service-failure.ts';

/**
 * Decides when the button of a click is read. Its customId is read from the task before the click, because an outdated one does not work
 * (gateway 5.6) and its lifetime is undocumented. A reading ages while its job waits for its turn. Only the job at the front of the queue
 * repeats a reading that is too old: those of the jobs behind it would be outdated again.
 */

/**
 * Largest age of a reading when the click's turn comes, ms. Well above a slow round trip of two requests, so that a new reading is used;
 * below the 15 s after which gateways refresh their tasks (gateway 3.5).
 */
export const freshMs = 10_000;

/** Whether a click's button must be read (again) before the press. Uses the machine's clock, which may be set back. */
export const needsButtonReading = ({ record, fresh, nextRequest }: Job, now: number): boolean =>
  nextRequest.kind === 'submit' &&
  record.request.press !== undefined &&
  (fresh === undefined || Math.abs(now - fresh.readAt) > freshMs);

/** Whether the button is being read again because the click's turn has come. */
export const isReadingAgain = ({ record, fresh, nextRequest }: Job): boolean =>
  fresh !== undefined &&
  record.status === 'pending' &&
  record.modal === undefined &&
  (nextRequest.kind === 'answer' || (nextRequest.kind === 'fetch' && nextRequest.why === 'parent'));

/** Whether the button was read again on the click's turn. The click keeps that turn, so that the reading is still fresh. */
export const hasItsTurn = ({ nextRequest, fresh }: Job): boolean =>
  nextRequest.kind === 'submit' && fresh?.again === true;

/**
 * Whether a deferred click keeps its slot, from the reading on its turn until its press: it waits between the two, and others would take
 * its slot each time until its reading is outdated.
 */
export const keepsSlot = (job: Job): boolean => {
  if (deferralCount(job, 'submit') === 0) return false;
  const { nextRequest, fresh } = job;
  const rests = nextRequest.kind === 'wait' && nextRequest.next.kind === 'submit';
  // A reading marked as outdated is repeated on a later turn.
  return (
    isReadingAgain(job) ||
    hasItsTurn(job) ||
    (rests && fresh?.again === true && Number.isFinite(fresh.readAt))
  );
};

/** Codes that refuse a click for its parameters: a wrong parameter, a task that does not exist (gateway 3.2). */
const aboutButton: ReadonlySet<number> = new Set([3, 4]);

/**
 * Whether the task of a refused click is read once more before the refusal counts for the job or the route: the customId may be outdated,
 * or the task hidden for a moment. A customId that was not read for this click is always read again: gateways have many wordings for an
 * outdated one.
 *
 * @param attempts tries of one request (`retry.attempts`)
 */
export function needsRecheck(
  { record, fresh }: Job,
  result: ServiceResult<SubmitResult>,
  attempts: number,
): boolean {
  const isPress = record.request.press !== undefined && record.modal === undefined && fresh !== undefined;
  if (!isPress) return false;
  return fresh.shown === true ? isRefusal(result) : record.tries + 1 < attempts && mayBeOutdated(result);
}

function mayBeOutdated(result: ServiceResult<SubmitResult>): boolean {
  if (!result.ok) {
    const { class: kind, status, message } = result.error;
    return kind === 'permanent' && (status === 404 || /custom_?id/i.test(message));
  }
  return result.value.kind === 'refused' && aboutButton.has(result.value.code);
}

/** Whether a refusal certainly created nothing and another customId may avoid it: not one for the prompt or for the size. */
function isRefusal(result: ServiceResult<SubmitResult>): boolean {
  if (result.ok)
    return result.value.kind === 'refused' && result.value.code !== bannedPrompt && !result.value.made;
  const { class: kind, status, message, mayBeDone } = result.error;
  if (kind !== 'permanent' || status === undefined || status === 413 || mayBeDone) return false;
  return !(status === 409 && /exist|duplicate|already|已存在|重复/i.test(message));
}

/**
 * Whether gateways sometimes give this refusal for a finished task, and not again on a retry (gateway 5.6; the Chinese ones: the related
 * task does not exist or is no longer valid, its state is wrong).
 */
const mayPass = (message: string): boolean =>
  /关联任务不存在或已?失效|关联任务状态错误|task_status_not_success/i.test(message);

/**
 * Reads the button of a refused click again: its customId may be outdated, or its task hidden for a moment. Each press counts as an
 * attempt, like every refused submission; the press of a button that was not read for this click does not count as a try.
 */
export function recheckButton(
  job: Job,
  result: ServiceResult<SubmitResult>,
  error: JobError,
  { retry, now }: JobContext,
): JobStep | undefined {
  const { record, fresh } = job;
  if (fresh === undefined || !needsRecheck(job, result, retry.attempts)) return undefined;
  const rechecking: Job = {
    ...aged(job),
    record: become(record, 'pending', { tries: record.tries + (fresh.shown === true ? 0 : 1), error }),
    refused: { customId: fresh.button.customId, error, ...(fresh.shown && { shown: true }) },
  };
  return rest(rechecking, 0, { kind: 'submit' }, now);
}

/** Whether the task of a refused click, read again, shows another button in place of the refused one. */
export const hasOtherButton = ({ refused }: Job, { fresh }: Job): boolean =>
  refused !== undefined && fresh !== undefined && fresh.button.customId !== refused.customId;

/** Marks the reading as outdated: the button is read again on the click's turn. An earlier reading would age in the queue. */
const aged = (job: Job): Job =>
  job.fresh === undefined ? job : { ...job, fresh: { ...job.fresh, readAt: Number.NEGATIVE_INFINITY } };

export function refusedForGood(job: Job, error: JobError, now: number): JobStep {
  const said = afterSeveral(error, job.record.tries + 1);
  return settle(job, 'failed', said, now, { tries: 0 });
}

/**
 * Handles the new reading of a refused click's button. Presses another customId, or the same one where it was not read for the refused
 * press or where the refusal may pass; otherwise the refusal is final.
 */
export function refusedBefore(job: Job, customId: string, context: JobContext): JobStep {
  const { refused, ...fresh } = job;
  if (refused === undefined || refused.shown || refused.customId !== customId) return { job: fresh };
  const { error } = refused;
  if (!mayPass(error.message)) {
    const failed = settle(fresh, 'failed', error, context.now, { tries: 0 });
    return { ...failed, refusal: error.message };
  }
  return restAfter(job.record.tries, aged(fresh), { next: { kind: 'submit' } }, context);
}
