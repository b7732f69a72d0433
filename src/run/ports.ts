import type { InputReader } from '../artifacts/inputs.ts';
import type { ArtifactWriter } from '../artifacts/writer.ts';
import type { EndCode } from '../pipeline/diagnostics/run-codes.ts';
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
import type { DiskPort } from './resources/disk-space.ts';

/** The part of a plan that a run needs. */
export interface RunPlan {
  /** The selected cells in order, produced one by one. */
  cells(selection: Selection): AsyncIterable<Cell>;
  /** @param isOwn without the slots of groups of cells; default: with those of which this cell is the last */
  resolve(cell: Cell, lookup: RecordLookup, isOwn?: boolean): readonly Slot[];
  /**
   * Returns the numbers of the cells whose results slots of this cell gather; empty for a cell that is the last of no group. They are not
   * greater than its own.
   */
  readonly gathers?: (cell: number) => readonly number[];
  /** Names of the steps that may run; absent: all. */
  readonly steps?: ReadonlySet<string>;
  /** Price of one submission, where known. */
  price(record: JobRecord): number | undefined;
}

/** The durable state of a run. */
export interface RunStore extends Pick<StateStore, 'get' | 'unfinished' | 'attempts' | 'totals' | 'fact'> {
  /**
   * Makes a turn durable: when it returns in a local store, otherwise when its promise resolves. The run makes one commit at a time and
   * waits for the promise; decisions made meanwhile are part of the next turn. `get` need not show a turn before it is durable.
   *
   * @returns the part that other workers have taken over, in a run on several machines
   * @throws StateError where the turn is not durable; a promise is rejected with it
   */
  commit(turn: Turn): void | Promise<void | Committed>;
  /**
   * Returns who got the task of this job by the durable state, the only source for earlier runs and other workers. Afterwards `get` shows
   * the records of these jobs and of their ancestors. @throws as `commit`
   */
  claims(record: JobRecord): TaskClaims | Promise<TaskClaims>;
  /** Writes the number of submissions outside the state, after the turn with their intents. @throws as `commit` */
  countSubmissions(): void | Promise<void>;
  /** Saves what the run has learned; no job depends on it. @throws as `commit` */
  setFact(name: string, value: string): void | Promise<void>;
  /** Durable progress of the jobs that the user wants redone; readable after `get` has shown the record of a key. */
  readonly redos: Pick<StateStore['redos'], 'of'>;
  /** Records that other workers also write, in a run on several machines. Absent: a run on one machine. */
  readonly others?: OtherRecords;
}

/**
 * Records that other workers also write. `get` shows them as last read and decides nothing: the commit decides who owns a key
 * ({@link Committed}). A `sender` known to be dead when the record was read is left out, unless there is a late fact about the record,
 * which ends the doubt first: a doubt with such a fact always has a sender.
 */
export interface OtherRecords {
  /** Number of the run, the same for all of its workers. */
  readonly invocation: number;
  /** Lease under which the record shown by `get` was written, and the record's version as `basis`; undefined: no record. */
  leaseOf(key: string): Lease | undefined;
  /**
   * Reads these records again with one query, for `get` and `leaseOf`.
   *
   * @returns the late facts about them
   */
  read(keys: readonly string[]): Promise<readonly LateFact[]>;
}

/** A worker's lease of a slice. A lease with another epoch belongs to another worker, or to the same one after it took the slice again. */
export interface Lease {
  readonly slice: number;
  readonly epoch: number;
  /** For a decision: version of the record that it was based on, which another slice may have written. Absent where there was no record. */
  readonly basis?: string;
}

/** An unfinished record in a slice that a worker takes over. */
export interface LeftRecord {
  readonly record: JobRecord;
  /** The worker that held the slice when the record was written, unless it is known to be dead; it may still send what it intended. */
  readonly sender?: string;
  /** A late fact about the record's submission. */
  readonly lateFact?: LateFact;
}

/** Cells of a slice that this worker holds. The first batch starts the lease; the slice's unfinished records are adopted with it. */
export interface SliceBatch extends Lease {
  /** With the first batch: the slice's unsettled records, and those in doubt with a late fact. */
  readonly left?: readonly LeftRecord[];
  /** True where these are the last cells of the slice. */
  readonly isWhole: boolean;
}

/** Cells from a source: of one slice, in order. */
export interface CellBatch {
  readonly cells: readonly Cell[];
  /** The slice. Absent: a run on one machine. */
  readonly of?: SliceBatch;
  /** True where there are no more cells. */
  readonly last: boolean;
}

/** The source of a run's cells: on one machine the plan, for a worker its slices. */
export interface CellSource {
  /** Returns the available cells, at most `most`. Waits only while there are none. Returns no cells once the signal is aborted. */
  next(most: number, signal: AbortSignal): Promise<CellBatch>;
  /** Reports that a slice has ended here, with durable decisions. @param lease `belowDoubt`: jobs are left below an unconfirmed one */
  end?(lease: Lease & { readonly belowDoubt?: true }, how: SliceEnd): void;
  /**
   * Registers a listener for slices that another worker has taken over, called before a commit reports it.
   *
   * @returns a function that removes the listener
   */
  onLost?(listener: (lease: Lease) => void): () => void;
  /**
   * Registers a listener that is told whether slices of dead workers wait to be taken over. They are requested even if no cells are needed:
   * their tasks are paid for, and nobody polls them until then.
   *
   * @returns a function that removes the listener
   */
  onOrphans?(listener: (areThere: boolean) => void): () => void;
  /** Stops requesting cells and gives back all slices still held. */
  close?(): Promise<void>;
}

