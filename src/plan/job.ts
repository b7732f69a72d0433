import type { Speed, StepKind } from '../pipeline/pipeline.ts';
import type { Value } from '../pipeline/values/value.ts';
import type { JobRequest, TextCall } from './job-request.ts';

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
   * Of a step that gathers, in place of a parent: the keys of what it gathers, one for each slot that was not skipped,
   * in the manifest's order. Never empty; slots that share a job name it once each, so that the third image is the
   * third branch. A job that gathers a single one names it as its parent: that is the very job that continues it.
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
  inputs ?? (parent === undefined ? [] : [parent]);

/** Keys of all jobs that must be done before a job may start, its inputs first; some may stand there more than once. */
export function needsOf(job: Pick<JobSpec, 'parent' | 'inputs' | 'request'>): readonly string[] {
  const { request } = job;
  if (request.kind === 'click') return inputsOf(job);
  const shown = (request.images ?? []).flatMap((image) => ('job' in image ? [image.job] : []));
  const continued = 'continues' in request && request.continues !== undefined ? [request.continues] : [];
  return [...inputsOf(job), ...shown, ...continued];
}

/** How far a job has come, in this order. `skipped` and `blocked` are states of slots, never of jobs. */
export type JobStatus =
  | 'pending'
  | 'submitting'
  | 'running'
  | 'modal'
  | 'saving'
  | 'done'
  | 'failed'
  | 'in-doubt';

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

/** A file that a job produced. */
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

/**
 * Tokens as the service counted them (gateway 6.5). What it did not say is absent, which is not 0.
 * `prompt` includes `cached`; `total` = prompt + candidates + thoughts + tool.
 */
export interface TokenUsage {
  readonly prompt?: number;
  readonly cached?: number;
  readonly candidates?: number;
  readonly thoughts?: number;
  readonly tool?: number;
  readonly total?: number;
}

/** What is kept of one candidate of an answer. */
export interface TextCandidate {
  /** All visible text, joined; of an answer that only calls functions, canonical JSON of the calls. */
  readonly text: string;
  /** The text was asked for as JSON, and is. */
  readonly isJson: boolean;
  /** As the service wrote it: `STOP`, `MAX_TOKENS`, `length`, … */
  readonly finishReason?: string;
  /**
   * The content's parts as they came, thoughts, signatures and calls included, so that a later turn can repeat them;
   * in place of image data stands `{ inlineData: { mimeType, output } }`, the output number of the artifact.
   */
  readonly parts: readonly Value[];
}

/** What a text call came to, as far as the state and the manifest need it; the whole answer lies beside the texts. */
export interface TextResult {
  readonly candidates: readonly TextCandidate[];
  /** Why the prompt was not answered at all (gateway 6.5, `promptFeedback.blockReason`). */
  readonly blockReason?: string;
  /** The model version that answered. */
  readonly model?: string;
  readonly responseId?: string;
  readonly requestId?: string;
  /** The whole answer as JSON, relative to the run directory, where it was kept. */
  readonly answerFile?: string;
}

/** What the service said when the task was finished. */
export interface TaskResult {
  readonly imageUrl?: string;
  readonly buttons: readonly Button[];
  /** Of a video: one link each, in order; downloaded in place of `imageUrl`. */
  readonly videoUrls?: readonly string[];
  /** Of describe: its prompts, in order, without their numbers (gateway 4.5). */
  readonly prompts?: readonly string[];
}

/** What a finished job had come to when the user had it made anew; its files stay in `artifacts`. */
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
  | 'invalid'
>;

/** Where a job was first asked for: for messages, for logs, and to tell a changed slot from a new one. */
export interface JobOrigin {
  readonly cell: number;
  readonly step: string;
  /** Branch segments joined by `/`; empty for a step's own operation. */
  readonly branch: string;
  /** Hash of step, branch, variables and repeat: the slot's identity, whatever it asks for. */
  readonly slot: string;
}

/** Submissions of a job of which nobody knows whether they made a task: no answer came, or one that does not say. */
export interface DoubtfulSubmits {
  /** How many, over the job's life; never 0. They are among its `attempts`. */
  readonly count: number;
  /** What they may have cost beside the job's `cost`. Absent: unknown (no price is given), which is not 0. */
  readonly cost?: number;
  /**
   * The job has no task yet, and some of them may have made the one that it asks for: when the first of these was sent, Unix
   * ms. Absent once a task was taken on, or the user has said that the job is to be submitted anew.
   */
  readonly since?: number;
}

