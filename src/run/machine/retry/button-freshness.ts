import type { JobError } from '../../../plan/job.ts';
import type { SubmitResult } from '../../../service/image-service.ts';
import type { ServiceResult } from '../../../service/result.ts';
import { become, type Job, type JobContext, type JobStep } from '../job.ts';
import { rest, settle } from '../transition.ts';
import { deferralCount } from './deferrals.ts';
import { afterSeveral, restAfter } from './retry.ts';
import { bannedPrompt } from './service-failure.ts';

/**
 * A button's customId is read from its task before the click, because an outdated one does not work (gateway 5.6) and nobody
 * documents its lifetime. A reading ages while its job waits for its turn. Only the job at the front of the queue repeats a
 * reading that is too old: readings for jobs behind it would be outdated again.
 */

/**
 * How old a reading may be when the click's turn comes, in ms. Well above a slow round trip of two requests, so that a new
 * reading is used; below the 15 s after which gateways refresh their tasks (gateway 3.5).
 */
export const freshMs = 10_000;

/** True for a click whose button must be read, again or at all, before the press. Uses the machine's clock, which may be set back. */
export const needsButtonReading = ({ record, fresh, want }: Job, now: number): boolean =>
  want.kind === 'submit' &&
  record.request.press !== undefined &&
  (fresh === undefined || Math.abs(now - fresh.readAt) > freshMs);

/** True while the button is read again because the click's turn has come. */
export const isReadingAgain = ({ record, fresh, want }: Job): boolean =>
  fresh !== undefined &&
  record.status === 'pending' &&
  record.modal === undefined &&
  (want.kind === 'answer' || (want.kind === 'fetch' && want.why === 'parent'));

/** True for a click whose button was read again on its turn: the click keeps that turn, so that the reading is still fresh. */
export const hasItsTurn = ({ want, fresh }: Job): boolean => want.kind === 'submit' && fresh?.again === true;

/**
 * True for a deferred click from the reading on its turn until its press: it rests between the two, and others would take its slot,
 * each time, until its reading is outdated.
 */
export const keepsSlot = (job: Job): boolean => {
  if (deferralCount(job, 'submit') === 0) return false;
  const { want, fresh } = job;
  const rests = want.kind === 'wait' && want.next.kind === 'submit';
  // A reading that is marked as outdated is repeated on a later turn.
  return (
    isReadingAgain(job) ||
    hasItsTurn(job) ||
    (rests && fresh?.again === true && Number.isFinite(fresh.readAt))
  );
};

/** Codes that refuse a click for its parameters: a wrong parameter, a task that does not exist (gateway 3.2). */
const aboutButton: ReadonlySet<number> = new Set([3, 4]);

/**
 * True for a refused click whose customId may be outdated, or whose task may be out of sight for a moment: its task is read once
 * more before the refusal counts for the job or the route. A customId that was not read for this click always is: gateways have
 * many words for an outdated one.
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

/** True for a refusal that certainly made nothing, and that another customId may meet no more: not for its prompt, nor for its size. */
function isRefusal(result: ServiceResult<SubmitResult>): boolean {
  if (result.ok)
    return result.value.kind === 'refused' && result.value.code !== bannedPrompt && !result.value.made;
  const { class: kind, status, message, mayBeDone } = result.error;
  if (kind !== 'permanent' || status === undefined || status === 413 || mayBeDone) return false;
  return !(status === 409 && /exist|duplicate|already|已存在|重复/i.test(message));
}

/**
 * True for refusals that gateways sometimes give for a finished task, and not again on a retry (gateway 5.6; the Chinese
 * ones: the related task does not exist or is no longer valid, its state is wrong).
 */
const mayPass = (message: string): boolean =>
  /关联任务不存在或已?失效|关联任务状态错误|task_status_not_success/i.test(message);

/**
 * Reads the button of a refused click again: its customId may be outdated, or its task out of sight for a moment. Each press
 * counts as an attempt, as every refused submission does; the press of a button that was not read for this click is no try.
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

/** True where the task of a refused click was read again, and shows another button in the place of the refused one. */
export const hasOtherButton = ({ refused }: Job, { fresh }: Job): boolean =>
  refused !== undefined && fresh !== undefined && fresh.button.customId !== refused.customId;

/** Marks the reading as outdated: the button is read again on the click's turn, not before, or it would age in the queue. */
const aged = (job: Job): Job =>
  job.fresh === undefined ? job : { ...job, fresh: { ...job.fresh, readAt: Number.NEGATIVE_INFINITY } };

export function refusedForGood(job: Job, error: JobError, now: number): JobStep {
  const said = afterSeveral(error, job.record.tries + 1);
  return settle(job, 'failed', said, now, { tries: 0 });
}

/**
 * The button of a refused click was read again. Another customId is pressed, and also the same one where it was not read for the
 * refused press, or where the refusal may pass; else the click is refused for good.
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
