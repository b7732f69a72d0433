import type { CutResult, SaveFailure, SaveResult } from '../../artifacts/writer.ts';
import type { RetrySettings, Speed } from '../../pipeline/pipeline.ts';
import type { Value } from '../../pipeline/values/value.ts';
import {
  type Artifact,
  type Attempt,
  type Button,
  isSettled,
  type JobError,
  type JobRecord,
  type JobStatus,
  type TokenUsage,
} from '../../plan/job.ts';
import { isTextRequest, type TextRequest, type TextResult } from '../../plan/job-request.ts';
import type { Lineage } from '../../plan/resolve/lineage.ts';
import type { SubmitResult, Task } from '../../service/image-service.ts';
import type { ServiceFailure, ServiceResult } from '../../service/result.ts';
import type { TaskClaims } from '../../state/store.ts';
import type { Route } from '../events.ts';
import type { Hold } from '../ports.ts';

/**
 * Why a task is fetched: for the buttons of a parent, for its own progress, for fresh links to its files, or to see whether an
 * unanswered confirm of its modal arrived; or to see whether a task past its deadline, which no job waits for, still keeps its place.
 */
export type FetchReason = 'parent' | 'poll' | 'link' | 'modal' | 'overdue';

/** The source of a file: a link; none where the result is text, which the record has. */
export type SaveSource =
  | { readonly url: string; readonly media: 'image' | 'video'; readonly spare?: string }
  | { readonly isText: true };

/** What a job wants next. The scheduler grants the want when limits allow, and reports the result. */
export type NextRequest =
  /** Room for a task on the service. */
  | { readonly kind: 'room' }
  | { readonly kind: 'fetch'; readonly taskId: string; readonly why: FetchReason }
  /** A check of its mask against the image under its button. */
  | { readonly kind: 'mask' }
  /** A search for its task, by tag, in the service's list: before the job is submitted again, or while it is in doubt. */
  | { readonly kind: 'search' }
  /** A turn on the submit route; the intent is recorded when it is granted, not before. */
  | { readonly kind: 'submit' }
  /** A turn on the submit route to confirm its modal: goes before new submissions. */
  | { readonly kind: 'modal' }
  | { readonly kind: 'save'; readonly source: SaveSource; readonly output: number }
  /** The frames of its grid, cut from the file that it has. Nothing is requested, so no route grants it. */
  | { readonly kind: 'cut' }
  /** A turn on the text route; the intent is recorded when it is granted. */
  | { readonly kind: 'ask' }
  | { readonly kind: 'wait'; readonly until: number; readonly next: NextRequest }
  /** The result of a request that is under way. */
  | { readonly kind: 'answer' }
  /** Settled. */
  | { readonly kind: 'nothing' };

/** What the polls of one task have shown of its progress: each level, and the ages at which it was seen first and last, ms. */
export type Sightings = readonly (readonly [level: number, firstMs: number, lastMs: number])[];

/** What the polls of a task that is not finished have shown. Plain data, replaced as a whole. */
export interface TaskWatch {
  /** Its age at the last poll, ms. */
  readonly ageMs: number;
  readonly seen: Sightings;
}

