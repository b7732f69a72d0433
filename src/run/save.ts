import type { SaveAnswer } from '../artifacts/writer.ts';
import type { JobError } from '../plan/job.ts';
import type { Answer, Task } from '../service/answer.ts';
import { backoffMs } from './backoff.ts';
import { become, type Job, type JobContext, type JobStep, rest, settle, type Want } from './job.ts';
import { missed } from './submit.ts';

/** What a job in `saving` wants: its image, or first a link to it. */
export function wantImage(job: Job): Want {
  const url = job.record.result?.imageUrl;
  return url === undefined ? wantLink(job) : { kind: 'save', url };
}

/** A fresh link, from a new look at the task (protocol.md, fact 10). */
export function wantLink(job: Job): Want {
  const { taskId } = job.record;
  if (taskId === undefined) throw new Error('Internal error: a job without a task id is being saved.');
  return { kind: 'fetch', taskId, why: 'link' };
}

/** The task was fetched again for a fresh link. */
export function linkRead(job: Job, answer: Answer<Task>, context: JobContext): JobStep {
  if (!answer.ok) return missed(job, answer.error, wantLink(job), context);
  const { imageUrl, state } = answer.value;
  if (state !== 'success' || imageUrl === undefined)
    return failedSave(
      job,
      { code: 'download.no-link', message: 'The service gives no link to the image of this finished task.' },
      wantLink(job),
      0,
      context,
    );
  const { record } = job;
  const result = { buttons: record.result?.buttons ?? [], imageUrl };
  return {
    job: { ...job, record: become(record, 'saving', { result }), want: { kind: 'save', url: imageUrl } },
  };
}

/** The image was brought in, or was not. `done` follows an artifact that is synced under its final name. */
export function imageSaved(job: Job, answer: SaveAnswer, context: JobContext): JobStep {
  const { record } = job;
  if (answer.ok) {
    const done = become(record, 'done', {
      artifacts: [answer.value],
      finishedAt: context.now,
      error: undefined,
    });
    return { job: { ...job, record: done, want: { kind: 'nothing' } } };
  }
  const failure = answer.error;
  const error: JobError = {
    code: failure.code,
    message: failure.message,
    ...(failure.status === undefined ? {} : { httpStatus: failure.status }),
  };
  switch (failure.class) {
    case 'permanent':
      return settle(job, 'failed', error, context.now);
    case 'stop':
    case 'throttle':
      // Neither is the job's fault: it stays in `saving`, and the route's pause or the run's end holds it.
      return { job: { ...job, want: { kind: 'wait', until: context.now, next: wantImage(job) } } };
    case 'fresh-link':
      return failedSave(job, error, wantLink(job), failure.retryAfterMs ?? 0, context);
    case 'retry':
      return failedSave(job, error, wantImage(job), failure.retryAfterMs ?? 0, context);
  }
}

function failedSave(job: Job, error: JobError, then: Want, atLeastMs: number, context: JobContext): JobStep {
  const misses = job.misses + 1;
  if (misses >= context.retry.attempts)
    return settle(
      job,
      'failed',
      { ...error, message: `${error.message} (after ${misses} tries)` },
      context.now,
    );
  const ms = Math.max(atLeastMs, backoffMs(misses, context.retry, context.random));
  return rest({ ...job, misses }, ms, then, context.now);
}