/** What answers that told no usable count of tokens are taken to have come to: budgets count it, and no column shows it. */
export interface AssumedTokens {
  /** How many answers, over the job's life; never 0. */
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
  /** HTTP tries of the submission under way, so that a restart goes on with the backoff, not from its start. */
  readonly tries: number;
  /** New submissions after a task failed. */
  readonly resubmits: number;
  readonly speed?: Speed;
  /** The button that was found and pressed. */
  readonly pressed?: Button;
  /**
   * The button opened a modal. `taskId` waits for it; `sent` counts the answers that may have arrived, so that what was
   * answered is never answered again (gateway 4.6). The record's own `taskId` is the task that is looked at.
   */
  readonly modal?: { readonly taskId: string; readonly sent: number; readonly accepted?: true };
  readonly taskId?: string;
  readonly submittedAt?: number;
  readonly finishedAt?: number;
  /** Number of the run that settled it: that run does not take it up again by itself. */
  readonly invocation?: number;
  readonly result?: TaskResult;
  readonly artifacts: readonly Artifact[];
  /**
   * It was done and is being made anew (`--redo`). There until there is a new result, and then gone; where nothing comes of the
   * redo, the job is done again with what stands here. While it is there, `artifacts` are the former ones.
   */
  readonly former?: FormerResult;
  /** How often its result was replaced by a new one, and what its first one was. Absent: never. */
  readonly redone?: { readonly count: number; readonly first: Pick<JobRecord, 'taskId' | 'submittedAt'> };
  /** The finished task of its parent, when this was begun: what is pressed, shown or gone on with. */
  readonly parentTaskId?: string;
  /**
   * What it was begun from: by key of a job, how often that had been redone by then. What its request needs (`needsOf`) is there
   * only where that was redone before; what its templates name is always there.
   */
  readonly from?: Readonly<Record<string, number>>;
  /** As `from`: it was to be made anew from these results, nothing came of that, and it stays as it is beside them. */
  readonly kept?: Readonly<Record<string, number>>;
  readonly error?: JobError;
  /** Absent: unknown (no price is given), which is not 0. */
  readonly cost?: number;
  /** Absent: none. */
  readonly doubtful?: DoubtfulSubmits;
  /** Its `taskId` was named by the user, and the service has not shown that task yet. */
  readonly named?: NamedTask;
  /** Answers that told no tokens, or none that can be; absent: all told theirs. */
  readonly assumed?: AssumedTokens;
  /** An answer told no tokens and is priced by them: `cost` is a part, good for the budget, and shown nowhere. */
  readonly partlyPriced?: true;
  /** As in its {@link JobSpec}. */
  readonly files?: Readonly<Record<string, string>>;
  readonly call?: TextCall;
  /** Of a text job: its last answer, also where the job failed for it. */
  readonly text?: TextResult;
  /** Tokens of all answers that were ever paid for this job, unusable ones and rounds of function calls included. */
  readonly usage?: TokenUsage;
  /**
   * Native contents (gateway 6.2) after the request's own: the calls of each finished round and the answers they
   * were given. A restart goes on from here.
   */
  readonly turns?: readonly Value[];
  /** Answers since the job began that came and could not be used (`retry.invalid`). */
  readonly invalid?: number;
}

/** True where nothing is missing but files of what the service has made: its buttons can be pressed. */
export const lacksOnlyFiles = ({ status, result, error }: JobRecord): boolean =>
  status === 'failed' &&
  result !== undefined &&
  error?.code !== 'service.task-unknown' &&
  error?.code !== 'download.no-prompts';

/** What a job cost, where all of it is known. */
export const knownCost = ({
  cost,
  partlyPriced,
}: Pick<JobRecord, 'cost' | 'partlyPriced'>): number | undefined => (partlyPriced ? undefined : cost);

/** One submission of a job, or what the user decided about one whose answer never came, as history. */
export interface Attempt {
  readonly key: string;
  /** Unix ms of the moment the intent, or the decision, was recorded. */
  readonly at: number;
  /** What the answer came to; `task.failed`: its task failed and it is submitted again; of a decision `user.adopted`, `user.dropped` or `user.retry`; of a task that was found by its tag `found`, and `found.unused` where another one was taken. */
  readonly outcome: string;
  readonly taskId?: string;
  readonly error?: JobError;
}
