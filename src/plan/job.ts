import type { JobErrorCode } from '../pipeline/diagnostics/job-errors.ts';
import type { TokenCount } from '../pipeline/kinds.ts';
import type { Speed, StepKind } from '../pipeline/pipeline.ts';
import type { Value } from '../pipeline/values/value.ts';
import type { JobRequest, ReplyPlace, TextCall, TextResult } from './job-request.ts';

/** A button of a finished task (gateway 5.1); missing texts are empty. */
export interface Button {
  readonly customId: string;
  readonly label: string;
  readonly emoji: string;
}

/** The unit of work, payment and resumption that a slot asks for. Equal requests have equal keys. */
export interface JobSpec {
  readonly key: string;
  readonly kind: StepKind;
  readonly request: JobRequest;
  /** Key of the job whose button is pressed, or from which this job starts. */
  readonly parent?: string;
  /**
   * Keys of the gathered jobs, in place of a parent, one for each slot that was not skipped, in the manifest's order. Never empty; slots
   * that share a job repeat its key. A single gathered job is the parent instead: such a job equals one that continues it.
   */
  readonly inputs?: readonly string[];
  /** Paths, relative to the pipeline, of the files that the request names by content (SHA-256). Not part of the key. */
  readonly files?: Readonly<Record<string, string>>;
  /** How a text call is made, which is not part of the key either; only for text jobs. */
  readonly call?: TextCall;
  /** Keys of the jobs whose results its templates read. The results are in the request, and so in the key. */
  readonly reads?: readonly string[];
}

/** Returns the keys of the jobs that a job starts from or gathers, in order; empty for a root. */
export const inputsOf = ({ parent, inputs }: Pick<JobSpec, 'parent' | 'inputs'>): readonly string[] =>
  inputs ?? (parent === undefined ? none : [parent]);

const none: readonly string[] = [];

/** Returns the keys of all jobs that must be done before a job may start, its inputs first; keys may repeat. */
export function needsOf(job: Pick<JobSpec, 'parent' | 'inputs' | 'request'>): readonly string[] {
  const { images = [], continues } = job.request;
  if (images.length === 0 && continues === undefined) return inputsOf(job);
  const shown = images.flatMap((image) => ('job' in image ? [image.job] : []));
  return [...inputsOf(job), ...shown, ...(continues === undefined ? [] : [continues])];
}

/** The statuses of a job, in order of progress. `skipped` and `blocked` are statuses of slots, never of jobs. */
export const jobStatuses = [
  'pending',
  'submitting',
  'running',
  'modal',
  'saving',
  'done',
  'failed',
  'in-doubt',
] as const;

export type JobStatus = (typeof jobStatuses)[number];

/** Statuses in which a job does not change again unless the user asks for it. */
export const settledStatuses = ['done', 'failed', 'in-doubt'] as const satisfies readonly JobStatus[];

export const isSettled = (status: JobStatus): boolean =>
  (settledStatuses as readonly JobStatus[]).includes(status);

/** Error code of a job in doubt that the user has given up (`promptpress resolve --drop`). */
export const droppedCode = 'job.dropped';

/** The reason why a job failed, or is in doubt. */
export interface JobError {
  readonly code: JobErrorCode;
  readonly message: string;
  /** The bare request id, if the service gave one. */
  readonly requestId?: string;
  readonly httpStatus?: number;
}

/** A file that a job produced. Texts are in the record itself. */
export interface Artifact {
  /** Number of the output within the job, from 1. */
  readonly output: number;
  /** Path relative to the run directory, with `/`. */
  readonly file: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly mime: string;
  readonly width?: number;
  readonly height?: number;
  /** For a text job, the number of the candidate, from 1. */
  readonly candidate?: number;
}

/** The frames of a cut grid (`grid: split`). */
export interface CutFrames {
  /** Frames in the order U1 to U4; empty if the file could not be cut, fewer if the service gave only some of its own frames. */
  readonly files: readonly Artifact[];
  /** Why the file could not be cut, or why some frames are not those of the service. */
  readonly error?: JobError;
}

/** Returns the files of a job in the order of their outputs: after a grid its frames. */
export const artifactsOf = ({
  artifacts,
  frames,
}: Pick<JobRecord, 'artifacts' | 'frames'>): readonly Artifact[] =>
  frames === undefined ? artifacts : [...artifacts, ...frames.files];

/**
 * Token counts of the service (gateway 6.5). A missing count is unknown, not 0. `prompt` includes `cached`; `other` is the rest of the
 * total. See `usage.ts` for sums.
 */
export type TokenUsage = Readonly<Partial<Record<TokenCount, number>>>;

