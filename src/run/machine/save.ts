import type { CutResult, SaveFailure } from '../../artifacts/writer.ts';
import { kinds } from '../../pipeline/kinds.ts';
import { isUncut, lacksSeed } from '../../plan/graph/frames.ts';
import type { JobError, JobRecord, TaskResult } from '../../plan/job.ts';
import type { Task } from '../../service/image-service.ts';
import type { ServiceResult } from '../../service/result.ts';
import {
  become,
  type Job,
  type JobContext,
  type JobStep,
  type NextRequest,
  type RecordChanges,
  type SavedResult,
  type SaveSource,
} from './job.ts';
import { countsAsMiss, defer, retryFetch, retrySave } from './retry/retry.ts';
import { fileError } from './retry/service-failure.ts';
import { settle } from './transition.ts';

/**
 * Returns the part of a finished task that is saved. Prompts only where they can be the result: of a kind that makes prompts, or of a
 * button of one. Other tasks are drawn from their `finalPrompt` (gateway 4.5), and one of several paragraphs looks like a list.
 */
export const resultOf = (
  { buttons, imageUrl, imageUrls, frameUrls, videoUrls, spareVideoUrl, prompts }: Task,
  kind: JobRecord['kind'],
): TaskResult => ({
  buttons,
  ...(imageUrl === undefined ? {} : { imageUrl }),
  ...(imageUrls === undefined ? {} : { imageUrls }),
  ...(frameUrls === undefined ? {} : { frameUrls }),
  ...(videoUrls === undefined ? {} : { videoUrls }),
  ...(spareVideoUrl === undefined ? {} : { spareVideoUrl }),
  ...(prompts !== undefined && ['prompts', 'pressed'].includes(kinds[kind].makes) && { prompts }),
});

/** The files to write of a result, by output number; empty until the result is there. */
function sourcesOf(result: TaskResult, of: Pick<JobRecord, 'kind' | 'pressed'>): readonly SaveSource[] {
  const { imageUrl, imageUrls = imageUrl === undefined ? [] : [imageUrl], videoUrls = [] } = result;
  if (isText(result)) return [{ isText: true }];
  const spare = result.spareVideoUrl === undefined ? {} : { spare: result.spareVideoUrl };
  if (videoUrls.length > 0) return videoUrls.map((url) => ({ url, media: 'video', ...spare }));
  return isBesideImage(of) ? [] : imageUrls.map((url) => ({ url, media: 'image' }));
}

/** Whether the image of a task is not its result: the poster of a video, or the input of prompts. */
const isBesideImage = ({ kind, pressed }: Pick<JobRecord, 'kind' | 'pressed'>): boolean =>
  ['videos', 'prompts'].includes(kinds[kind].makes) ||
  /(?:^|::)(?:animate|video)/i.test(pressed?.customId ?? '');

/** Whether a SUCCESS has no result yet: a gateway's copy may be later than the status (gateway 3.5). */
export const lacksResult = (result: TaskResult, record: JobRecord): boolean =>
  sourcesOf(result, record).length === 0;

/** Whether the result is text: the record contains it, and no file is written. */
export const isText = ({ prompts = [] }: TaskResult): boolean => prompts.length > 0;

/** Returns the next request of a job in `saving`: the first missing file, or a link to it; then the frames of a grid. */
export function fileRequest({ record }: Pick<Job, 'record'>): NextRequest {
  const at = record.artifacts.length;
  if (record.text !== undefined) return { kind: 'save', source: { isText: true }, output: 1 };
  const frame = nextFrame(record);
  if (frame !== undefined) return frame;
  if (needsCut(record)) return { kind: 'cut' };
  const source = record.result === undefined ? undefined : sourcesOf(record.result, record)[at];
  const isSaved = record.keep ? at > 0 && source === undefined : source !== undefined;
  if (isSaved && needsSeed(record)) return seedRequest(record);
  return source === undefined ? linkRequest({ record }) : { kind: 'save', source, output: at + 1 };
}

const needsSeed = (record: JobRecord): boolean => record.seed === true && lacksSeed(record);

const seedRequest = ({ taskId = '' }: JobRecord): NextRequest => ({ kind: 'seed', taskId });

/** Ends a job that has all its files, after it has read the seed that its step wants. @param done its record at the end */
export function finished(job: Job, done: JobRecord, context: JobContext): JobStep {
  if (!needsSeed(done)) return { job: { ...job, record: done, nextRequest: { kind: 'nothing' } } };
  const saving: Job = { ...job, misses: 0, record: become(done, 'saving'), nextRequest: seedRequest(done) };
  return context.tellsSeeds ? { job: saving } : withSeed(saving, '', context);
}

