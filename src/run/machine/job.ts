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
import type { Lease } from '../ports.ts';

/**
 * The reason for reading a task: the buttons of a parent, its progress, fresh links to its files, whether an unanswered confirm of its
 * modal arrived, or whether a task past its deadline still takes a slot although no job waits for it.
 */
export type FetchReason = 'parent' | 'poll' | 'link' | 'modal' | 'overdue';

/** The source of a file to save: a link, or nothing where the result is text, which the record contains. */
export type SaveSource =
  | { readonly url: string; readonly media: 'image' | 'video'; readonly spare?: string }
  | { readonly isText: true };

/** The next request of a job. The scheduler grants it when limits allow, and reports the result. */
export type NextRequest =
  /** A task slot on the service. */
  | { readonly kind: 'task-slot' }
  | { readonly kind: 'fetch'; readonly taskId: string; readonly why: FetchReason }
  /** A read of the seed of the job's finished grid. */
  | { readonly kind: 'seed'; readonly taskId: string }
  /** A check of the job's mask against the image under its button. */
  | { readonly kind: 'mask' }
  /** A search for the job's task in the service's list, by tag: before the job is submitted again, or while it is in doubt. */
  | { readonly kind: 'search' }
  /** A turn on the submit route; the intent is recorded when the turn is granted. */
  | { readonly kind: 'submit' }
  /** A turn on the submit route to confirm the job's modal, before new submissions. */
  | { readonly kind: 'modal' }
  | { readonly kind: 'save'; readonly source: SaveSource; readonly output: number }
  /** Cutting the frames of the saved grid. It needs no request, so no route grants it. */
  | { readonly kind: 'cut' }
  /** A turn on the text route; the intent is recorded when the turn is granted. */
  | { readonly kind: 'ask' }
  | { readonly kind: 'wait'; readonly until: number; readonly next: NextRequest }
  /** Nothing until the result of the request in flight arrives. */
  | { readonly kind: 'answer' }
  /** Nothing: the job is settled. */
  | { readonly kind: 'nothing' };

/** An active job: its record and its next request. Plain data, replaced as a whole. */
export interface Job {
  /** Lease of the job's slice. Absent: a run on one machine. */
  readonly lease?: Lease;
  readonly record: JobRecord;
  readonly nextRequest: NextRequest;
  /** Number of operations from the root of the chain; a finished round of function calls counts as one. */
  readonly depth: number;
  /** Id of the task whose button is pressed. */
  readonly parentTaskId?: string;
  /** Lineage of the next submission; absent: the lineage of the record. */
  readonly lineage?: Lineage;
  /** The button as recently read from the parent's task; never saved (gateway 5.1). */
  readonly fresh?: {
    readonly button: Button;
    readonly readAt: number;
    /** `shown`: read for other clicks. `again`: read again on the click's turn, which it keeps while the reading is fresh. */
    readonly shown?: true;
    readonly again?: true;
  };
  /** True where the gateway shows no buttons and `submit/change` has no equivalent of the requested one. That holds in every cell. */
  readonly buttonless?: true;
  /** The refused press, whose customId may have been `shown` to others. The task is read once more before the refusal counts. */
  readonly refused?: { readonly customId: string; readonly error: JobError; readonly shown?: true };
  /** True where the mask was checked and fits. */
  readonly masked?: true;
  /** Number of possibly accepted submissions when a search last found no task of the job. */
  readonly searched?: number;
  /** Number of failed reads of a task, or failed downloads, in a row. */
  readonly misses: number;
  /** Error message of an earlier run; set where the user retries the job (`--retry-failed`). */
  readonly earlierFailure?: string;
  /** Status in which the job settled with an open modal, which may be gone now: a retry polls it before the confirm. */
  readonly mayBeGone?: 'failed' | 'in-doubt';
  /** Until when a task in MODAL may still have accepted its confirm, Unix ms; absent: not polled yet. */
  readonly pollUntil?: number;
  /** Age of the job's task at its last poll, ms; absent: not polled yet. */
  readonly polledMs?: number;
  /** Deferrals in a row, by route. */
  readonly deferrals?: Readonly<Partial<Record<Route, Deferrals>>>;
  /** Stage of a task that shows no work yet, from its last state or the answer to its submission. */
  readonly queued?: NonNullable<Task['stage']>;
  /** Time at which the task showed the first sign of work, Unix ms. */
  readonly begunAt?: number;
  /** An unknown state of a task that otherwise looks finished, and since when, Unix ms. */
  readonly unknownStatus?: { readonly status: string; readonly since: number };
  /** Number of reads in a row that showed another task, and the time of the first one, Unix ms. */
  readonly showedOther?: { readonly count: number; readonly since: number };
  /** True where the task's record says that it belongs to this job, though others got the same id. */
  readonly owned?: true;
  /** True where the service did not know the task at the last poll. */
  readonly unknown?: boolean;
  /** Since when the service has not known the task, Unix ms. */
  readonly unknownSince?: number;
  /** Set after the task was unknown for a minute. `gone`: a task submitted later is known, so this one's slot is free. */
  readonly lost?: 'held' | 'gone';
  /** True where the job is polled only once: its task outlived its deadline in an earlier run. */
  readonly lastPoll?: true;
}

