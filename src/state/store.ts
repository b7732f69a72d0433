import type { Attempt, JobRecord } from '../plan/job.ts';
import type { ReplyPlace } from '../plan/job-request.ts';
import type { InputFile, StateReader, StoreTotals } from './reader.ts';
import type { RedoChange, RedoOrders } from './redo-order.ts';

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
  /** What left lately on routes with a rate, kept under {@link sentFact}. Absent: as before. */
  readonly sent?: string;
  /** How far the jobs of open orders are from now on, by key; what no open order names stays so. Absent: as before. */
  readonly redos?: ReadonlyMap<string, RedoChange>;
  /** Facts that are kept with it, by name; nothing depends on them. A turn of facts alone is none. Absent: none. */
  readonly facts?: Readonly<Record<string, string>>;
  /** Whose these records are, in a run on several machines. Absent: a run on one machine. */
  readonly slices?: TurnSlices;
  /** What was heard for slices that this worker has lost. Kept whatever becomes of the rest of the turn. Absent: nothing. */
  readonly heard?: readonly LateFact[];
}

/** The slices that a turn of a worker is about: what fences it. */
export interface TurnSlices {
  /** The slice for which each record was decided, by its key. The attempts of a key go with its record. */
  readonly of: ReadonlyMap<string, number>;
  /**
   * The epoch under which this worker holds each of these slices. Where a slice has another epoch by now, somebody has taken it over,
   * and nothing of it is written; no clock decides that.
   */
  readonly epochs: ReadonlyMap<number, number>;
  /** From which version of its record each decision was made, by key; a key that nobody had written is absent. */
  readonly basis: ReadonlyMap<string, string>;
}

/**
 * What became of a turn on several machines. A record is written where nobody has written its key yet; where its own slice wrote it
 * last; and where it rests (it is settled, pending or modal) and is still the version that this was decided from. In that case it
 * belongs to the new slice from then on.
 */
export interface Committed {
  /** Keys that belong to another slice by now: their records and attempts are not written. From now on `get` shows the record as it is. */
  readonly refused: ReadonlySet<string>;
  /** Slices that somebody has taken over: nothing of theirs is written. */
  readonly lost: ReadonlySet<number>;
}

/**
 * What a worker knows of a submission whose slice it has lost: a fact, and no decision. It is kept without regard to who holds the slice
 * by now, by what names one submission: key, `submittedAt` and `submittedBy`. What is known of a task stays known.
 */
export interface LateFact {
  readonly key: string;
  /** As in the record of the intent: the moment by the clock of the worker that submitted it. */
  readonly submittedAt: number;
  /** As in the record of the intent. */
  readonly submittedBy: string;
  /** The task that the service made for it. Absent: it certainly made none, so the job may be submitted again. */
  readonly taskId?: string;
  /** Of a text call that was answered: what its worker heard, as JSON in one line. Absent: nothing was made, or it is no text call. */
  readonly answer?: string;
}

/** Who got the id of a task, as a state knows it: ids are not always unique (gateway 3.4). */
export interface TaskClaims {
  /** Keys of the jobs that were given it, of one burst; the job that is asked about may be among them. */
  readonly keys: readonly string[];
  /** A submission of another worker that left in the same moment is not answered yet: it may get the id too. */
  readonly mayGrow: boolean;
}

/** Submissions of one burst are this close to each other at most, ms: the clocks of two workers may be apart. */
export const burstMs = 900_000;

/** Name of the fact that says what left lately, so that a restart keeps within `limits`. */
export const sentFact = 'run.sent';

/** Name of the fact that says how many runs have made something of theirs durable. */
export const invocationFact = 'run.invocation';

/**
 * Name of the fact by which a run with nothing to do is recognised (`app/fingerprint`). Whatever changes what is known of jobs or of files
 * takes it away in the same transaction, so that it is never there beside a state that it does not describe, and comes back
 * with the state where an older copy is put in place.
 */
export const fingerprintFact = 'run.fingerprint';

