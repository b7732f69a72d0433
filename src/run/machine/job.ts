import type { SaveFailure, SaveResult, TextPiece } from '../../artifacts/writer.ts';
import type { RetrySettings, Speed } from '../../pipeline/pipeline.ts';
import type { Value } from '../../pipeline/values/value.ts';
import type {
  Artifact,
  Attempt,
  Button,
  JobError,
  JobRecord,
  JobStatus,
  TextResult,
  TokenUsage,
} from '../../plan/job.ts';
import { isTextRequest, type TextRequest } from '../../plan/job-request.ts';
import type { Lineage } from '../../plan/resolve/lineage.ts';
import type { SubmitResult, Task } from '../../service/image-service.ts';
import type { ServiceFailure, ServiceResult } from '../../service/result.ts';
import type { Route } from '../events.ts';

/**
 * Why a task is fetched: for the buttons of a parent, for its own progress, for fresh links to its files, or to see whether a
 * modal reached it whose answer did not come.
 */
export type FetchReason = 'parent' | 'poll' | 'link' | 'modal';

/** What is to be written: what a link leads to, or all texts that the job came to. */
export type SaveSource =
  | { readonly url: string; readonly media: 'image' | 'video' }
  | { readonly texts: readonly TextPiece[] };

/** What a job wants next. The scheduler grants it when limits allow, and says what came of it. */
export type Want =
  /** Room for a task on the service. */
  | { readonly kind: 'room' }
  | { readonly kind: 'fetch'; readonly taskId: string; readonly why: FetchReason }
  /** Its mask made for the image under its button, before that is pressed. */
  | { readonly kind: 'mask' }
  /** Its task looked for by its tag among those that the service lists, before it is submitted again. */
  | { readonly kind: 'search' }
  /** A turn on the submit route; the intent is recorded when it is granted, not before. */
  | { readonly kind: 'submit' }
  /** A turn on the submit route, for the answer to its modal: before anything new is begun. */
  | { readonly kind: 'modal' }
  | { readonly kind: 'save'; readonly source: SaveSource; readonly output: number }
  /** A turn on the text route; the intent is recorded when it is granted. */
  | { readonly kind: 'ask' }
  | { readonly kind: 'wait'; readonly until: number; readonly next: Want }
  /** The answer of a request that is under way. */
  | { readonly kind: 'answer' }
  /** Settled. */
  | { readonly kind: 'nothing' };

/** A job that is being worked on: what is durable about it, and what it wants. Plain data, replaced as a whole. */
export interface Job {
  readonly record: JobRecord;
  readonly want: Want;
  /** Operations from the root of its chain; a finished round of function calls counts as one. */
  readonly depth: number;
  /** Task whose button is pressed. */
  readonly parentTaskId?: string;
  /** What it is made from where it is submitted again; absent: what its record says. */
  readonly lineage?: Lineage;
  /** The button as just read from the parent's task; never stored as truth (gateway 5.1). */
  readonly fresh?: {
    readonly button: Button;
    readonly readAt: number;
    /** It was read once more because its turn had come: it goes before others, while it is fresh. */
    readonly again?: true;
  };
  /** The click was refused with this customId, and its task is looked at once more before that is believed. */
  readonly refused?: { readonly customId: string; readonly error: JobError };
  /** Its mask was made, so it fits. */
  readonly masked?: true;
  /** How many of its submissions may have made a task when its task was last searched for and not found. */
  readonly searched?: number;
  /** Failed reads of a task, or failed downloads, in a row. */
  readonly misses: number;
  /** The job failed in an earlier run and is tried again on the user's word (`--retry-failed`). */
  readonly isRetry?: true;
  /**
   * Its modal was open when the job was settled so, and may be gone by now: the user told to try again, and it is looked at
   * before it is answered.
   */
  readonly mayBeGone?: 'failed' | 'in-doubt';
  /** Until when a task that still shows MODAL may have taken its answer all the same, Unix ms; absent: it was not polled yet. */
  readonly pollUntil?: number;
  /** By route, its deferrals in a row. */
  readonly deferrals?: Readonly<Partial<Record<Route, Deferrals>>>;
  /** The last poll found no such task. */
  readonly unknown?: boolean;
  /** A task that outlived its deadline is polled once in every later run. */
  readonly lastPoll?: true;
}

