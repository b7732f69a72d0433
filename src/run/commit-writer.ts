import type { RetrySettings } from '../pipeline/pipeline.ts';
import type { JobRecord } from '../plan/job.ts';
import { type Committed, StateError, type Turn, type TurnSlices, UnkeptReplies } from '../state/store.ts';
import type { Clock } from './clock.ts';
import type { RunEnd } from './events.ts';
import { backoffMs } from './machine/retry/backoff.ts';
import type { Lease, RunStore } from './ports.ts';
import { isPaid, type RunCommit } from './scheduler/commit.ts';

/** A commit that is not durable, or only partly durable. */
export interface CommitFailure {
  /** The error that the store threw. */
  readonly error: unknown;
  /** The part of the commit that is not durable, or whose effects have not run. */
  readonly left: RunCommit;
}

/** The result of a commit. Without a failure it is durable and its submissions are counted, except what others have taken over. */
export type CommitResult = CommitFailure | Committed | undefined;

/** Whether a commit is not durable, or only partly durable. */
export const isFailure = (result: CommitResult): result is CommitFailure =>
  result !== undefined && 'error' in result;

export type DiskEnd = Extract<RunEnd, { kind: 'disk' }>;

/** Returns how a run ends when its state cannot be written. @throws any error that is not about the state */
export function diskEnd(error: unknown): DiskEnd {
  if (!(error instanceof StateError)) throw error;
  return { kind: 'disk', code: error.code, message: error.message };
}

/**
 * Makes commits durable, one at a time: first the records and attempts, then the count of the submissions that the commit is about to send.
 * Returns a promise only where the store returns one, so that a synchronous store causes no delay.
 */
export class CommitWriter {
  readonly #store: Pick<RunStore, 'commit' | 'countSubmissions'>;
  readonly #onDurable: (records: readonly JobRecord[]) => void;
  readonly #run: { readonly invocation: number; readonly sent?: string | undefined };
  readonly #facts: () => Turn['facts'];

  /**
   * @param run the number of the run, and its latest sends, which are saved with each commit that sends a paid request
   * @param onDurable called with the records of each durable commit
   * @param facts returns further facts to save with the next commit
   */
  constructor(
    store: Pick<RunStore, 'commit' | 'countSubmissions'>,
    run: { readonly invocation: number; readonly sent?: string | undefined },
    onDurable: (records: readonly JobRecord[]) => void,
    facts: () => Turn['facts'],
  ) {
    this.#facts = facts;
    this.#store = store;
    this.#onDurable = onDurable;
    this.#run = run;
  }

  write(commit: RunCommit): CommitResult | Promise<CommitResult> {
    const { records, attempts, effects, leases, lateFacts, redos } = commit;
    const submits = effects.filter(isPaid).length;
    if (records.length + attempts.length + submits + (lateFacts?.length ?? 0) === 0) return undefined;
    const { invocation } = this.#run;
    const sent = submits === 0 ? undefined : this.#run.sent;
    const facts = this.#facts();
    const kept = {
      ...(sent !== undefined && { sent }),
      ...(facts !== undefined && { facts }),
      ...(leases !== undefined && { slices: slicesOf(leases) }),
      ...(lateFacts !== undefined && { lateFacts }),
      ...(redos !== undefined && { redos }),
    };
    return after(
      () => this.#store.commit({ records, attempts, submits, invocation, ...kept }),
      (committed) => {
        this.#onDurable(records);
        // A store that other workers also write to counts the submissions itself.
        return submits === 0 || committed !== undefined ? committed : this.#count(commit);
      },
      (error) => {
        if (!(error instanceof UnkeptReplies)) return { error, left: commit };
        this.#onDurable(records);
        return { error, left: { ...commit, records: [], attempts: [] } };
      },
    );
  }

  #count(commit: RunCommit): CommitResult | Promise<CommitResult> {
    return after(
      () => this.#store.countSubmissions(),
      () => undefined,
      // The records are durable, but the effects have not run.
      (error) => ({ error, left: { ...commit, records: [], attempts: [] } }),
    );
  }
}

/** The slices of a commit's records, with the leases and record versions that the store compares before it writes. */
export function slicesOf(leases: ReadonlyMap<string, Lease>): TurnSlices {
  const epochs = new Map<number, number>();
  for (const { slice, epoch } of leases.values()) epochs.set(slice, epoch);
  const basis = [...leases].flatMap(([key, lease]) =>
    lease.basis === undefined ? [] : [[key, lease.basis] as const],
  );
  return { of: new Map([...leases].map(([key, { slice }]) => [key, slice])), epochs, basis: new Map(basis) };
}

/** Runs work, then calls `onDone` or `onFailed`; synchronously where the work returns no promise. */
function after(
  work: () => void | Promise<void | Committed>,
  onDone: (committed: Committed | undefined) => CommitResult | Promise<CommitResult>,
  onFailed: (error: unknown) => CommitResult,
): CommitResult | Promise<CommitResult> {
  let result: void | Promise<void | Committed>;
  try {
    result = work();
  } catch (error) {
    return onFailed(error);
  }
  return result instanceof Promise
    ? result.then((committed) => onDone(committed ?? undefined), onFailed)
    : onDone(undefined);
}

/** Counts how often the current commit failed, and delays its next try. */
export class CommitTries {
  readonly #clock: Clock;
  readonly #retry: RetrySettings;
  #count = 0;
  #rests = false;

  constructor(clock: Clock, retry: RetrySettings) {
    this.#clock = clock;
    this.#retry = retry;
  }

  /** True while a delay before the next try is running. */
  get rests(): boolean {
    return this.#rests;
  }

  succeeded(): void {
    this.#count = 0;
  }

  /**
   * Schedules the next try, if there is one: another program releases its lock on the file sooner or later, but a full disk stays full.
   *
   * @param again called for the next try
   * @returns a function that cancels the next try; undefined where there is none
   */
  restAfter({ code }: DiskEnd, again: () => void): (() => void) | undefined {
    this.#count += 1;
    if (code !== 'state.busy' || this.#count >= this.#retry.attempts) return undefined;
    this.#rests = true;
    // No jitter: there is one file, and no other process that could retry at the same moment.
    const restMs = backoffMs(this.#count, this.#retry, () => 1);
    return this.#clock.at(this.#clock.now() + restMs, () => {
      this.#rests = false;
      again();
    });
  }
}
