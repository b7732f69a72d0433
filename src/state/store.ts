import type { RefusalCode } from '../pipeline/diagnostics/run-codes.ts';
import type { Attempt, JobRecord } from '../plan/job.ts';
import type { ReplyPlace } from '../plan/job-request.ts';
import type { InputFile, StateReader, StoreTotals } from './reader.ts';
import type { RedoChange, RedoOrders } from './redo-order.ts';

/** The changes of one turn of the event loop, committed as one transaction. */
export interface Turn {
  /** New records. Each replaces the record of its key as a whole; the last one of a key counts. */
  readonly records: readonly JobRecord[];
  /** Attempts that are appended to the history, never replaced. */
  readonly attempts: readonly Attempt[];
  /** Number of submissions and text calls that leave once this is durable and counted. Default 0. */
  readonly submits?: number;
  /** Number of the run that decided this, kept under {@link invocationFact}. Absent: no run did. */
  readonly invocation?: number;
  /** Recent requests of routes with a rate, kept under {@link sentFact}. Absent: unchanged. */
  readonly sent?: string;
  /** New states of jobs in open orders, by key; jobs without an open order stay unchanged. Absent: unchanged. */
  readonly redos?: ReadonlyMap<string, RedoChange>;
  /** Facts that are kept with it, by name; nothing depends on them. A turn with only facts is empty. Absent: none. */
  readonly facts?: Readonly<Record<string, string>>;
  /** Slices of these records, in a run on several machines. Absent: a run on one machine. */
  readonly slices?: TurnSlices;
  /** Facts received for slices that this worker has lost. Kept whatever happens to the rest of the turn. Absent: none. */
  readonly lateFacts?: readonly LateFact[];
}

/** The slices of a worker's turn, whose epochs fence it. */
export interface TurnSlices {
  /** The slice for which each record was decided, by its key. The attempts of a key go with its record. */
  readonly of: ReadonlyMap<string, number>;
  /**
   * The epoch under which this worker holds each of these slices. If a slice has another epoch by now, another worker has taken it
   * over, and nothing of it is written; no clock decides that.
   */
  readonly epochs: ReadonlyMap<number, number>;
  /** The version of its record from which each decision was made, by key; a key without a record is absent. */
  readonly basis: ReadonlyMap<string, string>;
}

/**
 * The outcome of a turn on several machines. A record is written if its key has none yet; if its own slice wrote it last; or if it
 * rests (settled, pending or modal) and is still the version that this was decided from. In that case it belongs to the new slice from
 * then on.
 */
export interface Committed {
  /** Keys that belong to another slice by now: their records and attempts are not written. `get` then shows the current record. */
  readonly refused: ReadonlySet<string>;
  /** Slices that another worker has taken over: nothing of theirs is written. */
  readonly lost: ReadonlySet<number>;
}

/**
 * A fact that a worker knows of a submission whose slice it has lost; not a decision. It is kept whoever holds the slice by now, and
 * identified by key, `submittedAt` and `submittedBy`. What is known of a task stays known.
 */
export interface LateFact {
  readonly key: string;
  /** As in the record of the intent: the time on the clock of the worker that submitted it. */
  readonly submittedAt: number;
  /** As in the record of the intent. */
  readonly submittedBy: string;
  /** The task that the service made for it. Absent: it certainly made none, so the job may be submitted again. */
  readonly taskId?: string;
  /** For an answered text call: the received answer as JSON in one line. Absent: nothing was made, or it is not a text call. */
  readonly answer?: string;
}

/** The jobs that were given the id of a task, as a state knows them: ids are not always unique (gateway 3.4). */
export interface TaskClaims {
  /** Keys of the jobs with that id, of one burst; the job in question may be among them. */
  readonly keys: readonly string[];
  /** Whether another worker's submission of the same moment is unanswered: it may get the id too. */
  readonly mayGrow: boolean;
}

/** Largest distance of submissions in one burst, in ms: the clocks of two workers may differ. */
export const burstMs = 900_000;

/** Name of the fact with the recent requests, so that a restart keeps within `limits`. */
export const sentFact = 'run.sent';

/** Name of the fact with the number of runs that have committed something. */
export const invocationFact = 'run.invocation';

