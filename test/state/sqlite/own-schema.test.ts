import { existsSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { schemaMadeBy } from '../../../src/state/sqlite/own-schema.ts';
import { applicationId, stateSchema, stateVersion } from '../../../src/state/sqlite/schema.ts';
import { openDatabase } from '../../../src/state/sqlite/sqlite.ts';
import { openState, openStateForReading } from '../../../src/state/state.ts';
import { journalNaming } from '../../rig/journal.ts';
import { drivers, freshFolder } from '../places.ts';

/** A state, and what else somebody declared in it. */
function stateOf(more: string): string {
  const directory = freshFolder();
  const database = openDatabase(join(directory, 'state.db'));
  database.exec(`PRAGMA journal_mode = WAL; ${stateSchema}
    PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${stateVersion}; ${more}`);
  database.close();
  return directory;
}

const schemaCode = expect.objectContaining({ code: 'state.schema' }) as Error;

const foreign: readonly (readonly [string, string])[] = [
  ['a trigger', 'CREATE TRIGGER x AFTER INSERT ON attempts BEGIN DELETE FROM jobs; END'],
  ['a view', 'CREATE VIEW x AS SELECT 1'],
  ['a virtual table', 'CREATE VIRTUAL TABLE x USING fts5(a)'],
  ['a table', 'CREATE TABLE x (a)'],
  ['an index', "CREATE INDEX x ON jobs (json_extract(doc, '$.status'))"],
  ['a column', 'ALTER TABLE jobs ADD COLUMN x TEXT'],
  ['a view in the place of a table', 'DROP TABLE facts; CREATE VIEW facts AS SELECT 1 AS name, 2 AS value'],
  ['no index of ours', 'DROP INDEX jobs_slot'],
];

describe('a state', () => {
  it.each(foreign)('with %s is refused, and not changed', (_, more) => {
    const directory = stateOf(more);
    for (const open of [openState, openStateForReading]) expect(() => open(directory)).toThrow(schemaCode);
    const database = openDatabase(join(directory, 'state.db'), { readOnly: true });
    expect(database.prepare('PRAGMA user_version').get()).toEqual({ user_version: stateVersion });
    database.close();
  });

  it('without changes is accepted', () => {
    const state = openState(stateOf(''));
    expect(state.totals().attempts).toBe(0);
    state.close();
  });
});

it('the schema is the same from every SQLite', () => {
  const made = drivers.map((driver) => schemaMadeBy((database) => database.exec(stateSchema), { driver }));
  for (const schema of made) expect(schema).toEqual(made[0]);
});

describe('a database', () => {
  it.each(drivers.map((driver) => [driver.name, driver] as const))(
    'calls no function with outside effects, even if a file declares it: %s',
    (_, driver) => {
      const database = openDatabase(join(freshFolder(), 'a.db'), { driver });
      expect(database.prepare('PRAGMA trusted_schema').get()).toEqual({ trusted_schema: 0 });
      database.close();
    },
  );

  it('whose journal makes SQLite delete another file is refused; SQLite itself would delete that file', () => {
    const folder = freshFolder();
    const file = join(folder, 'a.db');
    const victim = join(folder, 'victim');
    // Without a log, as the lock and a state that was never opened are.
    const database = openDatabase(file);
    database.exec('CREATE TABLE t (a)');
    database.close();
    writeFileSync(victim, 'precious');
    writeFileSync(`${file}-journal`, journalNaming(victim));
    expect(() => openDatabase(file)).toThrow(expect.objectContaining({ code: 'state.foreign' }));
    expect(existsSync(victim)).toBe(true);

    const raw = drivers[0]?.open(file, { readOnly: false });
    raw?.prepare('SELECT count(*) FROM t').get();
    raw?.close();
    expect(existsSync(victim)).toBe(false);
  });

  it.each(['', '-wal', '-shm', '-journal'])('is refused if its %s file is a link', (ending) => {
    const folder = freshFolder();
    const file = join(folder, 'a.db');
    if (ending !== '') openDatabase(file).close();
    symlinkSync(join(folder, 'elsewhere'), `${file}${ending}`);
    expect(() => openDatabase(file)).toThrow(expect.objectContaining({ code: 'directory.link' }));
    expect(existsSync(join(folder, 'elsewhere'))).toBe(false);
  });
});
