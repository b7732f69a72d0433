import { createHash } from 'node:crypto';

/**
 * How far a job is that the user wants made anew. `waiting`: not begun, or given back. `begun`: from its submission on; its record says
 * the rest. `made`: settled, and its order is not closed. `closed`: its order is.
 */
export const redoStates = ['waiting', 'begun', 'made', 'closed'] as const;

/** See {@link redoStates}; a state keeps the place in that list. */
export type RedoState = (typeof redoStates)[number];

/** What a record says of the order that has its job made anew. */
export type RedoChange = Exclude<RedoState, 'closed'>;

/** A job of an order, as it is kept. */
export interface RedoEntry {
  readonly state: RedoState;
  /** Names the set of jobs that was asked for last with this one among them: the same words again are no new order. */
  readonly asked: string;
}

/** Jobs that the user wants made anew. */
export interface RedoRequest {
  readonly keys: readonly string[];
  /** Also those that an earlier order has made (`--redo JOB`, `--redo-again`). */
  readonly again: boolean;
}

/** How many jobs of a request are what: `added` begin anew, `open` were asked for before, `made` stay as they were made. */
export interface RedoAdded {
  readonly added: number;
  readonly open: number;
  readonly made: number;
}

/** The jobs of the orders that are not closed. */
export interface RedoCounts {
  readonly waiting: number;
  readonly begun: number;
  readonly made: number;
}

/** Jobs of a group at most. */
const askedAtOnce = 1000;

/** The orders of a state that one process writes. */
export interface RedoOrders {
  /** Undefined: no open order has the job to be made. */
  of(key: string): 'waiting' | 'begun' | undefined;
  /** Durable when it returns, as a whole; what is known of a finished plan is forgotten with it. @throws StateError */
  add(request: RedoRequest): RedoAdded;
  /** Drops what is left: what is under way is not made anew once it is given back. @returns how many jobs @throws StateError */
  cancel(): number;
  /** Closes the orders of which nothing is left. @returns how many jobs they have made @throws StateError */
  close(): number;
}

/** What can be asked of the orders of a state. */
export interface RedoReader {
  counts(): Promise<RedoCounts>;
  /** The entries of these keys; a key that no order named is absent. The caller bounds how many it asks for. */
  entries(keys: readonly string[]): Promise<ReadonlyMap<string, RedoEntry>>;
  /** Keys of the jobs that are `waiting`, in order. */
  waiting(): AsyncIterable<string>;
}

/** Whether an order still has jobs to be made, or to be settled. */
export const isOpenOrder = ({ waiting, begun }: RedoCounts): boolean => waiting + begun > 0;

/** Names the jobs of a request, in whatever sequence they are given. */
export function nameOfRequest({ keys, again }: RedoRequest): string {
  const hash = createHash('sha256').update(again ? 'again' : 'once');
  for (const key of keys.toSorted()) hash.update(`\n${key}`);
  return hash.digest('hex').slice(0, 32);
}

/**
 * What a request makes of one of its jobs. What is open stays as far as it is; what was made begins anew where that is asked for in
 * other words than before, or after the order was closed.
 *
 * @param known undefined: no order ever named it
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
   * Takes what is known of them; a key that no order named is absent.
   *
   * @returns the entries that are new or changed
   */
  readonly take: (known: ReadonlyMap<string, RedoEntry>) => ReadonlyMap<string, RedoEntry>;
}

/** What a request makes of its jobs, group by group. */
export class RedoAsked {
  /** Sums over the groups that were taken. */
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
