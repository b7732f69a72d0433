import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Driver } from '../../src/state/sqlite/driver.ts';
import { openDatabase } from '../../src/state/sqlite/sqlite.ts';
import { openState, openStateForReading } from '../../src/state/state.ts';
import { around, sqliteError } from './noting-driver.ts';
import { drivers, freshFolder } from './places.ts';
import { jobRecord } from './records.ts';
import { codeOf } from './refusals.ts';

describe.each(drivers.map((driver) => [driver.name, driver] as const))(
  'reading a state with %s',
  (_, driver) => {
    it.each(['DELETE', 'TRUNCATE', 'PERSIST'])(
      'and writing it works for a copy that keeps no log: journal mode %s',
      async (mode) => {
        const directory = freshFolder();
        const first = openState(directory, { driver });
        first.commit({ records: [jobRecord('a', 'running')], attempts: [], submits: 1 });
        first.close();
        const copy = freshFolder();
        const database = openDatabase(join(directory, 'state.db'), { driver });
        database.exec(`VACUUM INTO '${join(copy, 'state.db')}'`);
        database.close();
        const copied = openDatabase(join(copy, 'state.db'), { driver });
        expect(copied.prepare(`PRAGMA journal_mode = ${mode}`).get()).toEqual({
          journal_mode: mode.toLowerCase(),
        });
        copied.close();
        const reader = openStateForReading(copy, { driver });
        expect((await reader?.get('a'))?.status).toBe('running');
        await reader?.close();
        const state = openState(copy, { driver });
        state.commit({ records: [jobRecord('a', 'done')], attempts: [] });
        expect(state.totals().jobs).toMatchObject({ running: 0, done: 1 });
        state.close();
      },
    );

    it('opens the files of the state only for reading, also in a read-only folder', async () => {
      const directory = freshFolder();
      openState(directory, { driver }).close();
      const opened: [string, boolean][] = [];
      const noting = around(driver, {
        open: (location, readOnly) => opened.push([location, readOnly]),
        prepare: (_sql, location) => {
          if (!location.startsWith('file:') && location !== ':memory:') throw sqliteError(14);
        },
      });
      await openStateForReading(directory, { driver: noting })?.close();
      const file = join(directory, 'state.db');
      expect(opened.filter(([location]) => location !== ':memory:')).toEqual([
        [file, true],
        [expect.stringMatching(/^file:.*\?immutable=1$/), true],
      ]);
    });

    it('makes nothing, needs no lock, and keeps nothing open if there is no state', () => {
      const directory = freshFolder();
      const open: string[] = [];
      const noting = around(driver, {
        open: (location) => open.push(location),
        close: (location) => open.splice(open.indexOf(location), 1),
      });
      const database = openDatabase(join(directory, 'state.db'), { driver });
      database.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (a); DROP TABLE t;');
      database.close();
      expect(openStateForReading(directory, { driver: noting })).toBeUndefined();
      expect(open).toEqual([]);
    });

    it('is refused if its declarations differ, and closed', () => {
      const directory = freshFolder();
      openState(directory, { driver }).close();
      const database = openDatabase(join(directory, 'state.db'), { driver });
      database.exec('CREATE VIEW x AS SELECT 1');
      database.close();
      const open: string[] = [];
      const noting = around(driver, {
        open: (location) => open.push(location),
        close: (location) => open.splice(open.indexOf(location), 1),
      });
      expect(codeOf(() => openStateForReading(directory, { driver: noting }))).toBe('state.schema');
      expect(codeOf(() => openState(directory, { driver: noting }))).toBe('state.schema');
      expect(open).toEqual([]);
    });

    it('counts the submissions anew for each question', async () => {
      const directory = freshFolder();
      const state = openState(directory, { driver });
      const reader = openStateForReading(directory, { driver });
      state.commit({ records: [], attempts: [], submits: 3 });
      expect(await reader?.submissions()).toEqual({ known: 3, counted: 0 });
      state.countSubmissions();
      expect(await reader?.submissions()).toEqual({ known: 3, counted: 3 });
      await reader?.close();
      state.close();
    });

    describe('in a folder that may not be written', () => {
      const unwritable = (failures: string[] = []): Driver =>
        around(driver, {
          prepare: (_sql, location) => {
            if (location.startsWith('file:') && !failures.includes('immutable')) return;
            throw sqliteError(failures.includes('corrupt') ? 11 : 14, 'unable to open database file');
          },
        });
      const stateOf = (name = 'runs'): string => {
        const directory = join(freshFolder(), name);
        const state = openState(directory, { driver });
        state.commit({ records: [jobRecord('a', 'running')], attempts: [] });
        state.close();
        return directory;
      };

      it.each(['runs', 'my runs #1?', '100%'])(
        'reads it unchanged, whatever the folder is called: %s',
        async (name) => {
          const directory = stateOf(name);
          const reader = openStateForReading(directory, { driver: unwritable() });
          expect((await reader?.get('a'))?.status).toBe('running');
          await reader?.close();
        },
      );

      it('is refused with the first failure if it cannot be read at all', () => {
        const directory = stateOf();
        expect(() => openStateForReading(directory, { driver: unwritable(['immutable']) })).toThrow(
          expect.objectContaining({
            code: 'state.io',
            cause: expect.objectContaining({ errcode: 14 }) as Error,
          }),
        );
        expect(() =>
          openStateForReading(directory, { driver: unwritable(['immutable', 'corrupt']) }),
        ).toThrow(expect.objectContaining({ code: 'state.corrupt' }));
      });

      it('is refused if a log has more of it, and closed', () => {
        const directory = stateOf();
        const open: string[] = [];
        const noting = around(unwritable(), {
          open: (location) => open.push(location),
          close: (location) => open.splice(open.indexOf(location), 1),
        });
        writeFileSync(join(directory, 'state.db-wal'), 'x');
        expect(codeOf(() => openStateForReading(directory, { driver: noting }))).toBe('state.io');
        expect(open).toEqual([]);
        writeFileSync(join(directory, 'state.db-wal'), '');
        expect(codeOf(() => openStateForReading(directory, { driver: noting }))).toBe('done');
      });
    });
  },
);
