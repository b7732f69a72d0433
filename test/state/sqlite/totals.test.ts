import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JobRecord } from '../../../src/plan/job.ts';
import type { Driver } from '../../../src/state/sqlite/driver.ts';
import { openDatabase } from '../../../src/state/sqlite/sqlite.ts';
import { openState } from '../../../src/state/state.ts';
import type { StateStore, Turn } from '../../../src/state/store.ts';
import { recount } from '../../rig/memory-store.ts';
import { drivers, freshFolder } from '../places.ts';
import { anyTurn, jobRecord } from '../records.ts';

/** A driver that counts the statements that write totals. */
function counting(driver: Driver): { readonly driver: Driver; readonly writes: () => number } {
  let writes = 0;
  return {
    writes: () => writes,
    driver: {
      ...driver,
      open: (location, given) => {
        const raw = driver.open(location, given);
        return {
          exec: (sql) => raw.exec(sql),
          close: () => raw.close(),
          prepare: (sql) => {
            const statement = raw.prepare(sql);
            if (!sql.startsWith('INSERT INTO totals')) return statement;
            return {
              get: (...values) => statement.get(...values),
              all: (...values) => statement.all(...values),
              iterate: (...values) => statement.iterate(...values),
              run: (...values) => {
                writes += 1;
                return statement.run(...values);
              },
            };
          },
        };
      },
    },
  };
}

/** Commits a turn whose last record cannot be written, and says what came of it. */
function failureOf(state: StateStore, { records, attempts }: Turn): unknown {
  const endless: Record<string, unknown> = {};
  endless['self'] = endless;
  const broken = { ...jobRecord('key-0', 'done'), result: endless } as unknown as JobRecord;
  try {
    state.commit({ records: [...records, broken], attempts });
    return undefined;
  } catch (error) {
    return error;
  }
}

describe.each(drivers.map((driver) => [driver.name, driver] as const))('totals with %s', (_, driver) => {
  it('equal a recount of all jobs, after any history of commits, failed commits and restarts', () => {
    const step = fc.oneof(
      { weight: 6, arbitrary: anyTurn.map((turn) => ({ kind: 'commit' as const, turn })) },
      { weight: 1, arbitrary: anyTurn.map((turn) => ({ kind: 'failed commit' as const, turn })) },
      { weight: 1, arbitrary: fc.constant({ kind: 'new start' as const }) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        const directory = freshFolder();
        const jobs = new Map<string, JobRecord>();
        const failures: unknown[] = [];
        let state = openState(directory, { driver });
        for (const one of steps) {
          if (one.kind === 'new start') {
            state.close();
            state = openState(directory, { driver });
          } else if (one.kind === 'failed commit') {
            failures.push(failureOf(state, one.turn));
          } else {
            state.commit(one.turn);
            for (const record of one.turn.records) jobs.set(record.key, record);
          }
          expect(state.totals()).toEqual(recount([...jobs.values()]));
        }
        for (const failure of failures) expect(failure).toBeInstanceOf(TypeError);
        state.close();
      }),
      { seed: 20_261_122, numRuns: 30 },
    );
  });

  it('count a job once that stands twice in one commit, with its last record', () => {
    const state = openState(freshFolder(), { driver });
    const last = jobRecord('a', 'done', { attempts: 1, cost: 2 });
    state.commit({ records: [jobRecord('a', 'running', { attempts: 1, cost: 5 }), last], attempts: [] });
    expect(state.totals()).toEqual(recount([last]));
    state.close();
  });

  it('are written once for each status and code that a commit changes, and not by triggers', () => {
    const directory = freshFolder();
    const { driver: counted, writes } = counting(driver);
    const state = openState(directory, { driver: counted });
    const keys = Array.from({ length: 200 }, (_unused, index) => `k${index}`);
    const commit = (status: JobRecord['status'], attempts: number): number => {
      const before = writes();
      state.commit({ records: keys.map((key) => jobRecord(key, status, { attempts })), attempts: [] });
      return writes() - before;
    };
    expect([
      commit('pending', 0),
      commit('submitting', 1),
      commit('submitting', 1),
      commit('running', 1),
    ]).toEqual([1, 2, 0, 2]);
    state.close();
    const database = openDatabase(join(directory, 'state.db'), { driver, readOnly: true });
    expect(database.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'").all()).toEqual([]);
    database.close();
  });
});