/** Send times for the requests of one route: a rate limit. */
export interface SendTimes {
  /** Unix ms from which the next request may be sent; a past time means now. */
  nextAt(): number;
  /** Uses the time that `nextAt` returned. */
  take(now: number): void;
  /**
   * Waits until a decided request may be sent, because a commit lies between decision and sending. Returns a callback for when it is sent,
   * or undefined where the signal ended the wait and it must not be sent. Absent: requests are sent when decided.
   */
  pass?(signal: AbortSignal): OnDeparture | Promise<OnDeparture | undefined>;
}

/** Callback for the first byte of a request, or for its passing the gate if no port reports that. `false`: it was never sent. */
export type OnDeparture = (hasLeft: boolean) => void;

/** Send times for text calls: a token rate limit. */
export interface TokenSendTimes {
  /** Unix ms from which a call of this many tokens may be sent; a past time means now. */
  nextAt(tokens: number): number;
  /** Counts a sent call with its estimated tokens. */
  take(key: string, tokens: number, now: number): void;
  /** Counts the actual tokens of an answered call; undefined where they are unknown. */
  settle(key: string, tokens: number | undefined, now: number): void;
}

/** Number of tasks that this run may have in flight. It may change during the run. */
export interface TaskSlots {
  readonly granted: number;
  /** Reports the number of tasks in flight. */
  note?(tasks: number): void;
}

/** Largest estimated usage of a request, before it is sent. */
export interface Reserve {
  /** Absent where the request has no price. */
  readonly cost?: number;
  /** Tokens of a text call. */
  readonly tokens: number;
}

/** The remaining budget. */
export interface Allowance {
  /**
   * Returns why a job may not be submitted, or undefined. `wait`: not before the allowance is refilled, which {@link SharedLimits.onMore}
   * reports. A run end: never in this run.
   *
   * @param reserve estimated usage of the request
   */
  refusal(record: JobRecord, reserve: Reserve): Extract<RunEnd, { kind: 'budget' }> | 'wait' | undefined;
  /**
   * Reports a changed record, and with it changed spending or reserves.
   *
   * @param reserve estimated usage of the request in flight; absent where there is none
   */
  note?(before: JobRecord, after: JobRecord, reserve?: Reserve): void;
}

/** A gate for paid requests: a worker that others may consider dead sends nothing. */
export interface SendFence {
  /** Checked right before the first byte of a request is sent. */
  readonly isOpen: boolean;
  /**
   * Waits until the gate is open; returns undefined where it is open.
   *
   * @returns false where it will never open, or the signal ended the wait: the request must not be sent
   */
  pass(signal: AbortSignal): undefined | Promise<boolean>;
}

/** A kind of request that is closed for the rest of a run. */
export interface ClosedKind {
  readonly route: 'submit' | 'text';
  /** Name of the kind for users: `pan`, `edits`, `model (chat)`. */
  readonly name: string;
  readonly code: EndCode;
  readonly message: string;
  /** Steps, branches and clicks that requested only this kind. */
  readonly names: readonly string[];
}

/** Work left to a later run, because kinds of request are closed or were never served to this worker. */
export interface LeftWork {
  /** Per kind: `left`, the number of jobs put back, and `isOpen` where the kind is not closed, so that other workers may use it. */
  readonly closed: readonly (ClosedKind & { readonly left: number; readonly isOpen?: true })[];
  /** Number of cells that were not begun. */
  readonly cells: number;
  /** Steps that requested no closed kind. */
  readonly openSteps: readonly string[];
}

/** Closed kinds, shared by the workers of a run. */
export interface SharedClosings {
  /** Kinds closed by any worker, as far as this worker knows. */
  readonly closed: readonly ClosedKind[];
  /** From now on reports to other workers what this worker has closed and left. */
  report(left: () => LeftWork): void;
}

/** Limits that a run shares with others, in addition to its own; an absent one: only the run's own. */
export interface SharedLimits {
  readonly sendTimes?: Readonly<Partial<Record<Route, SendTimes>>>;
  readonly tokens?: TokenSendTimes;
  readonly taskSlots?: TaskSlots;
  readonly allowance?: Allowance;
  /** Routes on which the service has served any run or worker that shares these limits. */
  readonly served?: Pick<Set<Route>, 'has'> & { add(route: Route): unknown };
  /** Ids of the kinds of request that the service has served to any run or worker that shares these limits. */
  readonly kinds?: Pick<Set<string>, 'has'> & { add(id: string): unknown };
  /** Absent: a run on one machine. */
  readonly closings?: SharedClosings;
  /**
   * Registers a listener that is called whenever these limits allow more than before (task slots were granted, or the allowance was
   * refilled), and when another worker has closed a kind. A limit that only depends on time (`SendTimes`) needs no call.
   *
   * @returns a function that removes the listener
   */
  readonly onMore?: (listener: () => void) => () => void;
}

