import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JobRecord } from '../../../src/plan/job.ts';
import type { Driver } from '../../../src/state/sqlite/driver.ts';
import { applicationId, migrations } from '../../../src/state/sqlite/schema.ts';
import { openDatabase } from '../../../src/state/sqlite/sqlite.ts';
import { openState, openStateForReading } from '../../../src/state/state.ts';
import type { Turn } from '../../../src/state/store.ts';
import { recount } from '../../rig/memory-store.ts';
import { drivers, freshFolder } from '../places.ts';
import { anyTurn, jobRecord } from '../records.ts';

/** A run directory as the release of state version 1 left it, with its own statements. */
function versionOne(driver: Driver, turns: readonly Turn[]): string {
  const directory = freshFolder();
  const database = openDatabase(join(directory, 'state.db'), { driver });
  database.exec('PRAGMA journal_mode = WAL');
  migrations[0]?.(database);
  database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = 1;`);
  const put = database.prepare(
    `INSERT INTO jobs (key, status, code, root, slot, attempts, cost, doc) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (key) DO UPDATE SET status = excluded.status, code = excluded.code, root = excluded.root,
       slot = excluded.slot, attempts = excluded.attempts, cost = excluded.cost, doc = excluded.doc`,
  );
  const append = database.prepare('INSERT INTO attempts (key, doc) VALUES (?, ?)');
  for (const { records, attempts } of turns) {
    for (const record of records)
      put.run(
        record.key,
        record.status,
        record.error?.code ?? '',
        record.parent === undefined ? 1 : 0,
        record.origin.slot,
        record.attempts,
        record.cost ?? 0,
        JSON.stringify(record),
      );
    for (const attempt of attempts) append.run(attempt.key, JSON.stringify(attempt));
  }
  database.exec("INSERT INTO facts VALUES ('pipeline.text', 'name: foxes')");
  database.close();
  return directory;
}

const json = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;
/** What that release could not know. */
const withoutNews = (turn: Turn): Turn => ({
  ...turn,
  records: turn.records.map((record) => {
    const { usage: _, doubtful: _doubtful, assumed: _assumed, ...rest } = record;
    return rest;
  }),
});

describe.each(drivers.map((driver) => [driver.name, driver] as const))(
  'a state of version 1 with %s',
  (_, driver) => {
    it('is brought up to date with all that is in it, and counts tokens and possible costs from then on', () => {
      fc.assert(
        fc.property(fc.array(anyTurn.map(withoutNews), { maxLength: 4 }), (turns) => {
          const directory = versionOne(driver, turns);
          const jobs = new Map<string, JobRecord>();
          for (const { records } of turns) for (const record of records) jobs.set(record.key, json(record));
          const attempts = turns.flatMap((turn) => turn.attempts.map(json));

          const state = openState(directory, { driver });
          for (const [key, record] of jobs) expect(state.get(key)).toEqual(record);
          expect(state.totals()).toEqual(recount([...jobs.values()]));
          for (const key of new Set(attempts.map((attempt) => attempt.key)))
            expect(state.attempts(key)).toEqual(attempts.filter((attempt) => attempt.key === key));
          expect(state.fact('pipeline.text')).toBe('name: foxes');

          const again = [...jobs.values()].map((record) => ({
            ...record,
            usage: { total: 7 },
            doubtful: { count: 2, cost: 3 },
          }));
          state.commit({
            records: [...again, jobRecord('new', 'done', { usage: { total: 5 } })],
            attempts: [],
          });
          expect(state.totals().tokens).toBe(7 * jobs.size + 5);
          expect(state.totals().possibleCost).toBe(3 * jobs.size);
          expect(state.totals().cost).toBe(recount([...jobs.values()]).cost);
          state.close();
        }),
        { seed: 20_261_121, numRuns: 25 },
      );
    });

    it('is not read before a run has brought it up to date', async () => {
      const directory = versionOne(driver, []);
      expect(() => openStateForReading(directory, { driver })).toThrow(/older release/);
      openState(directory, { driver }).close();
      const reader = openStateForReading(directory, { driver });
      expect((await reader?.totals())?.tokens).toBe(0);
      expect(await reader?.inputFiles(['a.png'])).toEqual(new Map());
      await reader?.close();
    });

    it('of version 2 is read as it lies', async () => {
      const directory = versionOne(driver, [
        { records: [jobRecord('a', 'done', { cost: 2 })], attempts: [] },
      ]);
      const database = openDatabase(join(directory, 'state.db'), { driver });
      migrations[1]?.(database);
      database.exec('PRAGMA user_version = 2;');
      database.close();
      const reader = openStateForReading(directory, { driver });
      expect(await reader?.totals()).toMatchObject({ cost: 2, possibleCost: 0 });
      expect(await reader?.get('a')).toMatchObject({ status: 'done' });
      await reader?.close();
    });
  },
);
