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
  /**
   * Sum of the possible cost of submissions without a response, and of replies without a token count; `budget.cost` counts
   * it too.
   */
  readonly possibleCost: number;
  /** Sum of the tokens that answers are known to have taken, for `budget.tokens`. */
  readonly tokens: number;
  /** Sum of the estimated tokens of replies without a token count; `budget.tokens` counts it too. */
  readonly assumedTokens: number;
  /** Failed and in-doubt jobs by error code. */
  readonly codes: Readonly<Record<string, number>>;
}

/** Sums over the jobs of one step, over the directory's life. */
export interface StepSums {
  /** Of the slot that asked for a job first: slots of other steps may share it. */
  readonly step: string;
  readonly jobs: number;
  readonly done: number;
  /** Submissions. */
  readonly attempts: number;
  readonly cost: number;
  /** Of submissions without a response, and of replies without a token count, in addition. */
  readonly possibleCost: number;
  readonly tokens: number;
  /** Estimated, of replies without a token count. */
  readonly assumedTokens: number;
  /** Submissions and calls whose answer never came: they may have been paid. */
  readonly unanswered: number;
}

/** How many submissions and text calls have been sent over the directory's life. */
export interface Submissions {
  /** As the state knows: their intents are in it. */
  readonly known: number;
  /** The state knows submissions, and the file that counts them is gone: nobody knows what was sent since. */
  readonly isUncounted?: true;
  /**
   * As a file beside the state counts them. Never more than the known ones while the state is whole. If it is more, the
   * state is an older one, and the difference is missing in it.
   */
  readonly counted: number;
}

/**
 * What can be asked of a run's state by those who do not write it; a second process may ask while the run is on. An answer takes as
 * long as the place that the state lies in needs: whoever wants many records asks for them together.
 *
 * What is found one after another is read in pages, never all at once, and each page is of the moment in which it is read.
 */
export interface StateReader {
  /** The file that it lies in, for messages; absent where it lies in none. */
  readonly file?: string;
  get(key: string): Promise<JobRecord | undefined>;
  /** The records of these keys, by key; a key that no job has is absent. The caller bounds how many it asks for. */
  many(keys: readonly string[]): Promise<ReadonlyMap<string, JobRecord>>;
  /** Submitting, running, modal and saving jobs, oldest first. Found through a partial index. */
  unfinished(): AsyncIterable<JobRecord>;
  /** Jobs of one status, optionally of one error code, in key order. */
  withStatus(status: JobStatus, code?: string): AsyncIterable<JobRecord>;
  /** Keys of the jobs first asked for by each of these slots, oldest first; a slot that asked for none is absent. */
  keysOfSlots(slots: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>>;
  /** Keys that begin so, in order, at most `limit` of them. An empty beginning is every key's. */
  keysWithPrefix(prefix: string, limit: number): Promise<readonly string[]>;
  /**
   * Jobs in whose record this text is a JSON string as a whole (a key, a task id), oldest first. No index helps: it
   * reads every record, a second or two for a million.
   */
  mentioning(text: string): AsyncIterable<JobRecord>;
  /** Jobs in whose history this task stands. No index helps either. */
  keysOfTask(taskId: string): AsyncIterable<string>;
  /** The numbers of these jobs, by key: they count up in the order in which jobs first came. A key that no job has is absent. */
  numbersOf(keys: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Number of the job that came last; 0 where none has. */
  lastNumber(): Promise<number>;
  /** Keys of the jobs that have no parent, in key order: what a narrowed manifest must place. */
  rootKeys(): AsyncIterable<string>;
  totals(): Promise<StoreTotals>;
  /** Every record is read: seconds for a million. In the order in which the first jobs of the steps came. */
  stepSums(): Promise<readonly StepSums[]>;
  submissions(): Promise<Submissions>;
  attempts(key: string): Promise<readonly Attempt[]>;
  /** The jobs that the user wants made anew. */
  readonly redos: RedoReader;
  /** What a run saw of files of the pipeline, by the path that the pipeline gives; a path that no run saw is absent. */
  inputFiles(paths: readonly string[]): Promise<ReadonlyMap<string, InputFile>>;
  /** Facts of the directory: the pipeline's text, its file, the last run's settings. */
  fact(name: string): Promise<string | undefined>;
  /** The copy of a table that the last run was planned from, by its hash. Absent: copies lie in the run directory. */
  table?(sha256: string): AsyncIterable<Uint8Array>;
  /** The line of a whole reply, without its end; undefined: there is none at this place. Absent: they lie in the run directory. */
  replyLine?(place: ReplyPlace): Promise<string | undefined>;
  close(): Promise<void>;
}

/** A file that the pipeline names, as a run saw it: what it was is part of job keys, and a manifest needs it again. */
export interface InputFile {
  /** As the pipeline gives it. */
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
  /** When it was changed last, Unix ms: one that is as it was is not read again. */
  readonly mtimeMs: number;
}