/** An active job: its record, and what it wants. Plain data, replaced as a whole. */
export interface Job {
  /** The slice for which it is carried out. Absent: a run on one machine. */
  readonly hold?: Hold;
  readonly record: JobRecord;
  readonly want: NextRequest;
  /** Operations from the root of its chain; a finished round of function calls counts as one. */
  readonly depth: number;
  /** Task whose button is pressed. */
  readonly parentTaskId?: string;
  /** The lineage of the next submission; absent: that of the record. */
  readonly lineage?: Lineage;
  /** The button as lately read from the parent's task; never stored as truth (gateway 5.1). */
  readonly fresh?: {
    readonly button: Button;
    readonly readAt: number;
    /** Shown to others, not read for this click; or read again on its turn: such a click goes before others while that is fresh. */
    readonly shown?: true;
    readonly again?: true;
  };
  /** The gateway shows no buttons, and `submit/change` has nothing like the one that is asked for: it is so in every cell. */
  readonly buttonless?: true;
  /** The click was refused with this customId, which may have been `shown` to others; its task is read once more before the refusal counts. */
  readonly refused?: { readonly customId: string; readonly error: JobError; readonly shown?: true };
  /** The mask was made, so it fits. */
  readonly masked?: true;
  /** How many of its submissions may have made a task when its task was last searched for and not found. */
  readonly searched?: number;
  /** Failed reads of a task, or failed downloads, in a row. */
  readonly misses: number;
  /** The message of its failure in an earlier run: the job is tried again on the user's word (`--retry-failed`). */
  readonly earlierFailure?: string;
  /** The modal was open when the job settled in this status, and may be gone by now: a retry polls it before it is confirmed. */
  readonly mayBeGone?: 'failed' | 'in-doubt';
  /** Until when a task that shows MODAL may still have accepted its confirm, Unix ms; absent: it was not polled yet. */
  readonly pollUntil?: number;
  /** What the polls of its task have shown; absent: it was not polled yet. */
  readonly watch?: TaskWatch;
  /** Deferrals in a row, by route. */
  readonly deferrals?: Readonly<Partial<Record<Route, Deferrals>>>;
  /** Its task has shown no sign of work yet, by its last state or the answer to its submission. */
  readonly queued?: NonNullable<Task['stage']>;
  /** When its task showed the first sign of work, Unix ms. */
  readonly begunAt?: number;
  /** The unknown word for its task's state, beside all signs of an end, and since when it stands there, Unix ms. */
  readonly unknownStatus?: { readonly status: string; readonly since: number };
  /** Looks at its task in a row that showed another one, and when the first of them was, Unix ms. */
  readonly showedOther?: { readonly count: number; readonly since: number };
  /** Its task's record says that the task is its own, though others got the same id. */
  readonly owned?: true;
  /** True where the service did not know the task at the last poll. */
  readonly unknown?: boolean;
  /** Since when the service has not known the task, Unix ms. */
  readonly unknownSince?: number;
  /** It was unknown for a minute; `gone`: and a task that was submitted later is known, so its place is free. */
  readonly lost?: 'held' | 'gone';
  /** A task that outlived its deadline is polled once in every later run. */
  readonly lastPoll?: true;
}

/** A request that the scheduler is to send; the job's record has its content. */
export type Send =
  | { readonly kind: 'submit' }
  | { readonly kind: 'modal' }
  /** This and `cut` are made locally, without a request to the service. */
  | { readonly kind: 'mask' }
  | { readonly kind: 'fetch'; readonly taskId: string; readonly why: FetchReason }
  /** Lists all tasks of the service, to find those with the job's tag, and those of the jobs in doubt `beside` it. */
  | { readonly kind: 'search'; readonly beside?: readonly JobRecord[] }
  /** Several tasks are polled with one request, each for its own job. */
  | { readonly kind: 'list'; readonly targets: readonly PollTarget[] }
  | { readonly kind: 'save'; readonly source: SaveSource; readonly output: number }
  | { readonly kind: 'cut' }
  | { readonly kind: 'ask' };

/** One of several tasks that are polled with one request. */
export interface PollTarget {
  readonly key: string;
  readonly taskId: string;
  readonly hold?: Hold;
}

/** A task as a poll shows it, and what the state knows of its id, where that was asked. */
export type SeenTask = Task & { readonly claims?: TaskClaims };

export type JobEvent =
  | { readonly type: 'granted' }
  | { readonly type: 'elapsed' }
  /** The result of a submission, or of a confirm. */
  | { readonly type: 'submitted'; readonly result: ServiceResult<SubmitResult> }
  /** An image or a mask of a submission, or of a confirm, could not be read: nothing was sent. */
  | { readonly type: 'unread'; readonly error: SaveFailure }
  /** The job had its turn, but its request never left: the run halted before the intent was durable. */
  | { readonly type: 'unsent' }
  /** The mask of a click was made for its image, or why there is none. */
  | { readonly type: 'masked'; readonly error?: SaveFailure }
  | { readonly type: 'fetched'; readonly why: FetchReason; readonly result: ServiceResult<SeenTask> }
  /** Tasks that the job's submissions may have made, the one to adopt first. */
  | { readonly type: 'searched'; readonly result: ServiceResult<readonly Task[]> }
  | { readonly type: 'saved'; readonly result: SavedResult }
  | { readonly type: 'cut'; readonly result: CutResult }
  | { readonly type: 'asked'; readonly result: CallResult };

