import type { InputReader } from '../artifacts/inputs.ts';
import type { ArtifactWriter } from '../artifacts/writer.ts';
import type { Budget, KeepReplies, Limits, Price, RetrySettings, Speed } from '../pipeline/pipeline.ts';
import type { Cell, Selection } from '../plan/cell.ts';
import type { JobRecord } from '../plan/job.ts';
import type { RecordLookup, Slot } from '../plan/slot.ts';
import type { KnownEndpoints } from '../service/failures/known-endpoints.ts';
import type { ImageService } from '../service/image-service.ts';
import type { TextService } from '../service/text-service.ts';
import type { Committed, LateFact, StateStore, TaskClaims, Turn } from '../state/store.ts';
import type { Clock } from './clock.ts';
import type { MemoryReading, Route, RunEnd, SliceEnd } from './events.ts';
import type { DiskPort } from './resources/disk-room.ts';

/** What a run needs of a plan. */
export interface RunPlan {
  /** The chosen cells, lazily, in order. */
  cells(selection: Selection): AsyncIterable<Cell>;
  resolve(cell: Cell, lookup: RecordLookup): readonly Slot[];
  /** Names of the steps that may run; absent: all. */
  readonly steps?: ReadonlySet<string>;
  /** Price of one submission, where known. */
  price(record: JobRecord): number | undefined;
}

/** The durable state of a run. */
export interface RunStore extends Pick<StateStore, 'get' | 'unfinished' | 'attempts' | 'totals' | 'fact'> {
  /**
   * Makes a turn durable. A local store has done so when it returns; any other returns a promise. The run makes one commit at a time:
   * it waits for the promise, and decisions made meanwhile are part of the next turn. `get` need not show a turn before it is durable.
   *
   * @returns what others hold by now, in a run on several machines
   * @throws StateError where the turn is not durable; a promise is rejected with one
   */
  commit(turn: Turn): void | Promise<void | Committed>;
  /**
   * Who got the task of this job, by what is durable: earlier runs and other workers are asked about by nothing else. `get` shows the
   * records of these jobs, and of those that they come from, once it has answered. @throws as `commit`
   */
  claims(record: JobRecord): TaskClaims | Promise<TaskClaims>;
  /** Writes the number of submissions outside the state, after the turn that holds their intents. @throws as `commit` */
  countSubmissions(): void | Promise<void>;
  /** Keeps what the run has learned; no job depends on it. @throws as `commit` */
  setFact(name: string, value: string): void | Promise<void>;
  /** How far the jobs are that the user wants made anew, by what is durable: as `get`, once the record of a key is shown. */
  readonly redos: Pick<StateStore['redos'], 'of'>;
  /** What others write too, in a run on several machines. Absent: a run on one machine. */
  readonly others?: OtherRecords;
}

/**
 * Records that other workers write too. `get` shows them as they were when they were read last, and decides nothing: the commit
 * decides to whom a key belongs ({@link Committed}). It shows no `sender` that was known to be over when the record was read, unless
 * there is a late fact about the record, which ends the doubt first: a doubt with such a fact always has a sender.
 */
export interface OtherRecords {
  /** Number of the run, the same for all of its workers. */
  readonly invocation: number;
  /** For which slice the record of this key was written last, as `get` shows that record, and its version as `basis`; undefined: there is none. */
  holdOf(key: string): Hold | undefined;
  /**
   * Reads these records again, all with one query; `get` and `holdOf` show them from then on.
   *
   * @returns the late facts about them
   */
  look(keys: readonly string[]): Promise<readonly LateFact[]>;
}

/** A slice as a worker holds it: under another epoch somebody else holds it, or it was taken up anew. */
export interface Hold {
  readonly slice: number;
  readonly epoch: number;
  /** Of a decision: the version of the record that it was made from, which another slice may have written. Absent: there was none. */
  readonly basis?: string;
}

/** A record that a slice was left with. */
export interface LeftRecord {
  readonly record: JobRecord;
  /** Who held the slice when it was written, unless that one is known to be over: it may still send what it intended. */
  readonly sender?: string;
  /** What was heard of its submission since. */
  readonly heard?: LateFact;
}

/** Cells of a slice that this worker holds. Its first batch holds the slice: what it was left with is adopted in the very same turn. */
export interface SliceBatch extends Hold {
  /** With the first batch: its records that are not settled, and those in doubt of which something was heard. */
  readonly left?: readonly LeftRecord[];
  /** These are the last of its cells. */
  readonly isWhole: boolean;
}

/** What a source has: cells of one slice, in order. */
export interface CellBatch {
  readonly cells: readonly Cell[];
  /** Absent: a run on one machine. */
  readonly of?: SliceBatch;
  /** There are no more cells. */
  readonly last: boolean;
}

/**
 * Where the cells of a run come from. On one machine that is the plan; a worker gets them by slices.
 */
