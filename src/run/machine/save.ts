import type { SaveResult, TextPiece } from '../../artifacts/writer.ts';
import { isMapping, type Value } from '../../pipeline/values/value.ts';
import type { JobError, JobRecord, TaskResult, TextCandidate, TextResult } from '../../plan/job.ts';
import type { Task } from '../../service/image-service.ts';
import type { ServiceResult } from '../../service/result.ts';
import { become, type Job, type JobContext, type JobStep, type SaveSource, type Want } from './job.ts';
import { defer, retryFetch, retrySave } from './retry/retry.ts';
import { fileError } from './retry/service-failure.ts';
import { settle } from './transition.ts';

/**
 * What is kept of a finished task. Prompts only where they can be what was asked for: a describe, or a button of one. What
 * else has a `finalPrompt` is drawn from it (gateway 4.5), and one of several paragraphs looks like a list.
 */
export const resultOf = (
  { buttons, imageUrl, videoUrls, prompts }: Task,
  kind: JobRecord['kind'],
): TaskResult => ({
  buttons,
  ...(imageUrl === undefined ? {} : { imageUrl }),
  ...(videoUrls === undefined ? {} : { videoUrls }),
  ...(prompts === undefined || (kind !== 'describe' && kind !== 'click') ? {} : { prompts }),
});

/** What is to be written of a result, in the order of output numbers; nothing where what was asked for is not there yet. */
function sourcesOf(result: TaskResult, of: Pick<JobRecord, 'kind' | 'pressed'>): readonly SaveSource[] {
  const { imageUrl, videoUrls = [], prompts = [] } = result;
  if (prompts.length > 0)
    return [{ texts: [{ kind: 'text', candidate: 1, text: prompts.join('\n\n'), mime: 'text/plain' }] }];
  if (videoUrls.length > 0) return videoUrls.map((url) => ({ url, media: 'video' }));
  return imageUrl === undefined || isBesideImage(of) ? [] : [{ url: imageUrl, media: 'image' }];
}

/** The image of its task is not what was asked for: the poster of a video, or what a describe was shown. */
const isBesideImage = ({ kind, pressed }: Pick<JobRecord, 'kind' | 'pressed'>): boolean =>
  kind === 'video' || kind === 'describe' || /(?:^|::)(?:animate|video)/i.test(pressed?.customId ?? '');

/** SUCCESS, and nothing of what was asked for: what a gateway copies lags behind the status (gateway 3.5). */
export const lacksResult = (result: TaskResult, record: JobRecord): boolean =>
  sourcesOf(result, record).length === 0;

/** What a job in `saving` wants: the first file that it does not have, or first a link to it. */
export function wantFile({ record }: Pick<Job, 'record'>): Want {
  const at = record.artifacts.length;
  if (record.text !== undefined) return { kind: 'save', source: { texts: textsOf(record.text) }, output: 1 };
  const source = record.result === undefined ? undefined : sourcesOf(record.result, record)[at];
  return source === undefined ? wantLink({ record }) : { kind: 'save', source, output: at + 1 };
}

/** Fresh links, from a new look at the task (gateway 4.7). What is no link does not age. */
export function wantFresh(job: Pick<Job, 'record'>): Want {
  const want = wantFile(job);
  return want.kind === 'save' && 'texts' in want.source ? want : wantLink(job);
}

function wantLink({ record: { taskId } }: Pick<Job, 'record'>): Want {
  if (taskId === undefined) throw new Error('Internal error: a job without a task id is being saved.');
  return { kind: 'fetch', taskId, why: 'link' };
}

/** The task was fetched again for fresh links. */
export function linkRead(job: Job, answer: ServiceResult<Task>, context: JobContext): JobStep {
  if (!answer.ok) return retryFetch(job, answer.error, wantLink(job), context);
  const { record } = job;
  const { buttons } = record.result ?? answer.value;
  const result = { ...resultOf(answer.value, record.kind), buttons };
  if (answer.value.state !== 'success' || sourcesOf(result, record)[record.artifacts.length] === undefined)
    return noLink(job, context);
  if (!record.keep) {
    const done = become(record, 'done', { result, finishedAt: context.now, error: undefined });
    return { job: { ...job, record: done, want: { kind: 'nothing' } } };
  }
  const linked: Job = { ...job, record: become(record, 'saving', { result }) };
  return { job: { ...linked, want: wantFile(linked) } };
}