/** The service's data about a finished task. */
export interface TaskResult {
  readonly imageUrl?: string;
  /** For several separate images: one link each, in order; downloaded instead of `imageUrl`. */
  readonly imageUrls?: readonly string[];
  /** For a grid whose frames the service offers too: one link each, in order; downloaded instead of cutting the grid. */
  readonly frameUrls?: readonly string[];
  readonly buttons: readonly Button[];
  /** For a video: one link each, in order; downloaded instead of `imageUrl`. */
  readonly videoUrls?: readonly string[];
  /** Another link to one of the videos, for when one in `videoUrls` is refused. */
  readonly spareVideoUrl?: string;
  /** For a describe: its prompts, in order, without their numbers (gateway 4.5). */
  readonly prompts?: readonly string[];
  /** For a grid whose step has `seed: true`: the seed as the service told it; empty: it could not be read. Absent: not asked for. */
  readonly seed?: string;
}

/** The result of a finished job before it was redone; its files stay in `artifacts`. */
export type FormerResult = Pick<
  JobRecord,
  | 'taskId'
  | 'parentTaskId'
  | 'from'
  | 'kept'
  | 'modal'
  | 'pressed'
  | 'speed'
  | 'resubmits'
  | 'submittedAt'
  | 'finishedAt'
  | 'result'
  | 'text'
  | 'turns'
  | 'rounds'
  | 'invalid'
  | 'reusedFrom'
>;

/** The slot that first asked for a job: for messages, for logs, and to distinguish a changed slot from a new one. */
export interface JobOrigin {
  readonly cell: number;
  readonly step: string;
  /** Branch segments joined by `/`; empty for a step's own operation. */
  readonly branch: string;
  /** Hash of step, branch, variables and repeat: the slot's identity, independent of its request. */
  readonly slot: string;
}

/** Submissions of a job without a clear response: they may have been paid, and may have made a task. */
export interface UnconfirmedSubmits {
  /** Their number over the job's life, included in its `attempts`; never 0. */
  readonly count: number;
  /** Their possible cost, in addition to the job's `cost`. Absent: unknown (no price is given), which is not 0. */
  readonly cost?: number;
  /** Estimated tokens of the text calls among them, in addition to the job's `usage`. Absent if there are no text calls. */
  readonly tokens?: number;
  /**
   * When the first of them was sent (Unix ms), if the job has no task and one of them may have made it. Absent after a task was adopted,
   * or the user decided to submit the job again.
   */
  readonly since?: number;
}

/** Assumed tokens of replies without a usable count: budgets include them, and no column shows them. */
export interface AssumedTokens {
  /** Number of such replies over the job's life; never 0. */
  readonly answers: number;
  /** Their tokens, as estimated before the calls. */
  readonly tokens: number;
  /** Cost of these tokens, if the price is by tokens. */
  readonly cost?: number;
}

/** The state of a job in doubt before the user named its task (`promptpress resolve --task`), restored if there is no such task. */
export type NamedTask = Pick<JobRecord, 'taskId' | 'error' | 'cost' | 'doubtful'>;

