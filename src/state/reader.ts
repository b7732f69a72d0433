import type { Attempt, JobRecord, JobStatus } from '../plan/job.ts';
import type { ReplyPlace } from '../plan/job-request.ts';
import type { RedoReader } from './redo-order.ts';

/** Sums over all jobs of the directory. */
export interface StoreTotals {
  readonly jobs: Readonly<Record<JobStatus, number>>;
  /** Submissions over the directory's life, for `budget.submits`. */
  readonly attempts: number;
  /** Sum of the known costs, for `budget.cost`. */
  readonly cost: number;
  /** Sum of the possible cost of submissions without a response, and of replies without a token count; `budget.cost` counts it too. */
  readonly possibleCost: number;
  /** Sum of the tokens that answers are known to have taken, for `budget.tokens`. */
  readonly tokens: number;
  /** Sum of the estimated tokens of replies without a token count; `budget.tokens` counts it too. */
  readonly assumedTokens: number;
  /** Failed and in-doubt jobs by error code. */
  readonly codes: Readonly<Record<'failed' | 'in-doubt', Readonly<Record<string, number>>>>;
}

/** Sums over the jobs of one step, over the directory's life. */
export interface StepSums {
  /** Step of the slot that requested a job first: slots of other steps may share the job. */
  readonly step: string;
  readonly jobs: number;
  readonly done: number;
  /** Number of submissions. */
  readonly attempts: number;
  readonly cost: number;
  /** Additional possible cost of submissions without a response, and of replies without a token count. */
  readonly possibleCost: number;
  readonly tokens: number;
  /** Estimated tokens of replies without a token count. */
  readonly assumedTokens: number;
  /** Number of submissions and calls whose answer never came: they may have been charged. */
  readonly unanswered: number;
}

/** Numbers of submissions and text calls sent over the directory's life. */
export interface Submissions {
  /** Number that the state knows: their intents are in it. */
  readonly known: number;
  /** The state knows submissions, but the file that counts them is gone: nobody knows what was sent since. */
  readonly isUncounted?: true;
  /**
   * Number in a file beside the state. Never more than the known ones while the state is complete. If it is more, the state is older,
   * and the difference is missing in it.
   */
  readonly counted: number;
}

/**
 * Answers questions about a run's state for readers, also in a second process during the run. The time of an answer depends on where
 * the state lies: request many records together.
 *
 * Iterables are read in pages, never all at once, and each page shows the moment in which it is read.
 */
export interface StateReader {
  /** File of the state, for messages; absent if it is not in a file. */
  readonly file?: string;
  get(key: string): Promise<JobRecord | undefined>;
  /** Returns the records of these keys; a key without a job is absent. The caller limits the number of keys. */
  many(keys: readonly string[]): Promise<ReadonlyMap<string, JobRecord>>;
  /** Yields submitting, running, modal and saving jobs, oldest first, through a partial index. */
  unfinished(): AsyncIterable<JobRecord>;
  /** Yields jobs of one status, optionally of one error code, in key order. */
  withStatus(status: JobStatus, code?: string): AsyncIterable<JobRecord>;
  /** Returns the keys of the jobs that each of these slots requested first, oldest first; a slot without any is absent. */
  keysOfSlots(slots: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>>;
  /** Returns at most `limit` keys with this prefix, in order. An empty prefix matches every key. */
  keysWithPrefix(prefix: string, limit: number): Promise<readonly string[]>;
  /**
   * Yields jobs whose record contains this text as a whole JSON string (a key, a task id), oldest first. No index helps: it reads every
   * record, a second or two for a million.
   */
  mentioning(text: string): AsyncIterable<JobRecord>;
  /** Yields jobs with this task in their history. No index helps either. */
  keysOfTask(taskId: string): AsyncIterable<string>;
  /** Returns the numbers of these jobs: they count up in the order in which jobs first came. A key without a job is absent. */
  numbersOf(keys: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Returns the number of the latest job; 0 if there is none. */
  lastNumber(): Promise<number>;
  /** Yields the keys of jobs without a parent, in key order: a narrowed manifest must place them. */
  rootKeys(): AsyncIterable<string>;
  totals(): Promise<StoreTotals>;
  /** Returns the sums of each step, in the order of their first jobs. Reads every record: seconds for a million. */
  stepSums(): Promise<readonly StepSums[]>;
  submissions(): Promise<Submissions>;
  attempts(key: string): Promise<readonly Attempt[]>;
  /** The jobs that the user wants to redo. */
  readonly redos: RedoReader;
  /** Returns what a run recorded of the pipeline's files, by the path in the pipeline; an unknown path is absent. */
  inputFiles(paths: readonly string[]): Promise<ReadonlyMap<string, InputFile>>;
  /** Returns a fact of the directory: the pipeline's text, its file, the last run's settings. */
  fact(name: string): Promise<string | undefined>;
  /** Reads the copy of a table that the last run was planned from, by its hash. Absent: copies lie in the run directory. */
  table?(sha256: string): AsyncIterable<Uint8Array>;
  /** Reads the line of a whole reply, without its end; undefined: there is none at this place. Absent: they lie in the run directory. */
  replyLine?(place: ReplyPlace): Promise<string | undefined>;
  close(): Promise<void>;
}

/** A file that the pipeline names, as a run recorded it: job keys depend on it, and a manifest needs it again. */
export interface InputFile {
  /** Path as in the pipeline. */
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
  /** Time of its last change, in Unix ms: an unchanged file is not read again. */
  readonly mtimeMs: number;
}