/** The result of a save; undefined: the result is text, and no file was to be written. */
export type SavedResult =
  | { readonly ok: true; readonly value: Artifact | undefined; readonly warning?: string }
  | Extract<SaveResult, { ok: false }>;

/**
 * The result of a text call: its images were read, the service replied, the reply was evaluated and its usable part written; or one
 * of these steps failed.
 */
export type CallResult =
  | { readonly kind: 'answered'; readonly asked: Asked }
  /** The service gave no usable answer. */
  | { readonly kind: 'refused'; readonly error: ServiceFailure }
  /** An image of the call could not be read, or its schema is wrong: no call was sent. */
  | { readonly kind: 'unread'; readonly error: SaveFailure }
  /** The service replied, and the usable part of the reply could not be written, also after retries. */
  | {
      readonly kind: 'unwritten';
      readonly error: SaveFailure;
      readonly text?: TextResult;
      readonly usage?: TokenUsage;
    };

/** An evaluated reply. */
export interface Asked {
  readonly verdict: ReplyVerdict;
  readonly text: TextResult;
  readonly usage?: TokenUsage;
  /** Empty unless the verdict is `done`. */
  readonly artifacts: readonly Artifact[];
}

/** What a reply means for its job. */
export type ReplyVerdict =
  | { readonly kind: 'done' }
  /** The model calls functions that the step answers: these contents follow, then the next call. */
  | { readonly kind: 'calls'; readonly turns: readonly Value[] }
  /** Another call may help: wrong JSON, JSON that breaks its schema, or an empty reply. `most`: at most so many more. */
  | { readonly kind: 'invalid'; readonly error: JobError; readonly most?: number }
  /** Blocked, filtered, cut off, refused. */
  | { readonly kind: 'failed'; readonly error: JobError };

/** The machine's input beside the job and the event. */
export interface JobContext {
  readonly now: number;
  /** Number of this run. */
  readonly invocation: number;
  /** Since when this run polls its tasks without a gap, Unix ms: since it began, or since the machine last slept. */
  readonly watchedSince: number;
  readonly random: () => number;
  readonly retry: RetrySettings;
  readonly taskMs: number;
  /** How long a task may stand in the queue of the service, ms. */
  readonly queueMs: number;
  /** True where the service knows a task that was submitted later. */
  readonly hasFoundLater: (record: JobRecord) => boolean;
  /** When the first later task of the same kind ended, Unix ms; undefined: none has. */
  readonly overtakenAt: (record: JobRecord) => number | undefined;
  /** Undefined: the gateway's own. */
  readonly speed: Speed | undefined;
  /** `--in-doubt retry`: a lost submission is tried again instead of held. */
  readonly retryInDoubt: boolean;
  /** Submissions carry tags, and the gateway is not known to list no tasks. */
  readonly searches: boolean;
  /** In how many ms the task of a job that is put in doubt now is searched for (`--in-doubt find`); undefined: not in this run. */
  readonly unconfirmedSearchInMs: number | undefined;
  /** Price of one submission of this job, where known. */
  readonly price: (record: JobRecord) => number | undefined;
  /** Cost of one reply to a text call, where known. */
  readonly replyPrice: (request: TextRequest, usage: TokenUsage | undefined) => number | undefined;
  /** Estimated tokens of a reply without a token count. */
  readonly assumedUsage: (record: JobRecord) => TokenUsage & { readonly total: number };
  /** The buttons of a task, where the service showed them so lately (`readAt`, Unix ms) that a click may use them. */
  readonly buttonsOf: (taskId: string) => (Pick<Task, 'buttons'> & { readonly readAt: number }) | undefined;
  /** The record of a job of this directory; undefined: none, or it is not at hand. */
  readonly jobOf: (key: string) => JobRecord | undefined;
  /** True for a key that is known, or may be, as that of a job of this directory. */
  readonly isJob: (key: string) => boolean;
  /** Other jobs that got the same task id as this one, lately or at the same time. */
  readonly rivals: (record: JobRecord) => readonly JobRecord[];
  /** Others submit too whose tasks only the state tells of. */
  readonly hasPeers: boolean;
  /** True while a submission has no answer that left in the same moment as that of this job. */
  readonly mayGetSameId: (record: JobRecord) => boolean;
  /** Records of tasks were seen to have the ids that they were asked for by. */
  readonly showsIds: boolean;
  /** The prompt that a click inherits where it sends none; undefined: not known. */
  readonly promptAbove: (record: JobRecord) => string | undefined;
  readonly tally: (route: Route) => Tally;
  /** Milliseconds between two polls of a task at most (`poll.max`), and until the next poll of the job's task. */
  readonly pollMaxMs: number;
  readonly pollInMs: (record: JobRecord, elapsedMs: number, watch?: TaskWatch) => number;
}

