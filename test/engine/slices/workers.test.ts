import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { beginInvocation, openRuns, runStatus, tellWork } from '../../../src/engine/slices/runs.ts';
import { readWorkers, sliceCounts } from '../../../src/engine/slices/workers.ts';
import { endLease, takeSlice } from '../../../src/engine/state/slices.ts';
import { hasPostgres } from '../../rig/postgres.ts';
import { type TestEngine, testEngine } from '../state/opened.ts';

interface Step {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly Plans?: readonly Step[];
}

const stepsOf = (step: Step): readonly Step[] => [step, ...(step.Plans ?? []).flatMap(stepsOf)];

describe.skipIf(!hasPostgres)('the workers of a run', () => {
  let engine: TestEngine;
  beforeAll(async () => {
    engine = await testEngine();
  });
  afterAll(async () => {
    await engine[Symbol.asyncDispose]();
  });

  it('count the slices of a run by the unfinished ones', async () => {
    const { pool } = engine;
    const run = await engine.run();
    // As many as ten million cells make; those that wait are a thousand at most.
    for (let from = 0; from < 150_300; from += 15_030)
      await pool.query(
        `INSERT INTO promptpress.slices (run, n, cells, done, takeovers) SELECT $1, n, '', n <= 150000, (n % 30000 = 0)::int
         FROM generate_series($2::int + 1, $2::int + 15030) AS n`,
        [run, from],
      );
    await pool.query('UPDATE promptpress.runs SET next_slice = 150301 WHERE run = $1', [run]);
    await pool.query('ANALYZE promptpress.slices');
    const { session } = await engine.worker(run);
    for (const n of [150_001, 150_002]) await takeSlice(pool, run, n, session);
    await endLease(pool, run, 150_002, 1);
    expect(await readWorkers(pool, run, undefined)).toMatchObject({
      slices: { waiting: 299, held: 1, done: 150_000, fed: false },
      takeovers: 5,
    });
    // One that was let go of waits, though its worker lives.
    expect(await openRuns(pool)).toContainEqual(expect.objectContaining({ run, waiting: 299 }));
    const { rows } = await pool.query<{ 'QUERY PLAN': readonly [{ Plan: Step }] }>(
      `EXPLAIN (FORMAT JSON) ${sliceCounts}`.replaceAll('$1', String(run)),
    );
    const [plan] = rows[0]?.['QUERY PLAN'] ?? [];
    const reads = (plan === undefined ? [] : stepsOf(plan.Plan)).filter(
      (step) => step['Relation Name'] === 'slices' || step['Index Name']?.startsWith('slices_') === true,
    );
    expect(reads.length).toBeGreaterThan(1);
    // By these indexes alone: neither is the table read from end to end, nor the key.
    const indexes = reads.flatMap((step) => step['Index Name'] ?? []);
    expect(new Set(indexes)).toEqual(new Set(['slices_open', 'slices_takeovers']));
    expect(reads.map((step) => step['Node Type'])).not.toContain('Seq Scan');
    await pool.query('DELETE FROM promptpress.slices WHERE run = $1', [run]);
  });

  it('are those that have not ended, with the times of their start and of their last heartbeat in ms', async () => {
    const { pool } = engine;
    const run = await engine.run();
    await pool.query(
      `INSERT INTO promptpress.sessions (name, run, started, seen, over) VALUES
         ('there', $1, to_timestamp(1000), to_timestamp(2000.5), false), ('ended', $1, to_timestamp(1), to_timestamp(1), true)`,
      [run],
    );
    expect((await readWorkers(pool, run, undefined))?.workers).toMatchObject([
      { name: 'there', startedAt: 1_000_000, seenAt: 2_000_500, alive: false, slices: 0 },
    ]);
  });

  it('report totals that no record contains, anew with each invocation', async () => {
    const { pool } = engine;
    const run = await engine.run(2);
    await pool.query('UPDATE promptpress.runs SET next_slice = 3 WHERE run = $1', [run]);
    const { invocation } = await beginInvocation(pool, run, { spec: 'one', epoch: 0, bounds: {} });
    await tellWork(pool, { run, invocation, session: 1 }, { redosFailed: 1, gridsCut: 4, timedOutAgain: 2 });
    await tellWork(pool, { run, invocation, session: 2 }, { redosFailed: 0, gridsCut: 2, timedOutAgain: 3 });
    // The answer was lost: it tells so again, and with it what it has done since.
    await tellWork(pool, { run, invocation, session: 1 }, { redosFailed: 1, gridsCut: 4, timedOutAgain: 2 });
    await tellWork(pool, { run, invocation, session: 1 }, { redosFailed: 1, gridsCut: 5, timedOutAgain: 2 });
    const late = { run, invocation: invocation - 1, session: 3 };
    await tellWork(pool, late, { redosFailed: 9, gridsCut: 9, timedOutAgain: 9 });
    expect(await runStatus(pool, run)).toMatchObject({ redosFailed: 1, gridsCut: 7, timedOutAgain: 5 });
    // The slices of earlier invocations are gone, and are none of those that are done.
    expect((await readWorkers(pool, run, undefined))?.slices).toMatchObject({ waiting: 0, done: 0 });
    await beginInvocation(pool, run, { spec: 'two', epoch: 0, bounds: {} });
    expect(await runStatus(pool, run)).toMatchObject({ redosFailed: 0, gridsCut: 0, timedOutAgain: 0 });
  });
});