/** A request for the scheduler to send. Its content is in the job's record. */
export type Send =
  | { readonly kind: 'submit' }
  | { readonly kind: 'modal' }
  /** Local work without a request to the service, as is `cut`. */
  | { readonly kind: 'mask' }
  | { readonly kind: 'fetch'; readonly taskId: string; readonly why: FetchReason }
  | { readonly kind: 'seed'; readonly taskId: string }
  /** Lists all tasks of the service, to find those with the job's tag, and those of the unconfirmed jobs in `beside`. */
  | { readonly kind: 'search'; readonly beside?: readonly JobRecord[] }
  /** Polls several tasks with one request, each for its own job. */
  | { readonly kind: 'list'; readonly targets: readonly PollTarget[] }
  | { readonly kind: 'save'; readonly source: SaveSource; readonly output: number }
  | { readonly kind: 'cut' }
  | { readonly kind: 'ask' };

/** One of several tasks that are polled with one request. */
export interface PollTarget {
  readonly key: string;
  readonly taskId: string;
  readonly lease?: Lease;
}

/** A task as a poll shows it, with the claims on its id in the state, where they were read. */
export type SeenTask = Task & { readonly claims?: TaskClaims };

export type JobEvent =
  | { readonly type: 'granted' }
  | { readonly type: 'elapsed' }
  /** The result of a submission or of a confirm. */
  | { readonly type: 'submitted'; readonly result: ServiceResult<SubmitResult> }
  /** An image or mask of a submission or confirm could not be read: nothing was sent. */
  | { readonly type: 'unread'; readonly error: SaveFailure }
  /** The job had its turn, but the run halted before the intent was durable: nothing was sent. */
  | { readonly type: 'unsent' }
  /** The result of checking a click's mask against its image. */
  | { readonly type: 'masked'; readonly error?: SaveFailure }
  | { readonly type: 'fetched'; readonly why: FetchReason; readonly result: ServiceResult<SeenTask> }
  /** Tasks that the job's submissions may have made, the one to adopt first. */
  | { readonly type: 'searched'; readonly result: ServiceResult<readonly Task[]> }
  | { readonly type: 'seed'; readonly result: ServiceResult<string> }
  | { readonly type: 'saved'; readonly result: SavedResult }
  | { readonly type: 'cut'; readonly result: CutResult }
  | { readonly type: 'asked'; readonly result: CallResult };

/** The result of a save; undefined where the result is text, which needs no file. */
export type SavedResult =
  | { readonly ok: true; readonly value: Artifact | undefined; readonly warning?: string }
  | Extract<SaveResult, { ok: false }>;

/**
 * The result of a text call: its images were read, the service replied, the reply was evaluated and its usable part written; or one of
 * these steps failed.
 */
export type CallResult =
  | { readonly kind: 'answered'; readonly asked: Asked }
  /** The service gave no usable answer. */
  | { readonly kind: 'refused'; readonly error: ServiceFailure }
  /** An image of the call could not be read, or its schema is invalid: the call was not sent. */
  | { readonly kind: 'unread'; readonly error: SaveFailure }
  /** The service replied, but the usable part of the reply could not be written, even after retries. */
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

/** The verdict on a reply. */
export type ReplyVerdict =
  | { readonly kind: 'done' }
  /** The model calls functions that the step answers: these contents are added before the next call. */
  | { readonly kind: 'calls'; readonly turns: readonly Value[] }
  /** Another call may help: invalid JSON, JSON that breaks its schema, or an empty reply. `most`: limit on further calls. */
  | { readonly kind: 'invalid'; readonly error: JobError; readonly most?: number }
  /** The reply was blocked, filtered, truncated or refused. */
  | { readonly kind: 'failed'; readonly error: JobError };

