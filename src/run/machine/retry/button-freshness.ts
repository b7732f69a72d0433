import type { JobError } from '../../../plan/job.ts';
import type { SubmitResult } from '../../../service/image-service.ts';
import type { ServiceResult } from '../../../service/result.ts';
import { become, type Job, type JobContext, type JobStep } from '../job.ts';
import { rest, settle } from '../transition.ts';
import { afterSeveral, restAfter } from './retry.ts';

/**
 * A button's customId is read from its task before the click, for an outdated one does not work (gateway 5.6), and how soon
 * it is outdated nobody says. A reading ages while its job waits for its turn; one that is too old then is made again, by the
 * job at the front of the line alone: were each to read again as it gets there, all those behind it would be read in vain.
 */

/**
 * How old a reading may be when the click's turn comes, in ms. Well above a round trip of two requests, even a slow one, so that
 * what was just read is used; below the 15 s after which gateways look at their tasks again (gateway 3.5).
 */
export const freshMs = 10_000;

/** True for a click whose button has to be read, again or at all, before it is pressed. By the machine's clock, which may be set back. */
export const needsButtonReading = ({ record, fresh, want }: Job, now: number): boolean =>
  want.kind === 'submit' &&
  record.request.kind === 'click' &&
  (fresh === undefined || Math.abs(now - fresh.readAt) > freshMs);

/** True while the button is being read again, its turn to be pressed having come. */
export const isReadingAgain = ({ record, fresh, want }: Job): boolean =>
  fresh !== undefined &&
  record.status === 'pending' &&
  record.modal === undefined &&
  (want.kind === 'answer' || (want.kind === 'fetch' && want.why === 'parent'));

/** A button that was read again because its turn had come has that turn still, so that it is pressed while the reading is fresh. */
export const hasItsTurn = ({ want, fresh }: Job): boolean => want.kind === 'submit' && fresh?.again === true;

/** Codes of answers that refuse a click for what it names: a wrong parameter, a task that is not there (gateway 3.2). */
const aboutButton: ReadonlySet<number> = new Set([3, 4]);

/**
 * True for the refusal of a click that its customId may be to blame for, or the sight of its task: its task is looked at once
 * more before that is believed, and until then it says nothing about the route either.
 *
 * @param attempts tries of one request (`retry.attempts`)
 */
export function needsRecheck(
  { record, fresh }: Job,
  result: ServiceResult<SubmitResult>,
  attempts: number,
): boolean {
  const isPress = record.request.kind === 'click' && record.modal === undefined && fresh !== undefined;
  return isPress && record.tries + 1 < attempts && mayBeOutdated(result);
}

function mayBeOutdated(result: ServiceResult<SubmitResult>): boolean {
  if (!result.ok) return result.error.class === 'permanent' && result.error.status === 404;
  return result.value.kind === 'refused' && aboutButton.has(result.value.code);
}

/**
 * What gateways say now and then of a task that is finished, and not when they are asked again (gateway 5.6; the Chinese
 * ones: the related task does not exist or is no longer valid, its state is wrong).
 */
const mayPass = (message: string): boolean =>
  /关联任务不存在或已?失效|关联任务状态错误|task_status_not_success/i.test(message);

/**
 * Refused, which says of a click that its customId may be outdated, or its task out of sight for a moment. Each press counts as
 * an attempt, as every answer does that certainly made nothing but was asked for a task.
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
    record: become(record, 'pending', { tries: record.tries + 1, error }),
    refused: { customId: fresh.button.customId, error },
  };
  return rest(rechecking, 0, { kind: 'submit' }, now);
}

/** Its button is to be read again when its turn comes, and not before: it would only age in line. */
const aged = (job: Job): Job =>
  job.fresh === undefined ? job : { ...job, fresh: { ...job.fresh, readAt: Number.NEGATIVE_INFINITY } };

export function refusedForGood(job: Job, error: JobError, now: number): JobStep {
  const said = afterSeveral(error, job.record.tries + 1);
  return settle(job, 'failed', said, now, { tries: 0 });
}

/**
 * The button of a click that was refused was read again. Another customId is pressed, and so is the same one where what was
 * said of it may pass; else it was refused for good.
 */
export function refusedBefore(job: Job, customId: string, context: JobContext): JobStep {
  const { refused, ...fresh } = job;
  if (refused === undefined || refused.customId !== customId) return { job: fresh };
  const { error } = refused;
  if (!mayPass(error.message)) {
    const failed = settle(fresh, 'failed', error, context.now, { tries: 0 });
    return { ...failed, refusal: error.message };
  }
  return restAfter(job.record.tries, aged(fresh), { next: { kind: 'submit' } }, context);
}