/** Ends a job with the seed of its grid; empty: it cannot be read. */
export function withSeed(job: Job, seed: string, { now }: Pick<JobContext, 'now'>): JobStep {
  const { result, finishedAt = now } = job.record;
  const changes = { result: { buttons: [], ...result, seed }, finishedAt, error: undefined };
  return { job: { ...job, record: become(job.record, 'done', changes), nextRequest: { kind: 'nothing' } } };
}

/** Handles the seed of a grid. The grid is paid and saved: a seed that cannot be read does not fail its job, and stays empty. */
export function seedRead(job: Job, answer: ServiceResult<string>, context: JobContext): JobStep {
  if (answer.ok) return withSeed(job, answer.value, context);
  const { error } = answer;
  const isSpent = countsAsMiss(error) && job.misses + 1 >= context.retry.attempts;
  if (isSpent || error.code === 'service.not-offered') return withSeed(job, '', context);
  return retryFetch(job, error, seedRequest(job.record), context, () => withSeed(job, '', context));
}

/** Requests fresh links by reading the task again (gateway 4.7). Texts need no link. */
export function freshRequest(job: Pick<Job, 'record'>): NextRequest {
  const nextRequest = fileRequest(job);
  return nextRequest.kind === 'save' && 'isText' in nextRequest.source ? nextRequest : linkRequest(job);
}

/** Whether the job's grid is to be cut and is not yet. The record has its file by then. */
const needsCut = (record: JobRecord): boolean => record.split === true && isUncut(record);

/** Frames of a grid that the service also offers are downloaded after its file. While its job is redone, the former frames stay. */
function nextFrame({ split, frames, former, artifacts, result }: JobRecord): SaveRequest | undefined {
  if (split !== true || former !== undefined || artifacts.length !== 1 || frames?.error !== undefined)
    return undefined;
  const at = frames?.files.length ?? 0;
  const url = result?.frameUrls?.[at];
  return url === undefined ? undefined : { kind: 'save', source: { url, media: 'image' }, output: at + 2 };
}

type SaveRequest = Extract<NextRequest, { readonly kind: 'save' }>;

/** Continues after a frame was saved or given up: with the next frame, the cut, or the end. */
function frameSettled(job: Job, changes: RecordChanges, context: JobContext): JobStep {
  const { record } = job;
  const next = become(record, 'saving', changes);
  const isOpen = nextFrame(next) !== undefined || needsCut(next);
  if (isOpen) return { job: { ...job, misses: 0, record: next, nextRequest: fileRequest({ record: next }) } };
  const done = become(next, 'done', { finishedAt: record.finishedAt ?? context.now, error: undefined });
  return finished(job, done, context);
}

/**
 * Returns the step, unless it would fail the job for a missing frame: the grid is paid and saved. Then the grid is cut where possible;
 * otherwise the frames so far stay, and the record has the reason.
 */
function orCut(job: Job, step: JobStep, context: JobContext): JobStep {
  const { record } = job;
  const frame = nextFrame(record);
  const { status, error: why } = step.job.record;
  if (frame === undefined || why === undefined || (status !== 'failed' && status !== 'in-doubt')) return step;
  const { frameUrls: _, ...result } = record.result ?? { buttons: [] };
  const isCut = needsCut({ ...become(record, 'saving', { frames: undefined }), result });
  const instead = isCut ? ' The grid was cut instead.' : '';
  const error = {
    ...why,
    message: `Frame ${frame.output - 1} of the service could not be downloaded: ${why.message}${instead}`,
  };
  if (isCut) return frameSettled(job, { frames: undefined, result, error }, context);
  return frameSettled(job, { frames: { files: record.frames?.files ?? [], error } }, context);
}

function linkRequest({ record: { taskId } }: Pick<Job, 'record'>): NextRequest {
  if (taskId === undefined) throw new Error('Internal error: a job without a task id is being saved.');
  return { kind: 'fetch', taskId, why: 'link' };
}

/** Handles a task that was read again for fresh links. */
export const linkRead = (job: Job, answer: ServiceResult<Task>, context: JobContext): JobStep =>
  orCut(job, fileLinked(job, answer, context), context);

