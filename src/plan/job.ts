import type { TokenCount } from '../pipeline/kinds.ts';
import type { Speed, StepKind } from '../pipeline/pipeline.ts';
import type { Value } from '../pipeline/values/value.ts';
import type { JobRequest, ReplyPlace, TextCall, TextResult } from './job-request.ts';

/** A button of a finished task (gateway 5.1); absent texts are empty. */
export interface Button {
  readonly customId: string;
  readonly label: string;
  readonly emoji: string;
}

/** What a slot asks for: the unit of work, of paying and of resuming. Equal requests have equal keys. */
export interface JobSpec {
  readonly key: string;
  readonly kind: StepKind;
  readonly request: JobRequest;
  /** Key of the job whose button is pressed; of any other job, of the one that it starts from. */
  readonly parent?: string;
  /**
   * Of a step that gathers, in place of a parent: the keys of the gathered jobs, one for each slot that was not skipped, in
   * the manifest's order. Never empty; slots that share a job repeat its key. A single gathered job is named as the parent
   * instead: it is the very job that continues it.
   */
  readonly inputs?: readonly string[];
  /** Where the files lie that its request names by content: SHA-256 → path relative to the pipeline. No part of the key. */
  readonly files?: Readonly<Record<string, string>>;
  /** How its call is made, which is no part of the key either; only of a text job. */
  readonly call?: TextCall;
  /** Keys of the jobs whose results its templates name. What they say is in the request, and so in the key. */
  readonly reads?: readonly string[];
}

/** Keys of the jobs that a job starts from or gathers, in order; empty for a root. */
export const inputsOf = ({ parent, inputs }: Pick<JobSpec, 'parent' | 'inputs'>): readonly string[] =>
  inputs ?? (parent === undefined ? none : [parent]);

const none: readonly string[] = [];

/** Keys of all jobs that must be done before a job may start, its inputs first; some may stand there more than once. */
export function needsOf(job: Pick<JobSpec, 'parent' | 'inputs' | 'request'>): readonly string[] {
  const { images = [], continues } = job.request;
  if (images.length === 0 && continues === undefined) return inputsOf(job);
  const shown = images.flatMap((image) => ('job' in image ? [image.job] : []));
  return [...inputsOf(job), ...shown, ...(continues === undefined ? [] : [continues])];
}

/** How far a job has come, in this order. `skipped` and `blocked` are states of slots, never of jobs. */
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

/** A job in one of these is never touched again without the user's word. */
export const settledStatuses = ['done', 'failed', 'in-doubt'] as const satisfies readonly JobStatus[];

export const isSettled = (status: JobStatus): boolean =>
  (settledStatuses as readonly JobStatus[]).includes(status);

/** Code of a job in doubt that the user has given up (`promptpress resolve --drop`). */
export const droppedCode = 'job.dropped';

/** Why a job failed, or is in doubt. */
export interface JobError {
  /** Closed dotted code: `task.failed`, `task.timeout`, `button.missing`, `service.rejected`, … */
  readonly code: string;
  readonly message: string;
  /** The bare request id, where the service gave one. */
  readonly requestId?: string;
  readonly httpStatus?: number;
}

/** A file that a job produced. Texts are in the record itself. */
export interface Artifact {
  /** Counts from 1 within the job. */
  readonly output: number;
  /** Relative to the run directory, with `/`. */
  readonly file: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly mime: string;
  readonly width?: number;
  readonly height?: number;
  /** Of a text job: which candidate it belongs to, from 1. */
  readonly candidate?: number;
}

/** What became of the frames of a grid (`grid: split`). */
export interface CutFrames {
  /** The frames in the order U1 to U4; empty where the file could not be cut, fewer where the service gave not all of its own. */
  readonly files: readonly Artifact[];
  /** Why the file could not be cut, or why not all frames are those of the service. */
  readonly error?: JobError;
}

/** Its files in the order of their outputs: behind a grid its frames. */
export const artifactsOf = ({
  artifacts,
  frames,
}: Pick<JobRecord, 'artifacts' | 'frames'>): readonly Artifact[] =>
  frames === undefined ? artifacts : [...artifacts, ...frames.files];

/**
 * Tokens as the service counted them (gateway 6.5). What it did not say is absent, which is not 0.
 * `prompt` includes `cached`, `other` is what the total has above its parts; what they say together stands in `usage.ts`.
 */
