import { expect, it } from 'vitest';
import type { Driver, RawDatabase } from '../../src/state/sqlite/driver.ts';
import { openState } from '../../src/state/state.ts';
import { drivers, freshFolder } from './places.ts';
import { jobRecord } from './records.ts';

/** A driver that tells which connections were opened for writing. */
function recording(driver: Driver): { readonly driver: Driver; readonly writing: readonly RawDatabase[] } {
  const writing: RawDatabase[] = [];
  return {
    driver: {
      ...driver,
      open: (location, options) => {
        const database = driver.open(location, options);
        if (!options.readOnly && location !== ':memory:') writing.push(database);
        return database;
      },
    },
    writing,
  };
}

it.each(drivers)('$name: a commit of the state returns when it is on the disk', (plain) => {
  const { driver, writing } = recording(plain);
  const state = openState(freshFolder(), { driver });
  state.commit({ records: [jobRecord('k1', 'done')], attempts: [] });
  const found = writing.map((database) => [
    database.prepare('PRAGMA journal_mode').get(),
    database.prepare('PRAGMA synchronous').get(),
  ]);
  state.close();
  // In WAL mode only FULL (2) syncs at each commit: https://sqlite.org/pragma.html#pragma_synchronous
  expect(found).toEqual([[{ journal_mode: 'wal' }, { synchronous: 2 }]]);
});
