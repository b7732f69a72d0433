import { createReadStream } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { directoryFact } from '../../../src/app/service/engine/directory.ts';
import { wallClock } from '../../../src/cli/adapters/clock.ts';
import { parseEngineAddress } from '../../../src/engine/postgres/address.ts';
import { makeTables } from '../../../src/engine/postgres/make-tables.ts';
import { type EnginePool, openPool } from '../../../src/engine/postgres/pool.ts';
import { engineSchema } from '../../../src/engine/schema.ts';
import { beginSession } from '../../../src/engine/slices/session.ts';
import { openFacts } from '../../../src/engine/state/facts.ts';
import { addSlices, registerRun, takeSlice } from '../../../src/engine/state/slices.ts';
import { openEngineStore } from '../../../src/engine/state/store.ts';
import { keepTable } from '../../../src/engine/state/tables.ts';
import { jobStatuses } from '../../../src/plan/job.ts';
import { readRunFacts } from '../../../src/report/facts/run.ts';
import { learnedFact, learnedNames } from '../../../src/run/limits/learned.ts';
import { pipelineFacts } from '../../../src/state/binding.ts';
import { segmentPath } from '../../../src/state/files/segment-files.ts';
import { openStateForReading } from '../../../src/state/state.ts';
import { placesOf } from '../../../src/upkeep/check-replies.ts';

/** A run of an engine that a test has made. */
export interface CopiedRun {
  readonly run: number;
  /** Says that the worker which wrote it is over, as it does itself at its end. */
  end(): Promise<void>;
}

/** Opens an engine, and makes its tables. */
export async function openEngineAt(url: string): Promise<EnginePool> {
  const pool = await openPool(parseEngineAddress(url), { clock: wallClock });
  await makeTables(pool, engineSchema);
  return pool;
}

/** Puts the run of a directory on an engine, as a coordinator and one worker leave it: its records in one slice, and its facts. */
export async function copyRun(
  directory: string,
  { pool }: { readonly pool: EnginePool },
  name: string,
): Promise<CopiedRun> {
  const from = openStateForReading(directory);
  if (from === undefined) throw new Error(`There is no run in ${directory}.`);
  const run = await registerRun(pool, name);
  const worker = await beginSession({ pool, clock: wallClock }, run, {
    name: 'first',
    leaseMs: 3000,
  });
  const { session } = worker;
  await addSlices(pool, run, [{ n: 1, cells: '' }]);
  const epoch = (await takeSlice(pool, run, 1, session))?.epoch ?? 0;
  const store = await openEngineStore(pool, { run, session, clock: wallClock });
  const records = [];
  for (const status of jobStatuses) for await (const record of from.withStatus(status)) records.push(record);
  const numbers = await from.numbersOf(records.map(({ key }) => key));
  records.sort((a, b) => (numbers.get(a.key) ?? 0) - (numbers.get(b.key) ?? 0));
  const attempts = [];
  for (const { key } of records) attempts.push(...(await from.attempts(key)));
  await store.commit({
    records,
    attempts,
    slices: {
      of: new Map(records.map(({ key }) => [key, 1])),
      epochs: new Map([[1, epoch]]),
      basis: new Map(),
    },
  });
  for (const record of records)
    for (const { segment, offset, length } of placesOf(record)) {
      const bytes = await readFile(join(directory, segmentPath(segment)));
      const line = bytes.subarray(offset, offset + length).toString();
      await pool.query('INSERT INTO promptpress.replies VALUES ($1, $2, $3, $4)', [
        run,
        segment,
        offset,
        line,
      ]);
    }
  const facts = await openFacts(pool, run);
  const names = [...Object.values(pipelineFacts), 'run.last', 'services', ...learnedNames.map(learnedFact)];
  for (const fact of names) {
    const value = await from.fact(fact);
    if (value !== undefined) await facts.setFact(fact, value);
  }
  for (const { copied, sha256 } of (await readRunFacts(from))?.tables ?? [])
    if (copied) await keepTable(pool, run, sha256, createReadStream(join(directory, 'inputs', sha256)));
  await from.close();
  await facts.setFact(directoryFact, JSON.stringify({ path: directory, host: hostname() }));
  await facts.setFact('artifacts.owner', name);
  await writeFile(
    join(directory, 'engine.json'),
    JSON.stringify({ engine: `${pool.shown}#${name}`, place: name }),
  );
  return { run, end: () => worker.end() };
}