export type TokenUsage = Readonly<Partial<Record<TokenCount, number>>>;

/** What the service said when the task was finished. */
export interface TaskResult {
  readonly imageUrl?: string;
  /** Of several images of their own: one link each, in order; downloaded in place of `imageUrl`. */
  readonly imageUrls?: readonly string[];
  /** Of a grid whose frames the service has too: one link each, in order; downloaded in place of a cut. */
  readonly frameUrls?: readonly string[];
  readonly buttons: readonly Button[];
  /** Of a video: one link each, in order; downloaded in place of `imageUrl`. */
  readonly videoUrls?: readonly string[];
  /** Another link to one of the films, for when one in `videoUrls` is refused. */
  readonly spareVideoUrl?: string;
  /** Of describe: its prompts, in order, without their numbers (gateway 4.5). */
  readonly prompts?: readonly string[];
}

/** The result of a finished job before the user had it redone; its files stay in `artifacts`. */
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
>;

/** Where a job was first asked for: for messages, for logs, and to distinguish a changed slot from a new one. */
export interface JobOrigin {
  readonly cell: number;
  readonly step: string;
  /** Branch segments joined by `/`; empty for a step's own operation. */
  readonly branch: string;
  /** Hash of step, branch, variables and repeat: the slot's identity, independent of its request. */
  readonly slot: string;
}

/** Submissions of a job that may have been paid, and may have made a task: no response came, or an unclear one. */
export interface UnconfirmedSubmits {
  /** How many, over the job's life; never 0. They are among its `attempts`. */
  readonly count: number;
  /** What they may have cost beside the job's `cost`. Absent: unknown (no price is given), which is not 0. */
  readonly cost?: number;
  /** About how many tokens the text calls among them may have used, beside the job's `usage`. Absent: none is a text call. */
  readonly tokens?: number;
  /**
   * Present while the job has no task and one of these submissions may have made the task: when the first of them was sent,
   * Unix ms. Absent after a task was adopted, or the user decided to submit the job again.
   */
  readonly since?: number;
}

/** The assumed tokens of replies that gave no usable count: budgets count them, and no column shows them. */
export interface AssumedTokens {
  /** How many replies, over the job's life; never 0. */
  readonly answers: number;
  /** About what they took, as estimated before they were asked for. */
  readonly tokens: number;
  /** What that costs, where the price is by tokens. */
  readonly cost?: number;
}

/** What a job in doubt was before its task was named (`promptpress resolve --task`): it goes back to that if there is none. */
export type NamedTask = Pick<JobRecord, 'taskId' | 'error' | 'cost' | 'doubtful'>;

/**
 * All that is durable about one job. Replaced as a whole at each step of its life; times are Unix milliseconds.
 */