function fileLinked(job: Job, answer: ServiceResult<Task>, context: JobContext): JobStep {
  if (!answer.ok) return retryFetch(job, answer.error, linkRequest(job), context);
  const { record } = job;
  const { buttons, seed } = { ...answer.value, seed: undefined, ...record.result };
  const result = { ...resultOf(answer.value, record.kind), buttons, ...(seed !== undefined && { seed }) };
  const link =
    nextFrame(record) === undefined
      ? sourcesOf(result, record)[record.artifacts.length]
      : nextFrame({ ...record, result });
  if (answer.value.state !== 'success' || link === undefined) return noLink(job, context);
  if (!record.keep) {
    return finished(
      job,
      become(record, 'done', { result, finishedAt: context.now, error: undefined }),
      context,
    );
  }
  const linked: Job = { ...job, record: become(record, 'saving', { result }) };
  return { job: { ...linked, nextRequest: fileRequest(linked) } };
}

/** Polls for a missing link: a gateway refreshes its copy of a task every 15 s, and so may one behind it (gateway 3.5). */
const refresh = { everyMs: 15_000, polls: 5 } as const;

/** Handles SUCCESS without a link: a gateway's copy may be later than the status. */
function noLink(job: Job, context: JobContext): JobStep {
  const { record } = job;
  const error: JobError =
    kinds[record.kind].makes === 'prompts'
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
  return retrySave(job, { error, atLeastMs, next: linkRequest(job) }, context, attempts);
}

/**
 * Handles a file that was saved or not. Each file is durable in the record before the next one is fetched; `done` follows the last one,
 * synced under its final name.
 */
export function fileSaved(job: Job, result: SavedResult, context: JobContext): JobStep {
  const { record } = job;
  if (!result.ok) return orCut(job, fileUnsaved(job, result.error, context), context);
  const { value } = result;
  if (nextFrame(record) !== undefined && value !== undefined) {
    const files = [...(record.frames?.files ?? []), value];
    return frameSettled(job, { frames: { files }, error: undefined }, context);
  }
  const artifacts = value === undefined ? record.artifacts : [...record.artifacts, value];
  const isLast =
    value === undefined ||
    artifacts.length >= (record.result === undefined ? 1 : sourcesOf(record.result, record).length);
  if (!isLast) {
    const next: Job = {
      ...job,
      misses: 0,
      record: become(record, 'saving', { artifacts, error: undefined }),
    };
    return { job: { ...next, nextRequest: fileRequest(next) } };
  }
  // Frames of an earlier file do not belong to this one.
  const changes = { artifacts, frames: undefined, finishedAt: context.now, error: undefined };
  const done = become(record, 'done', changes);
  const saving = become(done, 'saving');
  if (!needsCut(done) && nextFrame(done) === undefined) return finished(job, done, context);
  return { job: { ...job, misses: 0, record: saving, nextRequest: fileRequest({ record: saving }) } };
}

function fileUnsaved(job: Job, failure: SaveFailure, context: JobContext): JobStep {
  const error = fileError(failure);
  const atLeastMs = failure.retryAfterMs;
  switch (failure.class) {
    case 'permanent':
      return settle(job, 'failed', error, context.now);
    case 'stop':
      // The job is not the cause: it stays in `saving` until the run ends.
      return { job: { ...job, nextRequest: { kind: 'wait', until: context.now, next: fileRequest(job) } } };
    case 'throttle':
      // The server of the link throttles. Where it serves other links meanwhile, this link is the cause.
      return defer(job, { route: 'download', error, atLeastMs, next: fileRequest(job) }, context);
    case 'fresh-link':
      return retrySave(job, { error, atLeastMs, next: freshRequest(job) }, context);
    case 'retry': {
      // One failure may be chance. After a second one the link may be unreachable from here, and the service may give a better one
      // (gateway 4.7).
      const next = job.misses === 0 ? fileRequest(job) : freshRequest(job);
      return retrySave(job, { error, atLeastMs, next }, context);
    }
  }
}

/**
 * Handles a grid that was cut or cannot be. Its job is done: the grid is paid and saved, and the record says why it has no frames. A disk
 * failure ends the run, and the next one cuts the grid.
 */
export function gridCut(job: Job, result: CutResult, context: JobContext): JobStep {
  const { record } = job;
  const { now } = context;
  if (!result.ok && result.error.class !== 'permanent')
    return { job: { ...job, nextRequest: { kind: 'wait', until: now, next: { kind: 'cut' } } } };
  const { finishedAt = now, error } = record;
  const frames = result.ok
    ? { files: result.value, ...(error && { error }) }
    : { files: [], error: fileError(result.error) };
  return finished(job, become(record, 'done', { frames, finishedAt, error: undefined }), context);
}