export interface CellSource {
  /** What is there, at most `most` cells: it waits while there is nothing, and never for more. Nothing where it is aborted. */
  next(most: number, signal: AbortSignal): Promise<CellBatch>;
  /** A slice has ended for this worker, and all that was decided about it is durable. @param hold of a closed one, whether jobs are left below one in doubt */
  end?(hold: Hold & { readonly belowDoubt?: true }, how: SliceEnd): void;
  /**
   * Registers a listener for slices that somebody else is known to have taken over, before a commit says so.
   *
   * @returns what removes the listener
   */
  onLost?(listener: (hold: Hold) => void): () => void;
  /**
   * Registers a listener that is told whether slices of dead workers wait to be taken over. They are asked for though no cells are
   * wanted: their tasks are paid for, and nobody polls them until then.
   *
   * @returns what removes the listener
   */
  onOrphans?(listener: (areThere: boolean) => void): () => void;
  /** Nothing more is asked for: what is still held is given back. */
  close?(): Promise<void>;
}

/** When the requests of one route may leave: a rate. */
export interface SendTimes {
  /** Unix ms from when on the next request may leave; not in the future means now. */
  nextAt(): number;
  /** Uses the moment that `nextAt` offered. */
  take(now: number): void;
  /**
   * Waits until a request that was decided may leave: between its decision and that lies a commit. Gives what is to be told when it leaves;
   * undefined: the signal ended the wait, and it must not. Absent: it may leave whenever it was decided.
   */
  pass?(signal: AbortSignal): OnDeparture | Promise<OnDeparture | undefined>;
}

/** Is told when the first byte of a request leaves, as far as its port tells: else when it has passed; false: it ended and never left. */
export type OnDeparture = (hasLeft: boolean) => void;

/** When calls may leave: a rate of tokens. */
export interface TokenSendTimes {
  /** Unix ms from when on a call of this many tokens may leave; not in the future means now. */
  nextAt(tokens: number): number;
  /** Counts a call that leaves, with its estimated tokens. */
  take(key: string, tokens: number, now: number): void;
  /** Counts the true tokens of an answered call; undefined: they are not known. */
  settle(key: string, tokens: number | undefined, now: number): void;
}

/** How many tasks this run may have in flight. The number may change while the run lasts. */
export interface TaskSlots {
  readonly granted: number;
  /** The run has so many tasks in flight. */
  note?(tasks: number): void;
}

/** What a request may use at most, as it is estimated before it leaves. */
export interface Reserve {
  /** Absent: it has no price. */
  readonly cost?: number;
  /** Of a text call. */
  readonly tokens: number;
}

/** What may be spent. */
export interface Allowance {
  /**
   * Why a job may not be submitted; undefined: it may. `wait`: it may once the allowance is refilled, which
   * {@link SharedLimits.onMore} reports. An end: it never may in this run.
   *
   * @param reserve of the request
   */
  refusal(record: JobRecord, reserve: Reserve): Extract<RunEnd, { kind: 'budget' }> | 'wait' | undefined;
  /**
   * A record has changed, and with it what is spent or reserved.
   *
   * @param reserve of its request that is under way now; absent: there is none
   */
  note?(before: JobRecord, after: JobRecord, reserve?: Reserve): void;
}

/** Whether paid requests may leave: a worker that others may take for dead sends nothing. */
export interface SendFence {
  /** Asked right before the first byte of a request leaves. */
  readonly isOpen: boolean;
  /**
   * Waits until it is open; undefined: it is.
   *
   * @returns false where it never will be, or the signal ended the wait: the request must not leave
   */
  pass(signal: AbortSignal): undefined | Promise<boolean>;
}

/** A kind of request that is closed for the rest of a run. */
export interface ClosedKind {
  readonly route: 'submit' | 'text';
  /** As users call it: `pan`, `edits`, `model (chat)`. */
  readonly name: string;
  readonly code: string;
  readonly message: string;
  /** Steps, branches and clicks that have asked for nothing else. */
  readonly names: readonly string[];
}

/** What is left to a later run because kinds of request are closed, or as a worker was served none. */
export interface LeftWork {
  /** `left`: jobs of the kind that were put back; `isOpen`: it is not closed, and others may ask for it. */
  readonly closed: readonly (ClosedKind & { readonly left: number; readonly isOpen?: true })[];
  /** Cells that were not begun. */
  readonly cells: number;
  /** Steps that asked for nothing that is closed. */
  readonly openSteps: readonly string[];
}

/** The closed kinds of a run that several workers carry out. */
export interface SharedClosings {
  /** Those that any worker has closed, as far as it is known here. */
  readonly closed: readonly ClosedKind[];
  /** The others are told from now on what this worker has closed and left. */
  tell(left: () => LeftWork): void;
}

/** Limits that a run shares with others, each beside the run's own; absent: its own alone. */
export interface SharedLimits {
  readonly sendTimes?: Readonly<Partial<Record<Route, SendTimes>>>;
  readonly tokens?: TokenSendTimes;
  readonly rooms?: TaskSlots;
  readonly allowance?: Allowance;
  /** Routes on which the service has served a request of anybody who shares these limits. */
  readonly served?: Pick<Set<Route>, 'has'> & { add(route: Route): unknown };
  /** Ids of the kinds of request that the service has served to anybody who shares these limits. */
  readonly kinds?: Pick<Set<string>, 'has'> & { add(id: string): unknown };
  /** Absent: a run on one machine. */
  readonly closings?: SharedClosings;
  /**
   * Registers a listener that is called whenever these limits allow more than before: rooms were granted, or the allowance was
   * refilled; and when another worker has closed a kind. A limit that only passes with time (`SendTimes`) needs no call.
   *
   * @returns what removes the listener
   */
  readonly onMore?: (listener: () => void) => () => void;
}

