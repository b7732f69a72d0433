import { createHash } from 'node:crypto';

/**
 * States of a job that the user wants to redo. `waiting`: not begun, or given back. `begun`: submitted; its record says the rest.
 * `made`: settled, and its order is open. `closed`: its order is closed.
 */
export const redoStates = ['waiting', 'begun', 'made', 'closed'] as const;

/** A state of {@link redoStates}; the database keeps its position in that list. */
export type RedoState = (typeof redoStates)[number];

/** A change of a redo that a record brings. */
export type RedoChange = Exclude<RedoState, 'closed'>;

/** The stored state of a job in an order. */
export interface RedoEntry {
  readonly state: RedoState;
  /** Name of the latest requested set of jobs with this one in it: the same request again is not a new order. */
  readonly asked: string;
}

/** A request of the user to redo jobs. */
export interface RedoRequest {
  readonly keys: readonly string[];
  /** Whether jobs that an earlier order has made are redone too (`--redo JOB`, `--redo-again`). */
  readonly again: boolean;
}

/** Numbers of jobs of a request: `added` are redone, `open` were requested before, `made` stay as they are. */
export interface RedoAdded {
  readonly added: number;
  readonly open: number;
  readonly made: number;
}

/** Numbers of jobs in open orders. */
export interface RedoCounts {
  readonly waiting: number;
  readonly begun: number;
  readonly made: number;
}

/** Most jobs in a group. */
const askedAtOnce = 1000;

/** The redo orders of a state that one process writes. */
export interface RedoOrders {
  /** Returns the state of a job in an open order. Undefined: no open order contains it. */
  of(key: string): 'waiting' | 'begun' | undefined;
  /** Adds a request, durably and as a whole; facts about a finished plan are deleted with it. @throws StateError */
  add(request: RedoRequest): RedoAdded;
  /** Cancels the remaining jobs; a job in progress is not redone once it is given back. @returns how many jobs @throws StateError */
  cancel(): number;
  /** Closes orders without remaining jobs. @returns how many jobs they have made @throws StateError */
  close(): number;
}

/** Answers questions about the redo orders of a state. */
export interface RedoReader {
  counts(): Promise<RedoCounts>;
  /** Returns the entries of these keys; a key without an order is absent. The caller limits the number of keys. */
  entries(keys: readonly string[]): Promise<ReadonlyMap<string, RedoEntry>>;
  /** Yields the keys of `waiting` jobs, in order. */
  waiting(): AsyncIterable<string>;
}

/** Whether an order still has jobs to make or to settle. */
export const isOpenOrder = ({ waiting, begun }: RedoCounts): boolean => waiting + begun > 0;

/** Returns a name for the jobs of a request, whatever their sequence. */
export function nameOfRequest({ keys, again }: RedoRequest): string {
  const hash = createHash('sha256').update(again ? 'again' : 'once');
  for (const key of keys.toSorted()) hash.update(`\n${key}`);
  return hash.digest('hex').slice(0, 32);
}

/**
 * Returns the new entry of one requested job. An open job keeps its state; a made job begins again if the request differs from the one
 * before, or its order was closed.
 *
 * @param known undefined: no order ever contained it
 */
export function askedAnew(known: RedoEntry | undefined, asked: string, again: boolean): RedoEntry {
  if (known === undefined) return { state: 'waiting', asked };
  if (known.state === 'waiting' || known.state === 'begun') return { state: known.state, asked };
  const isMore = again && (known.state === 'closed' || known.asked !== asked);
  return isMore ? { state: 'waiting', asked } : known;
}

/** Jobs of a request that are looked up together. */
export interface RedoGroup {
  readonly keys: readonly string[];
  /**
   * Takes the known entries; a key without an order is absent.
   *
   * @returns the entries that are new or changed
   */
  readonly take: (known: ReadonlyMap<string, RedoEntry>) => ReadonlyMap<string, RedoEntry>;
}

/** Applies a request to its jobs, group by group. */
export class RedoAsked {
  /** Sums over the groups so far. */
  readonly sums = { added: 0, open: 0, made: 0 };
  readonly #request: RedoRequest;

  constructor({ keys, again }: RedoRequest) {
    this.#request = { keys: [...new Set(keys)], again };
  }

  *groups(): Generator<RedoGroup> {
    const { keys } = this.#request;
    const asked = nameOfRequest(this.#request);
    for (let from = 0; from < keys.length; from += askedAtOnce) {
      const group = keys.slice(from, from + askedAtOnce);
      yield { keys: group, take: (known) => this.#take(group, known, asked) };
    }
  }

  #take(
    keys: readonly string[],
    known: ReadonlyMap<string, RedoEntry>,
    asked: string,
  ): ReadonlyMap<string, RedoEntry> {
    const changed = new Map<string, RedoEntry>();
    for (const key of keys) {
      const before = known.get(key);
      const after = askedAnew(before, asked, this.#request.again);
      if (after !== before) changed.set(key, after);
      if (after.state === 'made' || after.state === 'closed') this.sums.made += 1;
      else if (before?.state === after.state) this.sums.open += 1;
      else this.sums.added += 1;
    }
    return changed;
  }
}