/** A gateway renews what it knows of a task every 15 s, one behind another too (gateway 3.5): twice that, and as much again. */
const refresh = { everyMs: 15_000, polls: 5 } as const;

/** SUCCESS, and nothing to fetch: what a gateway copies may come later than the status. */
function noLink(job: Job, context: JobContext): JobStep {
  const { record } = job;
  const error: JobError =
    record.kind === 'describe'
      ? {
          code: 'download.no-prompts',
          message: 'The service gives no prompts for this finished task.',
        }
      : {
          code: 'download.no-link',
          message: `The service gives no link to ${record.artifacts.length === 0 ? 'the result' : `file ${record.artifacts.length + 1}`} of this finished task.`,
        };
  const attempts = Math.max(refresh.polls, context.retry.attempts);
  const atLeastMs = Math.max(refresh.everyMs, context.pollMaxMs);
  return retrySave(job, { error, atLeastMs, next: wantLink(job) }, context, attempts);
}

/**
 * A file was brought in, or was not. Each is durable in the record before the next one is fetched; `done` follows the
 * last one, synced under its final name.
 */
export function fileSaved(job: Job, result: SaveResult, context: JobContext): JobStep {
  const { record } = job;
  if (result.ok) {
    const artifacts = [...record.artifacts, result.value, ...(result.more ?? [])];
    const isLast =
      artifacts.length >= (record.result === undefined ? 1 : sourcesOf(record.result, record).length);
    if (!isLast) {
      const next: Job = {
        ...job,
        misses: 0,
        record: become(record, 'saving', { artifacts, error: undefined }),
      };
      return { job: { ...next, want: wantFile(next) } };
    }
    const done = become(record, 'done', { artifacts, finishedAt: context.now, error: undefined });
    return { job: { ...job, record: done, want: { kind: 'nothing' } } };
  }
  const failure = result.error;
  const error = fileError(failure);
  const atLeastMs = failure.retryAfterMs;
  switch (failure.class) {
    case 'permanent':
      return settle(job, 'failed', error, context.now);
    case 'stop':
      // Not the job's fault: it stays in `saving`, and the run's end holds it.
      return { job: { ...job, want: { kind: 'wait', until: context.now, next: wantFile(job) } } };
    case 'throttle':
      // The server of the link wants it later. Where it gives others theirs all the while, that is about this one.
      return defer(job, { route: 'download', error, atLeastMs, next: wantFile(job) }, context);
    case 'fresh-link':
      return retrySave(job, { error, atLeastMs, next: wantFresh(job) }, context);
    case 'retry': {
      // Once is chance. What fails again may be a link to where nobody gets from here, to which the service gives a better
      // one when it is asked again (gateway 4.7).
      const next = job.misses === 0 ? wantFile(job) : wantFresh(job);
      return retrySave(job, { error, atLeastMs, next }, context);
    }
  }
}

/**
 * The files of a finished answer without images, as they would have been written when it came. Its record has all that
 * stands in them.
 */
export const textsOf = ({ candidates }: TextResult): readonly TextPiece[] =>
  candidates.flatMap((candidate, index): readonly TextPiece[] =>
    candidate.text.trim() === ''
      ? []
      : [
          {
            kind: 'text',
            candidate: index + 1,
            text: candidate.text,
            mime: candidate.isJson || onlyCalls(candidate) ? 'application/json' : 'text/plain',
          },
        ],
  );

/** Its text is then that of the calls, which is JSON. */
const onlyCalls = ({ parts }: TextCandidate): boolean =>
  parts.some((part) => isMapping(part) && isMapping(part['functionCall'])) && !parts.some(isSaid);

const isSaid = (part: Value): boolean =>
  isMapping(part) &&
  part['thought'] !== true &&
  typeof part['text'] === 'string' &&
  part['text'].trim() !== '';