/** A request that the scheduler is to send; what it needs is in the job's record. */
export type Send =
  | { readonly kind: 'submit' }
  | { readonly kind: 'modal' }
  /** Read and made here: nothing is asked of the service. */
  | { readonly kind: 'mask' }
  | { readonly kind: 'fetch'; readonly taskId: string; readonly why: FetchReason }
  /** All tasks that the service lists, for those that carry the job's tag. */
  | { readonly kind: 'search' }
  /** Several tasks are polled with one request, each for its own job. */
  | { readonly kind: 'list'; readonly targets: readonly PollTarget[] }
  | { readonly kind: 'save'; readonly source: SaveSource; readonly output: number }
  | { readonly kind: 'ask' };

/** One of several tasks that are polled with one request. */
export interface PollTarget {
  readonly key: string;
  readonly taskId: string;
}

export type JobEvent =
  | { readonly type: 'granted' }
  | { readonly type: 'elapsed' }
  /** Also of a modal. */
  | { readonly type: 'submitted'; readonly result: ServiceResult<SubmitResult> }
  /** An image or a mask of a submission, or of a modal, could not be read: nothing was sent. */
  | { readonly type: 'unread'; readonly error: SaveFailure }
  /** Its turn had come, and its request never left: the run halts before its intent is durable. */
  | { readonly type: 'unsent' }
  /** The mask of a click was made for its image, or why there is none. */
  | { readonly type: 'masked'; readonly error?: SaveFailure }
  | { readonly type: 'fetched'; readonly why: FetchReason; readonly result: ServiceResult<Task> }
  /** Tasks that can be what became of its submissions, the one to take on first. */
  | { readonly type: 'searched'; readonly result: ServiceResult<readonly Task[]> }
  | { readonly type: 'saved'; readonly result: SaveResult }
  | { readonly type: 'asked'; readonly result: CallResult };

/**
 * What a text call came to once its images were read, it was answered, the answer was judged and what can be used of it
 * was written.
 */
export type CallResult =
  | { readonly kind: 'answered'; readonly asked: Asked }
  /** The service gave no usable answer. */
  | { readonly kind: 'refused'; readonly error: ServiceFailure }
  /** An image that it shows could not be read, or its schema is none: nothing was asked. */
  | { readonly kind: 'unread'; readonly error: SaveFailure }
  /** It was answered, and what can be used of the answer could not be written, though that was tried again where it may pass. */
  | {
      readonly kind: 'unwritten';
      readonly error: SaveFailure;
      readonly text?: TextResult;
      readonly usage?: TokenUsage;
    };

/** An answer of the service, judged. */
export interface Asked {
  readonly verdict: ReplyVerdict;
  readonly text: TextResult;
  readonly usage?: TokenUsage;
  /** Empty unless the verdict is `done`. */
  readonly artifacts: readonly Artifact[];
}

/** What an answer means for its job. */
export type ReplyVerdict =
  | { readonly kind: 'done' }
  /** The model calls functions that the step answers: these contents follow, then it is asked again. */
  | { readonly kind: 'calls'; readonly turns: readonly Value[] }
  /** Asking again may help: JSON that is none, or is not what its schema says; nothing at all. */
  | { readonly kind: 'invalid'; readonly error: JobError }
  /** Blocked, filtered, cut off, refused. */
  | { readonly kind: 'failed'; readonly error: JobError };

