import type { JobRecord } from '../../../src/plan/job.ts';
import type { Hold } from '../../../src/run/ports.ts';
import type { Committed, LateFact, Turn } from '../../../src/state/store.ts';
import type { FencedState, Request, Row } from './fenced-state.ts';

/** What one worker has read of a shared state: what its decisions are made from. */
export class WorkerView {
  readonly #state: FencedState;
  readonly #rows = new Map<string, Row>();
  #turns = 0;

  constructor(state: FencedState) {
    this.#state = state;
  }

  get(key: string): JobRecord | undefined {
    return this.#rows.get(key)?.record;
  }

  holdOf(key: string): Hold | undefined {
    const row = this.#rows.get(key);
    return row && { slice: row.slice, epoch: Math.floor(row.rev / 2 ** 32), basis: row.version };
  }

  /** Reads these records, again or for the first time. @returns what was heard late of them */
  read(keys: Iterable<string>): readonly LateFact[] {
    const { rows, heard } = this.#state.read(keys);
    for (const [key, row] of rows) this.#rows.set(key, row);
    return heard;
  }

  /** A turn, to be committed whenever it arrives. */
  request(turn: Turn): Request {
    this.#turns += 1;
    return { turn, number: this.#turns };
  }

  /** The answer to a turn has come. What was refused is read in the same round trip. */
  committed({ turn }: Request, { refused, lost }: Committed): void {
    const keys = turn.records.map(({ key }) => key);
    this.read(keys.filter((key) => refused.has(key) || !lost.has(turn.slices?.of.get(key) ?? -1)));
  }
}
