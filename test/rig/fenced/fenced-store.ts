import type { Cell } from '../../../src/plan/cell.ts';
import type { CellBatch, CellSource, Lease, OtherRecords, RunStore } from '../../../src/run/ports.ts';
import type { Committed, Turn } from '../../../src/state/store.ts';
import { noJobs } from '../no-counts.ts';
import { type FencedState, holderOf } from './fenced-state.ts';
import type { WorkerView } from './worker-view.ts';

/** The store of one worker over a shared state in memory, which answers later. */
export function fencedStore(
  state: FencedState,
  view: WorkerView,
): RunStore & { readonly others: OtherRecords; commit(turn: Turn): Promise<Committed> } {
  const facts = new Map<string, string>();
  return {
    get: (key) => view.get(key),
    unfinished: () => {
      throw new Error('What is unfinished comes with its slice.');
    },
    attempts: (key) => state.attempts(key),
    claims: (record) => view.claims(record),
    totals: () => ({
      jobs: noJobs,
      attempts: 0,
      cost: 0,
      possibleCost: 0,
      tokens: 0,
      assumedTokens: 0,
      codes: { failed: {}, 'in-doubt': {} },
    }),
    redos: { of: (key) => view.redoOf(key) },
    fact: (name) => facts.get(name),
    setFact: (name, value) => {
      facts.set(name, value);
    },
    countSubmissions: () => {
      throw new Error('Others write this state too: it counts by itself.');
    },
    commit: async (turn) => {
      const request = view.request(turn);
      await later();
      const committed = state.commit(request);
      await later();
      view.settled(request);
      return committed;
    },
    others: {
      invocation: 1,
      leaseOf: (key) => view.leaseOf(key),
      read: async (keys) => {
        await later();
        return view.read(keys);
      },
    },
  };
}

const later = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

/** The slices of one worker, and how each ended. */
export interface FencedSource extends CellSource {
  readonly ends: readonly string[];
  /** Says that somebody else has taken a slice. */
  lose(lease: Lease): void;
}

/** Gives slices of a shared state in the order of their numbers from 1, in batches, each read whole before it is given. */
export function fencedSource(
  state: FencedState,
  view: WorkerView,
  slices: readonly (readonly Cell[])[],
): FencedSource {
  const waiting = slices.map((cells, at) => ({ slice: at + 1, cells }));
  const listeners = new Set<(lease: Lease) => void>();
  const ends: string[] = [];
  let given: { readonly of: Lease; cells: readonly Cell[] } | undefined;
  return {
    ends,
    lose: (lease) => {
      for (const listener of listeners) listener(lease);
    },
    next: async (most): Promise<CellBatch> => {
      await later();
      const first = given === undefined ? waiting.shift() : undefined;
      if (given === undefined && first === undefined) return { cells: [], last: true };
      const claimed = first && state.claim(first.slice);
      const { of, cells } = given ?? {
        of: { slice: first?.slice ?? 0, epoch: claimed?.epoch ?? 0 },
        cells: first?.cells ?? [],
      };
      view.read(state.rows.keys());
      const rest = cells.slice(most);
      given = rest.length === 0 ? undefined : { of, cells: rest };
      const left = claimed && { left: claimed.left };
      return {
        cells: cells.slice(0, most),
        of: { ...of, ...left, isWhole: rest.length === 0 },
        last: false,
      };
    },
    end: ({ slice, epoch }, how) => {
      ends.push(`${slice}/${epoch} ${how}`);
      state.end(holderOf(slice, epoch));
    },
    onLost: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