/**
 * Name of the fact by which a run with nothing to do is recognised (`app/fingerprint`). Every change of jobs or files deletes it in the
 * same transaction, so that it never stands beside a state that it does not describe, and returns with the state if an older copy is
 * restored.
 */
export const fingerprintFact = 'run.fingerprint';

/**
 * The durable state of one run directory, written by the process that holds its lock. Paid work takes three steps: its intent is
 * committed, then counted, then sent. So the count is never ahead of a complete state, wherever the process dies, and never behind what
 * was sent.
 *
 * The run that writes it decides from its own writes, without waiting: these few questions are answered synchronously. All others go to
 * `reader`.
 */
export interface StateStore {
  /** File of the state, for messages; absent if it is not in a file. */
  readonly file?: string;
  /** The same state as other commands read it; it shows every commit, also one whose promise is not resolved. */
  readonly reader: StateReader;
  get(key: string): JobRecord | undefined;
  /** Returns submitting, running, modal and saving jobs, oldest first: what a crash left behind. */
  unfinished(): readonly JobRecord[];
  totals(): StoreTotals;
  attempts(key: string): readonly Attempt[];
  /** Returns which jobs got the task of this job. A state with one writing process knows it from earlier runs. */
  claims(record: JobRecord): TaskClaims;
  /** The jobs that the user wants to redo. */
  readonly redos: RedoOrders;
  inputFile(path: string): InputFile | undefined;
  fact(name: string): string | undefined;
  /**
   * Keeps the whole reply to a call of a job, as JSON in one line: durable with the next commit of a record.
   *
   * @returns its place from then on @throws as `commit`, and StateError `directory.link` | `directory.kind`
   */
  keepReply(job: string, reply: string): ReplyPlace;
  /** Frees some of the disk space held for answers, for the files of one. @returns false: there is none */
  makeRoom(): boolean;
  /** Frees all disk space held for answers, because nothing more is sent. */
  releaseRoom(): void;
  /**
   * Cuts off replies that an earlier run wrote for a commit that was never made. Do not call it for a state that is older than its
   * directory: there they are all that is left of paid work. @throws as `keepReply`
   */
  cutReplies(): void;
  /**
   * Commits a turn: it is durable when this returns (`synchronous=FULL`).
   *
   * @throws StateError `state.full` | `state.readonly` | `state.busy` | `state.replaced` | `state.io`
   */
  commit(turn: Turn): void;
  /**
   * Commits a turn without blocking: durable once the promise is resolved, which rejects like `commit`; undefined for an empty turn.
   * Until then the turn may be shown, but nothing that depends on it may leave. One call at a time. After a failed sync the store
   * refuses all writes: what it shows may not be on the disk. Rejects with {@link UnkeptReplies} if only the replies of a turn that
   * sends nothing could not be written.
   */
  commitSoon(turn: Turn): void | Promise<void>;
  /** Counts the durable submissions outside the state; for a killed process they are counted already. @throws as `commit` */
  countSubmissions(): void;
  /** Accepts the state as complete from now on: submissions that are missing in it count as known. */
  acceptMissing(): void;
  setFact(name: string, value: string): void;
  /** Replaces the recorded facts of the file at this path. */
  rememberInputFile(file: InputFile): void;
  /** Closes the store and its reader. */
  close(): void;
}

/** Facts that commands exchange about a run, beside its records: in a run directory, or on an engine. */
export interface FactKeeper {
  readonly reader: StateReader;
  fact(name: string): string | undefined;
  /** Sets a fact. A local state has kept it when it returns. @throws StateError */
  setFact(name: string, value: string): void | Promise<void>;
}

/** The error for a failed disk or state file: the run stops (exit 74) and can be continued. */
export class StateError extends Error {
  readonly code: RefusalCode;
  /** What the user should do. */
  readonly hint?: string;

  constructor(code: RefusalCode, message: string, options?: ErrorOptions & { hint?: string }) {
    super(message, options);
    this.name = 'StateError';
    this.code = code;
    if (options?.hint !== undefined) this.hint = options.hint;
  }
}

/**
 * The error for whole replies that could not be kept, although their turn is durable and names none of them. The run stops; of the
 * answers, only what is in the whole replies alone is lost.
 */
export class UnkeptReplies extends StateError {
  constructor({ code, message, hint }: StateError) {
    super(code, message, hint === undefined ? {} : { hint });
    this.name = 'UnkeptReplies';
  }
}