/** The address that requests go to. */
export interface ServiceAddress {
  /** Names the address with all that decides where its endpoints lie. */
  readonly id: string;
  /** What was seen of it, here or elsewhere. */
  readonly endpoints: Pick<KnownEndpoints, 'hasAnswered' | 'everAnswered' | 'onAnsweredElsewhere'> & {
    showsButtons: boolean;
  };
}

/** A store of results that may be away for a while. */
export interface ResultStore {
  /**
   * Registers a listener that is told that the store takes no results, in words for the user, and, with undefined, that it does again.
   *
   * @returns what removes the listener
   */
  onAway(listener: (why: string | undefined) => void): () => void;
}

/** The ports of a run: everything outside of its own logic. */
export interface RunPorts {
  readonly store: RunStore;
  readonly service: ImageService;
  readonly text: TextService;
  /** The images that requests show, and masks. */
  readonly inputs: InputReader;
  readonly artifacts: ArtifactWriter;
  /** Where results go that may be away; absent: a disk, which is there or fails. */
  readonly results?: ResultStore;
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Where requests go; what is learned of it counts for no other address. */
  readonly address?: ServiceAddress;
  /** Limits that other runs share; absent: the run's own alone. */
  readonly shared?: SharedLimits;
  /** Absent: paid requests may leave whenever they were decided. */
  readonly fence?: SendFence;
  /** Where the cells come from; absent: from the plan. */
  readonly cells?: CellSource;
  /** Told what is heard of paid requests, in a run on several machines. */
  readonly heard?: HeardPort;
  /** Asked once a minute, for the log. */
  readonly memory?: () => MemoryReading;
  /** Checked when the run begins and once a minute; absent: never. */
  readonly disk?: DiskPort;
}

/** What is heard of paid requests and not durable yet, for a worker whose state may be out of reach. */
export interface HeardPort {
  /** @returns a number that grows */
  note(fact: LateFact): number;
  /** All up to this number is in the state. */
  durable(upTo: number): void;
}

/** The settings of one invocation, from the pipeline and the flags. */
export interface RunSettings {
  /** Undefined: the gateway's own. */
  readonly speed: Speed | undefined;
  readonly limits: Limits;
  readonly retry: RetrySettings;
  readonly timeouts: {
    readonly taskMs: number;
    /** Default 2 hours. */
    readonly queueMs?: number;
    /** For how long a text call is waited for at most: nobody else makes it again before. Default 10 minutes. */
    readonly textMs?: number;
  };
  readonly poll: {
    readonly minMs: number;
    readonly maxMs: number;
    /** Polls several tasks with one request where the gateway offers that. Default off. */
    readonly list?: boolean;
  };
  /** Image submissions carry their job's key (`service.tag`). Default on. */
  readonly tag?: boolean;
  /** Which whole replies of text calls are kept. Default `all`. */
  readonly keepReplies?: KeepReplies;
  readonly budget: Budget;
  readonly prices: Readonly<Record<string, Price>>;
  /** `--retry-failed`, with `--code` only failures of that code. */
  readonly retryFailed?: { readonly code?: string };
  readonly inDoubt: 'hold' | 'retry';
  /** `--in-doubt find`: the tasks of jobs that this run puts in doubt are searched for soon, where the gateway lists its tasks. */
  readonly findInDoubt?: true;
  /** `--relearn`: what earlier runs have learned about the service is forgotten first. */
  readonly relearn?: boolean;
  readonly failFast: boolean;
  /** `--max-failures`: failed jobs of this invocation that end the run. */
  readonly maxFailures?: number;
  /** `--max-submits`: of this invocation. */
  readonly maxSubmits?: number;
  readonly maxDurationMs?: number;
}

/** Signals that end a run early. */
export interface RunControl {
  /** First signal: open nothing new, settle what is in flight. */
  readonly drain: AbortSignal;
  /** Second signal: leave at once. */
  readonly leave: AbortSignal;
  /**
   * Registers a listener for the end of the whole run where that comes from another worker: its 401, the budget, `--fail-fast`. This
   * one then drains. What ends the run here, `run:stopping` says.
   *
   * @returns what removes the listener
   */
  readonly onEnd?: (listener: (end: RunEnd) => void) => () => void;
}

/** What one invocation did. */
export interface RunReport {
  readonly end: RunEnd;
  readonly submits: number;
  /** Tokens of the replies to text calls. */
  readonly tokens: number;
  /** Finished jobs whose redo failed: they stay as they were. */
  readonly redosFailed: number;
  readonly startedAt: number;
  readonly finishedAt: number;
  /** The first error of a listener; the run itself is not affected. */
  readonly listenerError?: unknown;
}