/** All that the machine knows beyond the job. */
export interface JobContext {
  readonly now: number;
  /** Number of this run. */
  readonly invocation: number;
  /** Since when this run looks at its tasks without a gap, Unix ms: since it began, or since the machine last slept. */
  readonly watchedSince: number;
  readonly random: () => number;
  readonly retry: RetrySettings;
  readonly taskMs: number;
  readonly speed: Speed;
  /** `--in-doubt retry`: a lost submission is tried again instead of held. */
  readonly retryInDoubt: boolean;
  /** Submissions carry tags, and the gateway is not known to list no tasks. */
  readonly searches: boolean;
  /** Price of one submission of this job, where known. */
  readonly price: (record: JobRecord) => number | undefined;
  /** What one answer of a text call cost, where known. */
  readonly replyPrice: (request: TextRequest, usage: TokenUsage | undefined) => number | undefined;
  /** What an answer is taken to have taken that tells no tokens. */
  readonly assumedUsage: (record: JobRecord) => TokenUsage & { readonly total: number };
  /** What a click is drawn from whose button asks for no prompt; undefined: not known. */
  readonly promptAbove: (record: JobRecord) => string | undefined;
  readonly tally: (route: Route) => Tally;
  /** Milliseconds between two looks at a task at the most (`poll.max`). */
  readonly pollMaxMs: number;
  /** Milliseconds until the next look at its task. */
  readonly pollInMs: (record: JobRecord, elapsedMs: number) => number;
}

/** What one event makes of a job. A changed record must be durable before anything is sent. */
export interface JobStep {
  readonly job: Job;
  readonly send?: Send;
  readonly attempt?: Attempt;
  /** Further entries of its history, about tasks that were found to be its own beside the one that it goes on with. */
  readonly unused?: readonly Attempt[];
  /** Why nothing came of the user's redo: the job is done as it was before. */
  readonly redoError?: JobError;
  /** It was refused for good with these words, which may be the same error in every row. */
  readonly refusal?: string;
}

/** A job before its first submission. What asks for text takes no room for a task. */
export function newJob(record: JobRecord, depth: number, parentTaskId: string | undefined): Job {
  return {
    record,
    want: { kind: isTextRequest(record.request) ? 'ask' : 'room' },
    depth,
    misses: 0,
    ...(parentTaskId === undefined ? {} : { parentTaskId }),
  };
}

/** True while it rests before it wants room again: nothing of it is on the service. */
export const restsOutside = ({ want }: Job): boolean => want.kind === 'wait' && want.next.kind === 'room';

/** True while it takes up room for a task on the service: from the moment it was given room until its task is over. */
export function holdsRoom(job: Job): boolean {
  const { want, record } = job;
  const isOutside = want.kind === 'room' || restsOutside(job);
  return !isOutside && !isTextRequest(record.request) && takesRoom.has(record.status);
}

const takesRoom: ReadonlySet<JobStatus> = new Set(['pending', 'submitting', 'running', 'modal']);

export type RecordChanges = { readonly [K in keyof JobRecord]?: JobRecord[K] | undefined };

/** The job in a new status, with what changes beside it; `undefined` takes a member away. */
export function become(record: JobRecord, status: JobStatus, changes: RecordChanges = {}): JobRecord {
  const next: Record<string, unknown> = { ...record, status };
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) delete next[name];
    else next[name] = value;
  }
  return next as unknown as JobRecord;
}

/** What a route has answered in this run, counted. */
export interface Tally {
  /** Answers that show that it serves. */
  readonly served: number;
  /** Answers to jobs that it had not kept waiting before. */
  readonly firsts: number;
  /** Those of them that show that it serves. */
  readonly firstsServed: number;
}

/**
 * Answers in a row by which a route took a job no further, and did not end it either: put off (429, a full queue), or not told
 * what it asked for. One alone may be about the route, and then its patience bounds it. Where the route goes on serving other
 * jobs in between, it is about this one, which then holds up nobody else and ends.
 */
export interface Deferrals {
  readonly times: number;
  /** Those before which the route had served somebody since the one before. */
  readonly own: number;
  /** Unix ms of the first one. */
  readonly since: number;
  /** Of the first one. */
  readonly before: Tally;
  /** `served` of the last one. */
  readonly served: number;
}
