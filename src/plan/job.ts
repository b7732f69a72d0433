import type { ButtonWord, Speed, StepKind } from '../pipeline/pipeline.ts';
import type { Value } from '../pipeline/value.ts';

/** A button of a finished task (service.md 2.3); absent texts are empty. */
export interface Button {
  readonly customId: string;
  readonly label: string;
  readonly emoji: string;
}

/** One way to find a button, its template rendered. Plain data: it is part of a job's request. */
export type Press =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'pattern'; readonly source: string }
  | { readonly kind: 'word'; readonly word: ButtonWord };

/**
 * What a job asks the service for: plain JSON, as stored and as hashed. It holds only fields that the pipeline
 * declares, so that a release that adds a default changes no key.
 */
export type JobRequest =
  | {
      readonly kind: 'imagine';
      /** Declared fields by their pipeline names: `prompt`, and where declared `botType`, `accountFilter`. */
      readonly fields: Readonly<Record<string, Value>>;
      readonly extra?: Readonly<Record<string, Value>>;
    }
  | {
      readonly kind: 'click';
      /** The first of these that the parent's task offers is pressed. */
      readonly press: readonly Press[];
      /** Declared fields by their pipeline names: `prompt`, `mask`, `remix`. */
      readonly fields: Readonly<Record<string, Value>>;
      readonly extra?: Readonly<Record<string, Value>>;
    };

/** What a slot asks for: the unit of work, of paying and of resuming. Equal requests have equal keys. */
export interface JobSpec {
  readonly key: string;
  readonly kind: StepKind;
  readonly request: JobRequest;
  /** Key of the job whose button is pressed. */
  readonly parent?: string;
  /**
   * Of a step that gathers, in place of a parent: the keys of what it gathers, one for each slot that was not skipped,
   * in the manifest's order. Never empty; slots that share a job name it once each, so that the third image is the
   * third branch.
   */
  readonly inputs?: readonly string[];
}

/** Keys of the jobs that a job continues or gathers, in order; empty for a root. */
export const inputsOf = ({ parent, inputs }: Pick<JobSpec, 'parent' | 'inputs'>): readonly string[] =>
  inputs ?? (parent === undefined ? [] : [parent]);

/** DESIGN.md section 4. `skipped` and `blocked` are states of slots, never of jobs. */
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
}

/** What the service said when the task was finished. */
export interface TaskResult {
  readonly imageUrl?: string;
  readonly buttons: readonly Button[];
}

/** Where a job was first asked for: for messages, for logs, and to tell a changed slot from a new one. */
export interface JobOrigin {
  readonly cell: number;
  readonly step: string;
  /** Branch segments joined by `/`; empty for a step's own operation. */
  readonly branch: string;
  /** Hash of step, branch, variables and repeat: the slot's identity, whatever it asks for. */
  readonly slot: string;
}

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
  readonly taskId?: string;
  readonly submittedAt?: number;
  readonly finishedAt?: number;
  readonly result?: TaskResult;
  readonly artifacts: readonly Artifact[];
  readonly error?: JobError;
  /** Absent: unknown (no price is given), which is not 0. */
  readonly cost?: number;
}

/** One submission of a job, or what the user decided about one whose answer never came, as history. */
export interface Attempt {
  readonly key: string;
  /** Unix ms of the moment the intent, or the decision, was recorded. */
  readonly at: number;
  /** What the answer came to; of a decision `user.adopted`, `user.dropped` or `user.retry`. */
  readonly outcome: string;
  readonly taskId?: string;
  readonly error?: JobError;
}