export interface JobRecord {
  readonly key: string;
  readonly kind: StepKind;
  readonly status: JobStatus;
  readonly request: JobRequest;
  readonly parent?: string;
  /** As in its {@link JobSpec}. */
  readonly inputs?: readonly string[];
  readonly origin: JobOrigin;
  /** Some slot wants its artifacts. */
  readonly keep: boolean;
  /** Submissions that may have cost money. */
  readonly attempts: number;
  /** HTTP tries of the current submission, so that a restart continues the backoff instead of starting over. */
  readonly tries: number;
  /** New submissions after a task failed. */
  readonly resubmits: number;
  readonly speed?: Speed;
  /** The button that was found and pressed. */
  readonly pressed?: Button;
  /**
   * The button opened a modal. `taskId` waits for the modal; `sent` counts the confirmations that may have arrived, so that
   * an answered modal is never confirmed again (gateway 4.6). The record's own `taskId` is the task that is polled.
   */
  readonly modal?: { readonly taskId: string; readonly sent: number; readonly accepted?: true };
  readonly taskId?: string;
  readonly submittedAt?: number;
  /** The slice and epoch of its last submission, `slice/epoch`: names it with `submittedAt`, which two workers may share. Absent: one machine. */
  readonly submittedBy?: string;
  readonly finishedAt?: number;
  /** Number of the run that settled it: that run does not take it up again by itself. */
  readonly invocation?: number;
  readonly result?: TaskResult;
  readonly artifacts: readonly Artifact[];
  /** Some slot wants the frames of its grid. Absent: none does. */
  readonly split?: true;
  /** The frames of its grid, which are outputs beside `artifacts`. Absent: not cut, or not yet. They go with the grid's file. */
  readonly frames?: CutFrames;
  /**
   * The job was done and is being redone (`--redo`): its former result. Present until there is a new result. If the redo
   * fails, the job is done again with this result. While it is present, `artifacts` are the former ones.
   */
  readonly former?: FormerResult;
  /** How often its result was replaced by a new one, and what its first one was. Absent: never. */
  readonly redone?: { readonly count: number; readonly first: Pick<JobRecord, 'taskId' | 'submittedAt'> };
  /** The finished task of the parent when this job was begun: the task that is pressed, shown or continued. */
  readonly parentTaskId?: string;
  /**
   * What it was begun from: by key of a job, how often that had been redone by then. What its request needs (`needsOf`) is there
   * only where that was redone before; what its templates name is always there.
   */
  readonly from?: Readonly<Record<string, number>>;
  /** As `from`: the job was to be redone from these results, the redo failed, and the job stays as it is. */
  readonly kept?: Readonly<Record<string, number>>;
  readonly error?: JobError;
  /**
   * It was refused as every job of its kind was, and nothing was paid: a later run tries it behind jobs that were never tried. Its
   * `error` says why.
   */
  readonly putBack?: true;
  /** Absent: unknown (no price is given), which is not 0. */
  readonly cost?: number;
  /** Absent: none. */
  readonly doubtful?: UnconfirmedSubmits;
  /** What its request that is under way may use: what a killed run has left without an answer may have been paid. Absent: nothing that is known. */
  readonly reserve?: Pick<UnconfirmedSubmits, 'cost' | 'tokens'>;
  /** Who may still send the last submission though the slice was taken over: until that is over, nobody submits this again. Absent: nobody. */
  readonly sender?: string;
  /**
   * Of a text call on several machines: its calls, as `submittedAt/submittedBy`, that were taken over without an answer since it was last
   * answered. What is heard late of one of them is the answer. Absent: none.
   */
  readonly unheard?: readonly string[];
  /** Its `taskId` was named by the user, and the service has not shown that task yet. */
  readonly named?: NamedTask;
  /** The user, or the service for an equal request (code 21), named its task: whose it is is not asked. */
  readonly claimed?: true;
  /** Jobs that were done with a task whose id this one got too, and nothing tells whose it was: their results may be its own. Absent: none. */
  readonly shared?: { readonly taskId: string; readonly jobs: readonly string[] };
  /** Replies without a usable token count; absent: every reply gave its tokens. */
  readonly assumed?: AssumedTokens;
  /** A reply without a token count is priced by tokens: `cost` is then only a part. Budgets use it, and nothing shows it. */
  readonly partlyPriced?: true;
  /** As in its {@link JobSpec}. */
  readonly files?: Readonly<Record<string, string>>;
  readonly call?: TextCall;
  /** Of a text job: its last reply, also where the job failed for it. */
  readonly text?: TextResult;
  /** Tokens of all replies that were ever paid for this job, unusable ones and rounds of function calls included. */
  readonly usage?: TokenUsage;
  /**
   * Native contents (gateway 6.2) after those of the request: the calls of each finished round and the results that they
   * got. A restart continues from here.
   */
  readonly turns?: readonly Value[];
  /** Where the whole replies of these rounds lie, in order; those that were kept (`keepReplies`). */
  readonly rounds?: readonly ReplyPlace[];
  /** Answers since the job began that came and could not be used (`retry.invalid`). */
  readonly invalid?: number;
}

/** The cost of a job, where all parts are known. */
export const knownCost = ({
  cost,
  partlyPriced,
}: Pick<JobRecord, 'cost' | 'partlyPriced'>): number | undefined => (partlyPriced ? undefined : cost);

/** One submission of a job, or what the user decided about one whose reply never came, as history. */
export interface Attempt {
  readonly key: string;
  /** Unix ms of the moment the intent, or the decision, was recorded. */
  readonly at: number;
  /**
   * The result: `task.failed`: its task failed and it is submitted again; of a decision `user.adopted`, `user.dropped` or
   * `user.retry`; of a task that was found by its tag `found`, and `found.unused` where another task was chosen.
   */
  readonly outcome: string;
  readonly taskId?: string;
  readonly error?: JobError;
}