/** Input of the state machine in addition to the job and the event. */
export interface JobContext {
  readonly now: number;
  /** Number of this run. */
  readonly invocation: number;
  /** Since when this run has polled its tasks without a gap, Unix ms: its start, or the last time the machine slept. */
  readonly watchedSince: number;
  readonly random: () => number;
  readonly retry: RetrySettings;
  readonly taskMs: number;
  /** Longest time that a task may stay in the service's queue, ms. */
  readonly queueMs: number;
  /** Whether the service knows a task that was submitted later than this one. */
  readonly hasFoundLater: (record: JobRecord) => boolean;
  /** When a later task of the same kind first ended, Unix ms; undefined where none has. */
  readonly overtakenAt: (record: JobRecord) => number | undefined;
  /** Undefined: the gateway's default. */
  readonly speed: Speed | undefined;
  /** `--in-doubt retry`: a lost submission is tried again instead of being put in doubt. */
  readonly retryInDoubt: boolean;
  /** True where submissions have tags and the gateway may list its tasks. */
  readonly searches: boolean;
  /** Delay before the search for the task of a job put in doubt now (`--in-doubt find`), ms; undefined: no search in this run. */
  readonly unconfirmedSearchInMs: number | undefined;
  /** Price of one submission of this job, where known. */
  readonly price: (record: JobRecord) => number | undefined;
  /** Cost of one reply to a text call, where known. */
  readonly replyPrice: (request: TextRequest, usage: TokenUsage | undefined) => number | undefined;
  /** Estimated tokens of a reply without a token count. */
  readonly assumedUsage: (record: JobRecord) => TokenUsage & { readonly total: number };
  /** The recently shown buttons of a task, if a click may still use them; `readAt` in Unix ms. */
  readonly buttonsOf: (taskId: string) => (Pick<Task, 'buttons'> & { readonly readAt: number }) | undefined;
  /** The record of a job in this directory; undefined where it does not exist or is not loaded. */
  readonly jobOf: (key: string) => JobRecord | undefined;
  /** Whether a key is, or may be, the key of a job in this directory. */
  readonly isJob: (key: string) => boolean;
  /** Other jobs that got the same task id as this one, recently or at the same time. */
  readonly rivals: (record: JobRecord) => readonly JobRecord[];
  /** False where the service was found to tell no seeds. */
  readonly tellsSeeds: boolean;
  /** True where other workers submit tasks too, which only the state shows. */
  readonly hasPeers: boolean;
  /** Whether a submission sent at almost the same time as this job's is still unanswered. */
  readonly mayGetSameId: (record: JobRecord) => boolean;
  /** True where tasks were seen to be shown under the id they were requested by. */
  readonly showsIds: boolean;
  /** The prompt that a click inherits when it sends none; undefined where it is unknown. */
  readonly promptAbove: (record: JobRecord) => string | undefined;
  readonly tally: (route: Route) => Tally;
  /** Longest interval between two polls of a task (`poll.max`), ms; the next field is the delay until the job's next poll. */
  readonly pollMaxMs: number;
  readonly pollInMs: (record: JobRecord, elapsedMs: number, wasPolled?: boolean) => number;
}

/** The result of one event. A changed record must be durable before the request is sent. */
export interface JobStep {
  readonly job: Job;
  readonly send?: Send;
  readonly attempt?: Attempt;
  /** Further history entries, for tasks that were found and not adopted. */
  readonly unused?: readonly Attempt[];
  /** Error of a failed redo, whose job is done as before. */
  readonly redoError?: JobError;
  /** Wording of a final refusal, which may be the same error in every row. */
  readonly refusal?: string;
}

/** Creates a job before its first submission. A text job needs no task slot. */
export function newJob(record: JobRecord, depth: number, parentTaskId: string | undefined): Job {
  return {
    record,
    nextRequest: { kind: isTextRequest(record.request) ? 'ask' : 'task-slot' },
    depth,
    misses: 0,
    ...(parentTaskId === undefined ? {} : { parentTaskId }),
  };
}

/** Returns the job with the lease of the earlier job. */
export const withLease = ({ lease }: { readonly lease?: Lease | undefined }, job: Job): Job =>
  lease === undefined || job.lease !== undefined ? job : { ...job, lease };

/** Returns the name of a lease in records. */
export const leaseName = ({ slice, epoch }: Lease): string => `${slice}/${epoch}`;

/** Whether a job without a task waits before it requests a task slot again. */
export const restsOutside = ({ nextRequest }: Job): boolean =>
  nextRequest.kind === 'wait' && nextRequest.next.kind === 'task-slot';

/** Whether a job waits until its kind of request is served again, or for a verdict on its refusal. */
export const isParked = ({ nextRequest }: Pick<Job, 'nextRequest'>): boolean =>
  nextRequest.kind === 'wait' && nextRequest.until === Number.POSITIVE_INFINITY;

/** Whether a job takes a task slot on the service: from the grant of the slot until its task ends. */
export function takesTaskSlot(job: Job): boolean {
  const { nextRequest, record } = job;
  if (nextRequest.kind === 'task-slot' || restsOutside(job) || isTextRequest(record.request)) return false;
  if (job.lost === 'gone') return false;
  return record.status !== 'saving' && !isSettled(record.status);
}

export type RecordChanges = { readonly [K in keyof JobRecord]?: JobRecord[K] | undefined };

/** Returns the record with a new status and other changes; the value `undefined` removes a field. */
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
  /** Results that show that the route works. */
  readonly served: number;
  /** Results of jobs that the route had not deferred before. */
  readonly firsts: number;
  /** The part of `firsts` that shows that the route works. */
  readonly firstsServed: number;
}

/**
 * Deferrals of a job in a row: results such as 429, a full queue or a failed read, which neither advanced nor ended it. A single one may be
 * caused by the route, whose patience limits it. Where the route serves others in between, the job is the cause and ends.
 */
export interface Deferrals {
  readonly times: number;
  /** Number of deferrals between which the route had served other jobs. */
  readonly own: number;
  /** Time of the first deferral, Unix ms. */
  readonly since: number;
  /** Counts of the route at the first deferral. */
  readonly before: Tally;
  /** `served` of the route at the last deferral. */
  readonly served: number;
}
