import type { JobRecord } from '../plan/job.ts';
import { type Committed, StateError, type Turn } from '../state/store.ts';
import type { RunEnd } from './events.ts';
import type { RunStore } from './ports.ts';
import { isPaid, type RunCommit } from './scheduler/commit.ts';

/** A commit that is not durable, or not all of it. */
export interface CommitFailure {
  /** What the store threw. */
  readonly error: unknown;
  /** The part that is not durable yet, or not carried out. */
  readonly left: RunCommit;
}

export type DiskEnd = Extract<RunEnd, { kind: 'disk' }>;

/** How a run ends whose state cannot be written. @throws what is no failure of the state */
export function diskEnd(error: unknown): DiskEnd {
  if (!(error instanceof StateError)) throw error;
  return { kind: 'disk', code: error.code, message: error.message };
}

/** Why a commit failed; undefined: it is durable, and its submissions are counted. */
type CommitResult = CommitFailure | undefined;

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
    const { records, attempts, effects } = commit;
    const submits = effects.filter(isPaid).length;
    if (records.length + attempts.length + submits === 0) return undefined;
    const { invocation } = this.#run;
    const sent = submits === 0 ? undefined : this.#run.sent;
    const facts = this.#facts();
    const kept = { ...(sent !== undefined && { sent }), ...(facts !== undefined && { facts }) };
    return after(
      () => this.#store.commit({ records, attempts, submits, invocation, ...kept }),
      () => {
        this.#onDurable(records);
        return submits === 0 ? undefined : this.#count(commit);
      },
      (error) => ({ error, left: commit }),
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

/** Does some work, then calls `onDone` or `onFailed`: at once where the work returns no promise. */
function after<T>(
  work: () => void | Promise<void | Committed>,
  onDone: () => T | Promise<T>,
  onFailed: (error: unknown) => T,
): T | Promise<T> {
  let result: void | Promise<void | Committed>;
  try {
    result = work();
  } catch (error) {
    return onFailed(error);
  }
  return result instanceof Promise ? result.then(onDone, onFailed) : onDone();
}
