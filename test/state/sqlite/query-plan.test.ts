import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { jobStatuses } from '../../../src/plan/job.ts';
import { openDatabase } from '../../../src/state/sqlite/sqlite.ts';
import { openState, openStateForReading } from '../../../src/state/state.ts';
import { all } from '../../rig/all.ts';
import { around } from '../noting-driver.ts';
import { drivers, freshFolder } from '../places.ts';
import { jobRecord } from '../records.ts';

const [driver] = drivers;

/** How SQLite carries out all that a store and a reader prepare, by statement. */
async function plans(): Promise<ReadonlyMap<string, readonly string[]>> {
  if (driver === undefined) throw new Error('There is no driver.');
  const statements = new Set<string>();
  const noting = around(driver, {
    prepare: (sql, location) => {
      if (location.endsWith('state.db') && !/^PRAGMA|sqlite_schema|pragma_/.test(sql)) statements.add(sql);
    },
  });
  const directory = freshFolder();
  const state = openState(directory, { driver: noting });
  state.commit({ records: [jobRecord('a', 'done')], attempts: [] });
  const reader = openStateForReading(directory, { driver: noting });
  if (reader === undefined) throw new Error('There is no state.');
  for (const status of jobStatuses) await all(reader.withStatus(status));
  await reader.stepSums();
  await reader.close();
  state.close();
  const database = openDatabase(join(directory, 'state.db'), { driver, readOnly: true });
  const explained = [...statements].map((sql) => {
    const steps = database.prepare<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all();
    return [sql, steps.map(({ detail }) => detail)] as const;
  });
  database.close();
  return new Map(explained);
}

describe('a statement of the state', () => {
  /** Of each statement that this matches. */
  const plansOf = async (words: RegExp): Promise<readonly (readonly string[])[]> =>
    [...(await plans())].flatMap(([sql, steps]) => (words.test(sql) ? [steps] : []));

  it('finds its rows of jobs, texts and attempts by an id or an index', async () => {
    const found = await plans();
    expect(found.size).toBeGreaterThan(25);
    const scans = [...found].filter(([, steps]) =>
      steps.some((step) => /^SCAN (jobs|attempts|texts)\b/.test(step)),
    );
    expect(scans).toEqual([]);
  });

  it('that finds roots reads only indexes', async () => {
    expect(await plansOf(/AS child/)).toEqual([
      [
        'SEARCH jobs USING COVERING INDEX sqlite_autoindex_jobs_1 (key>?)',
        expect.stringMatching(/SUBQUERY/),
        'SEARCH child USING COVERING INDEX jobs_child (root=? AND rowid=?)',
      ],
    ]);
  });

  it('that finds slots reads those with the same beginning', async () => {
    expect((await plansOf(/^SELECT jobs\.slot/)).flat()).toContain(
      'SEARCH jobs USING INDEX jobs_slot (<expr>=?)',
    );
  });

  it('that changes a job in work finds it by its number', async () => {
    const found = await plansOf(/^UPDATE jobs/);
    expect(found).toHaveLength(3);
    for (const steps of found) expect(steps).toEqual(['SEARCH jobs USING INTEGER PRIMARY KEY (rowid=?)']);
  });
});