/** The result of one event. A changed record must be durable before anything is sent. */
export interface JobStep {
  readonly job: Job;
  readonly send?: Send;
  readonly attempt?: Attempt;
  /** Further history entries, for found tasks of the job that it does not adopt. */
  readonly unused?: readonly Attempt[];
  /** Why the redo failed: the job is done as before. */
  readonly redoError?: JobError;
  /** The words of a final refusal, which may be the same error in every row. */
  readonly refusal?: string;
}

/** A job before its first submission. A text job needs no room for a task. */
export function newJob(record: JobRecord, depth: number, parentTaskId: string | undefined): Job {
  return {
    record,
    want: { kind: isTextRequest(record.request) ? 'ask' : 'room' },
    depth,
    misses: 0,
    ...(parentTaskId === undefined ? {} : { parentTaskId }),
  };
}

/** The job, carried out for the same slice as before. */
export const heldAs = ({ hold }: { readonly hold?: Hold | undefined }, job: Job): Job =>
  hold === undefined || job.hold !== undefined ? job : { ...job, hold };

/** Names a hold in records. */
export const holdName = ({ slice, epoch }: Hold): string => `${slice}/${epoch}`;

/** True while a job rests before it wants room again, without a task. */
export const restsOutside = ({ want }: Job): boolean => want.kind === 'wait' && want.next.kind === 'room';

/** True while a job waits until its kind of request is served again, or until there is a verdict on its refusal. */
export const isParked = ({ want }: Pick<Job, 'want'>): boolean =>
  want.kind === 'wait' && want.until === Number.POSITIVE_INFINITY;

/** True while a job takes up room for a task on the service: from the grant of room until its task ends. */
export function takesTaskSlot(job: Job): boolean {
  const { want, record } = job;
  if (want.kind === 'room' || restsOutside(job) || isTextRequest(record.request)) return false;
  if (job.lost === 'gone') return false;
  return record.status !== 'saving' && !isSettled(record.status);
}

export type RecordChanges = { readonly [K in keyof JobRecord]?: JobRecord[K] | undefined };

/** The record in a new status, with other changes; `undefined` removes a member. */
export function become(record: JobRecord, status: JobStatus, changes: RecordChanges = {}): JobRecord {
  const next: Record<string, unknown> = { ...record, status };
  for (const name of Object.keys(changes) as (keyof RecordChanges)[]) {
    if (changes[name] === undefined) delete next[name];
    else next[name] = changes[name];
  }
  return next as unknown as JobRecord;
}

/** Counts of a route's results in this run. */
export interface Tally {
  /** Results that show that the route serves. */
  readonly served: number;
  /** Results of jobs that the route had not deferred before. */
  readonly firsts: number;
  /** The part of `firsts` that shows that the route serves. */
  readonly firstsServed: number;
}

/**
 * Deferrals in a row: results that neither advanced a job nor ended it, such as 429, a full queue or a failed read. A single one may be
 * about the route, whose patience bounds it. Where the route serves others in between, the fault is the job's own, which slows none, and ends.
 */
export interface Deferrals {
  readonly times: number;
  /** Deferrals before which the route had served somebody since the previous one. */
  readonly own: number;
  /** Unix ms of the first one. */
  readonly since: number;
  /** Counts of the route at the first one. */
  readonly before: Tally;
  /** `served` of the route at the last one. */
  readonly served: number;
}