/**
 * The durable state of one run directory, written by the process that holds its lock. What is paid goes by three steps: its
 * intent is committed, then it is counted, then it is sent. So the count is never ahead of a state that is whole, wherever the
 * process dies, and never behind what was sent.
 *
 * The run that writes it decides from what it has written, without waiting: these few questions are answered at once. All
 * others go to `reader`.
 */
export interface StateStore {
  /** The file that it lies in, for messages; absent where it lies in none. */
  readonly file?: string;
  /** The same state as other commands ask for it; it shows every commit, one whose promise is not resolved too. */
  readonly reader: StateReader;
  get(key: string): JobRecord | undefined;
  /** Submitting, running, modal and saving jobs, oldest first: what a crash left behind. */
  unfinished(): readonly JobRecord[];
  totals(): StoreTotals;
  attempts(key: string): readonly Attempt[];
  /** Who got the task of this job. A state that one process writes knows it from what earlier runs have left. */
  claims(record: JobRecord): TaskClaims;
  /** The jobs that the user wants made anew. */
  readonly redos: RedoOrders;
  inputFile(path: string): InputFile | undefined;
  fact(name: string): string | undefined;
  /**
   * Keeps the whole reply to a call of a job, as JSON in one line: durable with the next commit of a record.
   *
   * @returns where it lies from then on @throws as `commit`, and StateError `directory.link` | `directory.kind`
   */
  keepReply(job: string, reply: string): ReplyPlace;
  /** Gives up some of the room on the disk that is held for answers, for the files of one. @returns false: there is none */
  makeRoom(): boolean;
  /** Nothing more is sent: no room is held for answers any more. */
  releaseRoom(): void;
  /**
   * Cuts off the replies that an earlier run wrote for a commit that never came. Not to be called for a state that is older than its
   * directory: there they are all that is left of what was paid. @throws as `keepReply`
   */
  cutReplies(): void;
  /** Durable when it returns (`synchronous=FULL`). @throws StateError `state.full` | `state.readonly` | `state.busy` | `state.replaced` | `state.io` */
  commit(turn: Turn): void;
  /**
   * The same, while other work goes on: durable once the promise is resolved, which is rejected with what `commit` throws; undefined
   * where the turn is empty. Until then the turn may be shown, and nothing may leave that depends on it. One at a time. After a sync
   * that failed, the store takes nothing more: what it shows may not be on the disk. It is rejected with {@link UnkeptReplies} where only
   * the replies of a turn that sends nothing could not be written.
   */
  commitSoon(turn: Turn): void | Promise<void>;
  /** Says outside the state how many submissions are durable in it; a killed process has said so. @throws as `commit` */
  countSubmissions(): void;
  /** From here on the state counts as whole: the submissions that are missing in it count as known. */
  acceptMissing(): void;
  setFact(name: string, value: string): void;
  /** Replaces what was known of the file at this path. */
  rememberInputFile(file: InputFile): void;
  /** Closes its reader with it. */
  close(): void;
}

/** What commands say to one another about a run, beside its records: in a run directory, or on an engine. */
export interface FactKeeper {
  readonly reader: StateReader;
  fact(name: string): string | undefined;
  /** A local state has kept it when it returns. @throws StateError */
  setFact(name: string, value: string): void | Promise<void>;
}

/** The disk or the file failed: the run stops (exit 74) and can be continued. */
export class StateError extends Error {
  /**
   * `state.full` | `state.readonly` | `state.io` | `state.busy` | `state.corrupt` | `state.version` | `state.foreign` |
   * `state.network` | `state.locked` | `state.old` | `state.replaced` | `state.schema`; of a run directory's files
   * `directory.link` | `directory.kind` | `directory.system` | `directory.tracked` | `directory.stranger` | `directory.foreign`; of an engine `engine.…`
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

/**
 * The turn is durable, and the whole replies to its text calls could not be kept: what it made durable names none. The run stops, and nothing
 * that was answered is lost but what only the replies say.
 */
export class UnkeptReplies extends StateError {
  constructor({ code, message, hint }: StateError) {
    super(code, message, hint === undefined ? {} : { hint });
    this.name = 'UnkeptReplies';
  }
}
