import type { RetrySettings } from '../pipeline/pipeline.ts';
import type { JobRecord } from '../plan/job.ts';
import { type Committed, StateError, type Turn, type TurnSlices, UnkeptReplies } from '../state/store.ts';
import type { Clock } from './clock.ts';
import type { RunEnd } from './events.ts';
import { backoffMs } from './machine/retry/backoff.ts';
import type { Hold, RunStore } from './ports.ts';
import { isPaid, type RunCommit } from './scheduler/commit.ts';

/** A commit that is not durable, or not all of it. */
export interface CommitFailure {
  /** What the store threw. */
  readonly error: unknown;
  /** The part that is not durable yet, or not carried out. */
  readonly left: RunCommit;
}

/** Why a commit failed; else it is durable, and its submissions are counted: all of it, or what others do not hold. */
export type CommitResult = CommitFailure | Committed | undefined;

/** True for a commit that is not durable, or not all of it. */
export const isFailure = (result: CommitResult): result is CommitFailure =>
  result !== undefined && 'error' in result;

export type DiskEnd = Extract<RunEnd, { kind: 'disk' }>;

/** How a run ends whose state cannot be written. @throws what is no failure of the state */
export function diskEnd(error: unknown): DiskEnd {
  if (!(error instanceof StateError)) throw error;
  return { kind: 'disk', code: error.code, message: error.message };
}

/**
 * Makes commits durable, one at a time: first the records and attempts, then the count of the submissions that the commit is about to send.
 * The result is a promise only where the store returns one, so that a synchronous store delays nothing.
 */
export class CommitWriter {
  readonly #store: Pick<RunStore, 'commit' | 'countSubmissions'>;
  readonly #onDurable: (records: readonly JobRecord[]) => void;
  readonly #run: { readonly invocation: number; readonly sent?: string | undefined };
  readonly #facts: () => Turn['facts'];

  /**
   * @param run its number, and what left lately, to be kept with a commit that sends something paid
   * @param onDurable is given the records of each commit that is durable
   * @param facts what is kept with the next commit beside it
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
    const { records, attempts, effects, holds, heard, redos } = commit;
    const submits = effects.filter(isPaid).length;
    if (records.length + attempts.length + submits + (heard?.length ?? 0) === 0) return undefined;
    const { invocation } = this.#run;
    const sent = submits === 0 ? undefined : this.#run.sent;
    const facts = this.#facts();
    const kept = {
      ...(sent !== undefined && { sent }),
      ...(facts !== undefined && { facts }),
      ...(holds !== undefined && { slices: slicesOf(holds) }),
      ...(heard !== undefined && { heard }),
      ...(redos !== undefined && { redos }),
    };
    return after(
      () => this.#store.commit({ records, attempts, submits, invocation, ...kept }),
      (committed) => {
        this.#onDurable(records);
        // A store that others write too counts by itself.
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
      // The records are durable, the effects have not been carried out.
      (error) => ({ error, left: { ...commit, records: [], attempts: [] } }),
    );
  }
}

/** What fences a commit: the slices of its records, as they are held, and what was known of the records. */
export function slicesOf(holds: ReadonlyMap<string, Hold>): TurnSlices {
  const epochs = new Map<number, number>();
  for (const { slice, epoch } of holds.values()) epochs.set(slice, epoch);
  const basis = [...holds].flatMap(([key, hold]) =>
    hold.basis === undefined ? [] : [[key, hold.basis] as const],
  );
  return { of: new Map([...holds].map(([key, { slice }]) => [key, slice])), epochs, basis: new Map(basis) };
}

/** Does some work, then calls `onDone` or `onFailed`: at once where the work returns no promise. */
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

/** How often the commit at hand could not be made durable. */
export class CommitTries {
  readonly #clock: Clock;
  readonly #retry: RetrySettings;
  #count = 0;
  #rests = false;

  constructor(clock: Clock, retry: RetrySettings) {
    this.#clock = clock;
    this.#retry = retry;
  }

  /** True until the next try. */
  get rests(): boolean {
    return this.#rests;
  }

  succeeded(): void {
    this.#count = 0;
  }

  /**
   * Another program that locks the file releases the lock sooner or later; a full disk stays full.
   *
   * @param again is called for the next try
   * @returns what cancels the next try; undefined: there is none
   */
  restAfter({ code }: DiskEnd, again: () => void): (() => void) | undefined {
    this.#count += 1;
    if (code !== 'state.busy' || this.#count >= this.#retry.attempts) return undefined;
    this.#rests = true;
    // One file, and nobody else to come back at the same moment: no jitter.
    const restMs = backoffMs(this.#count, this.#retry, () => 1);
    return this.#clock.at(this.#clock.now() + restMs, () => {
      this.#rests = false;
      again();
    });
  }
}
