import { wallClock } from '../../../src/cli/adapters/clock.ts';
import { parseEngineAddress } from '../../../src/engine/postgres/address.ts';
import { makeTables } from '../../../src/engine/postgres/make-tables.ts';
import { openPool } from '../../../src/engine/postgres/pool.ts';
import { engineSchema } from '../../../src/engine/schema.ts';
import { addSlices, openSession, registerRun, takeSlice } from '../../../src/engine/state/slices.ts';
import { openEngineStore } from '../../../src/engine/state/store.ts';
import { jobRecord } from '../../state/records.ts';
import type { Bench } from '../comparison.ts';
import { type BenchEngine, withEngine } from './workers.ts';

const commitsOfEach = 400;
const recordsOfTurn = 4;
let runs = 0;

/** Commits a second of so many workers, each with its own connection and its own slice, one commit behind the other. */
async function commitPace(engine: BenchEngine, connections: number): Promise<number> {
  const pool = await openPool(parseEngineAddress(engine.url), { clock: wallClock, connections: 1 });
  const pools = [pool];
  try {
    await makeTables(pool, engineSchema);
    runs += 1;
    const run = await registerRun(pool, `commits ${runs}`);
    const slices = Array.from({ length: connections }, (_unused, at) => at + 1);
    await addSlices(
      pool,
      run,
      slices.map((n) => ({ n, cells: '[]' })),
    );
    const workers = await Promise.all(
      slices.map(async (slice) => {
        const own = await openPool(parseEngineAddress(engine.url), { clock: wallClock, connections: 1 });
        pools.push(own);
        const session = await openSession(own, `worker ${slice}`);
        await takeSlice(own, run, slice, session);
        return { slice, store: await openEngineStore(own, { run, session, clock: wallClock }) };
      }),
    );
    const from = performance.now();
    await Promise.all(
      workers.map(async ({ slice, store }) => {
        for (let commit = 0; commit < commitsOfEach; commit += 1) {
          const records = Array.from({ length: recordsOfTurn }, (_unused, at) =>
            jobRecord(`${slice}-${commit}-${at}`, 'done'),
          );
          await store.commit({
            records,
            attempts: [],
            slices: {
              of: new Map(records.map(({ key }) => [key, slice])),
              epochs: new Map([[slice, 1]]),
              basis: new Map(),
            },
          });
        }
      }),
    );
    return (connections * commitsOfEach * 1000) / (performance.now() - from);
  } finally {
    await Promise.all(pools.map((each) => each.close()));
  }
}

/** Whether workers that commit at once share the syncs of PostgreSQL's log. */
export const engineCommits: Bench = {
  asks: `8 connections that commit turns of ${recordsOfTurn} records, against one`,
  allowed: { ratioAtLeast: 1.5 },
  rounds: 5,
  prepare: () =>
    withEngine((engine) => ({
      unit: 'commits a second',
      left: { name: '8 connections', measure: () => commitPace(engine, 8) },
      right: { name: '1 connection', measure: () => commitPace(engine, 1) },
    })),
};
