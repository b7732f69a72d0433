import type { Attempt, JobRecord, JobStatus } from '../plan/job.ts';

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

/** How many submissions and text calls have been sent over the directory's life. */
export interface Submissions {
  /** As the state knows: their intents are in it. */
  readonly known: number;
  /**
   * As a file beside the state counts them. Never more than the known ones while the state is whole. If it is more, the
   * state is an older one, and the difference is missing in it.
   */
  readonly counted: number;
}

/** What can be asked of a run's state; a second process may ask while the run is on. */
export interface StateReader {
  /** The file that it lies in, for messages; absent where it lies in none. */
  readonly file?: string;
  get(key: string): JobRecord | undefined;
  /** Submitting, running, modal and saving jobs: what a crash left behind. Found through a partial index. */
  unfinished(): readonly JobRecord[];
  /** Jobs of one status, optionally of one error code, in key order; reads in pages, never all at once. */
  withStatus(status: JobStatus, code?: string): Iterable<JobRecord>;
  /** Keys of the jobs first asked for by this slot, oldest first. */
  keysOfSlot(slot: string): readonly string[];
  /** Keys that begin so, in order, at most `limit` of them. An empty beginning is every key's. */
  keysWithPrefix(prefix: string, limit: number): readonly string[];
  /**
   * Jobs in whose record this text is a JSON string as a whole (a key, a task id), oldest first. No index helps: it
   * reads every record, in pages, a second or two for a million.
   */
  mentioning(text: string): Iterable<JobRecord>;
  /** Jobs in whose history this task stands. No index helps either. */
  keysOfTask(taskId: string): Iterable<string>;
  /** A job's number: they count up in the order in which jobs first came. Undefined for a key that is not known. */
  numberOf(key: string): number | undefined;
  /** Number of the job that came last; 0 where none has. */
  lastNumber(): number;
  /** How many jobs have no parent, and their keys: what a narrowed manifest must place. */
  rootKeys(): Iterable<string>;
  totals(): StoreTotals;
  submissions(): Submissions;
  attempts(key: string): readonly Attempt[];
  /** What a run saw of a file of the pipeline that it was given; by the path that the pipeline gives. */
  inputFile(path: string): InputFile | undefined;
  /** Facts of the directory: the pipeline's text, its file, the last run's settings. */
  fact(name: string): string | undefined;
  close(): void;
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

/** What one turn of the event loop made durable, as one transaction. */
export interface Turn {
  /** Each replaces the record of its key as a whole; the last one of a key counts. */
  readonly records: readonly JobRecord[];
  /** Appended to the history, never replaced. */
  readonly attempts: readonly Attempt[];
  /** Submissions and text calls that leave once this is durable and counted. Default 0. */
  readonly submits?: number;
  /** Number of the run that decided this, kept under {@link invocationFact}. Absent: no run did. */
  readonly invocation?: number;
}

/** Name of the fact that says how many runs have made something of theirs durable. */
export const invocationFact = 'run.invocation';

/**
 * The durable state of one run directory, written by the process that holds its lock. What is paid goes by three steps: its
 * intent is committed, then it is counted, then it is sent. So the count is never ahead of a state that is whole, wherever the
 * process dies, and never behind what was sent.
 */
export interface StateStore extends StateReader {
  /** Durable when it returns (`synchronous=FULL`). @throws StateError `state.full` | `state.readonly` | `state.busy` | `state.replaced` | `state.io` */
  commit(turn: Turn): void;
  /** Says outside the state how many submissions it knows of; a killed process has said so. @throws as `commit` */
  countSubmissions(): void;
  /** From here on the state counts as whole: the submissions that are missing in it count as known. */
  acceptMissing(): void;
  setFact(name: string, value: string): void;
  /** Replaces what was known of the file at this path. */
  rememberInputFile(file: InputFile): void;
}

/** The disk or the file failed: the run stops (exit 74) and can be continued. */
export class StateError extends Error {
  /**
   * `state.full` | `state.readonly` | `state.io` | `state.busy` | `state.corrupt` | `state.version` | `state.foreign` |
   * `state.network` | `state.locked` | `state.old` | `state.replaced` | `state.schema`; of a run directory's files
   * `directory.link` | `directory.kind` | `directory.system` | `directory.tracked` | `directory.foreign`
   */
  readonly code: string;
  /** What the user should do. */
  readonly hint?: string;

  constructor(code: string, message: string, options?: ErrorOptions & { hint?: string }) {
    super(message, options);
    this.name = 'StateError';
    this.code = code;
    if (options?.hint !== undefined) this.hint = options.hint;
  }
}