/** The durable state of a job, replaced as a whole at each step; times are Unix milliseconds. */
export interface JobRecord {
  readonly key: string;
  readonly kind: StepKind;
  readonly status: JobStatus;
  readonly request: JobRequest;
  readonly parent?: string;
  /** As in its {@link JobSpec}. */
  readonly inputs?: readonly string[];
  readonly origin: JobOrigin;
  /** Whether some slot wants its artifacts. */
  readonly keep: boolean;
  /** Number of submissions that may have cost money. */
  readonly attempts: number;
  /** HTTP attempts of the current submission, so that a restart continues the backoff instead of starting over. */
  readonly tries: number;
  /** Number of new submissions after failed tasks. */
  readonly resubmits: number;
  readonly speed?: Speed;
  /** The button that was found and pressed. */
  readonly pressed?: Button;
  /**
   * The modal that the button opened. `taskId` waits for the modal; `sent` counts the confirmations that may have arrived, so that an
   * answered modal is never confirmed again (gateway 4.6). The record's own `taskId` is the task that is polled.
   */
  readonly modal?: { readonly taskId: string; readonly sent: number; readonly accepted?: true };
  readonly taskId?: string;
  readonly submittedAt?: number;
  /** Slice and epoch of its last submission, `slice/epoch`; unique only with `submittedAt`. Absent if the run has one machine. */
  readonly submittedBy?: string;
  readonly finishedAt?: number;
  /** Number of the run that settled it: that run does not resume it by itself. */
  readonly invocation?: number;
  readonly result?: TaskResult;
  readonly artifacts: readonly Artifact[];
  /** Set if some slot wants the frames of its grid. */
  readonly split?: true;
  /** Set if some slot wants the seed of its grid. */
  readonly seed?: true;
  /** Frames of its grid, in addition to `artifacts`. Absent: not cut, or not yet. They are removed with the grid's file. */
  readonly frames?: CutFrames;
  /**
   * The result before a redo (`--redo`), until there is a new one. If the redo fails, the job is done again with this result. While it is
   * present, `artifacts` belong to it.
   */
  readonly former?: FormerResult;
  /** How often its result was replaced by a new one, and its first task. Absent: never. */
  readonly redone?: { readonly count: number; readonly first: Pick<JobRecord, 'taskId' | 'submittedAt'> };
  /** The finished task of the parent when this job was begun: the task that is pressed, shown or continued. */
  readonly parentTaskId?: string;
  /**
   * How often each job that this job started from had been redone by then, by key. A job that the request needs (`needsOf`) is listed
   * only if it had been redone; a job that its templates read is always listed.
   */
  readonly from?: Readonly<Record<string, number>>;
  /** Like `from`, for results from which the job should have been redone; the redo failed, and the job stays as it is. */
  readonly kept?: Readonly<Record<string, number>>;
  readonly error?: JobError;
  /**
   * Set if the job was refused like every job of its kind, without payment: a later run tries it after jobs that were never tried. The
   * reason is in `error`.
   */
  readonly putBack?: true;
  /** Cost of the job. Absent: unknown (no price is given), which is not 0. */
  readonly cost?: number;
  /** Submissions without a clear response, if any. */
  readonly doubtful?: UnconfirmedSubmits;
  /** Possible cost of its request in flight, which may have been paid if the run is killed. Absent: nothing is known. */
  readonly reserve?: Pick<UnconfirmedSubmits, 'cost' | 'tokens'>;
  /** Session of a worker that may still send the last submission after losing its slice: until it ends, nobody submits the job again. */
  readonly sender?: string;
  /**
   * For a text call on several machines: its calls (`submittedAt/submittedBy`) that were taken over without an answer since the last
   * answer. A late answer to one of them counts. Absent if there are none.
   */
  readonly unheard?: readonly string[];
  /** Set if the user named its `taskId`, and the service has not shown that task yet. */
  readonly named?: NamedTask;
  /** Set if the user named its task, or the service did for an equal request (code 21): the owner of the task is not checked. */
  readonly claimed?: true;
  /** Finished jobs with the same task id, if it is unknown to which job the task belongs: their results may be this job's. */
  readonly shared?: { readonly taskId: string; readonly jobs: readonly string[] };
  /** Replies without a usable token count; absent if every reply gave its tokens. */
  readonly assumed?: AssumedTokens;
  /** Set if a reply without a token count is priced by tokens: `cost` is then incomplete. Budgets use this, and nothing shows it. */
  readonly partlyPriced?: true;
  /** As in its {@link JobSpec}. */
  readonly files?: Readonly<Record<string, string>>;
  readonly call?: TextCall;
  /** For a text job, its last reply, even if the job failed because of it. */
  readonly text?: TextResult;
  /** Tokens of all paid replies of this job, including unusable ones and rounds of function calls. */
  readonly usage?: TokenUsage;
  /**
   * Native contents (gateway 6.2) after those of the request: the calls of each finished round, with their results. A restart continues
   * from here.
   */
  readonly turns?: readonly Value[];
  /** Places of the whole replies of these rounds, in order, as far as they were kept (`keepReplies`). */
  readonly rounds?: readonly ReplyPlace[];
  /** Number of unusable answers since the job began (`retry.invalid`). */
  readonly invalid?: number;
  /**
   * The run directory that this one took the job over from (`--reuse`), relative to this one, with `/`. The job has no submissions of its
   * own: what it cost was paid there.
   */
  readonly reusedFrom?: string;
}

/** Returns the cost of a job, if all parts are known. */
export const knownCost = ({
  cost,
  partlyPriced,
}: Pick<JobRecord, 'cost' | 'partlyPriced'>): number | undefined => (partlyPriced ? undefined : cost);

/** A past submission of a job, or a user's decision about one without a reply. */
export interface Attempt {
  readonly key: string;
  /** Time in Unix ms at which the intent, or the decision, was recorded. */
  readonly at: number;
  /**
   * The result. `task.failed`: its task failed and it is submitted again. For a decision: `user.adopted`, `user.dropped` or `user.retry`.
   * For a task that was found by its tag: `found`, or `found.unused` if another task was chosen.
   */
  readonly outcome: string;
  readonly taskId?: string;
  readonly error?: JobError;
}