/** The service address that requests go to. */
export interface ServiceAddress {
  /** Identifies the address together with everything that decides where its endpoints are. */
  readonly id: string;
  /** What is known of the address, from this run or others. */
  readonly endpoints: Pick<KnownEndpoints, 'hasAnswered' | 'everAnswered' | 'onAnsweredElsewhere'> & {
    showsButtons: boolean;
  };
}

/** A store for result files that may be temporarily unavailable. */
export interface ResultStore {
  /**
   * Registers a listener for changes: the reason, for the user, why the store is unavailable, or undefined once it is back.
   *
   * @returns a function that removes the listener
   */
  onAway(listener: (why: string | undefined) => void): () => void;
}

/** Ports of a run: everything outside its own logic. */
export interface RunPorts {
  readonly store: RunStore;
  readonly service: ImageService;
  readonly text: TextService;
  /** Reader of the images in requests, and of masks. */
  readonly inputs: InputReader;
  readonly artifacts: ArtifactWriter;
  /** A store for results that may be unavailable; absent: a disk, which is there or fails. */
  readonly results?: ResultStore;
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** The service address; what is learned about it applies to no other address. */
  readonly address?: ServiceAddress;
  /** Limits shared with other runs; absent: only the run's own. */
  readonly shared?: SharedLimits;
  /** Absent: paid requests may be sent as soon as they are decided. */
  readonly fence?: SendFence;
  /** Source of the cells; absent: the plan. */
  readonly cells?: CellSource;
  /** Receives results of paid requests, in a run on several machines. */
  readonly resultLog?: ResultLog;
  /** Read once a minute, for the log. */
  readonly memory?: () => MemoryReading;
  /** Checked at the start of the run and once a minute; absent: never. */
  readonly disk?: DiskPort;
}

/** A log for results of paid requests that are not durable yet, for a worker whose state may be unreachable. */
export interface ResultLog {
  /** Saves a result. @returns an increasing number */
  note(fact: LateFact): number;
  /** Reports that all results up to this number are in the state. */
  durable(upTo: number): void;
}

/** Settings of one invocation, from the pipeline and the flags. */
export interface RunSettings {
  /** Undefined: the gateway's default. */
  readonly speed: Speed | undefined;
  readonly limits: Limits;
  readonly retry: RetrySettings;
  readonly timeouts: {
    readonly taskMs: number;
    /** Default 2 hours. */
    readonly queueMs?: number;
    /** Longest wait for a text call; no other worker makes the call again before. Default 10 minutes. */
    readonly textMs?: number;
  };
  readonly poll: {
    readonly minMs: number;
    readonly maxMs: number;
    /** Polls several tasks with one request where the gateway supports that. Default off. */
    readonly list?: boolean;
  };
  /** True where image submissions carry their job's key (`service.tag`). Default on. */
  readonly tag?: boolean;
  /** Which whole replies of text calls are written. Default `all`. */
  readonly keepReplies?: KeepReplies;
  readonly budget: Budget;
  readonly prices: Readonly<Record<string, Price>>;
  /** `--retry-failed`; with `--code` only failures of that code. */
  readonly retryFailed?: { readonly code?: string };
  readonly inDoubt: 'hold' | 'retry';
  /** `--in-doubt find`: searches soon for the tasks of jobs that this run puts in doubt, where the gateway lists its tasks. */
  readonly findInDoubt?: true;
  /** `--relearn`: first forgets what earlier runs have learned about the service. */
  readonly relearn?: boolean;
  /** Error codes of failures that `--fail-fast` and `--max-failures` ignore (`failures.accept`). Default none. */
  readonly acceptedFailures?: readonly string[];
  readonly failFast: boolean;
  /** `--max-failures`: number of failed jobs of this invocation that ends the run. */
  readonly maxFailures?: number;
  /** `--max-submits`: limit on the submissions of this invocation. */
  readonly maxSubmits?: number;
  readonly maxDurationMs?: number;
}

/** Signals that end a run early. */
export interface RunControl {
  /** First signal: begin nothing new, settle what is in flight. */
  readonly drain: AbortSignal;
  /** Second signal: leave at once. */
  readonly leave: AbortSignal;
  /**
   * Registers a listener for the end of the whole run caused by another worker: its 401, the budget, `--fail-fast`. This worker then
   * drains. Ends caused by this worker are reported by `run:stopping`.
   *
   * @returns a function that removes the listener
   */
  readonly onEnd?: (listener: (end: RunEnd) => void) => () => void;
}

/** The result of one invocation. */
export interface RunReport {
  readonly end: RunEnd;
  readonly submits: number;
  /** Tokens of the replies to text calls. */
  readonly tokens: number;
  /** Number of finished jobs whose redo failed: they stay as they were. */
  readonly redosFailed: number;
  readonly startedAt: number;
  readonly finishedAt: number;
  /** The first error of a listener; the run itself is not affected. */
  readonly listenerError?: unknown;
}
