import { afterEach, describe, expect, test } from 'vitest';
import { Disposables } from '../../../../src/app/adapters/disposables.ts';
import { Redactor } from '../../../../src/app/output/redact.ts';
import { type EngineUse, openEngine, readEngineAddress } from '../../../../src/app/service/engine/connect.ts';
import { testIo } from '../../../cli/test-io.ts';
import { hasPostgres, type TestDatabase, testDatabase } from '../../../rig/postgres.ts';

const disposables = new Disposables();
afterEach(() => disposables.end());

const context = (env: Readonly<Record<string, string>> = {}) => ({
  io: testIo({ cwd: '/', env }).io,
  redactor: new Redactor(),
});

const reading: EngineUse = { as: 'reading', name: 'status' };

async function failure(work: Promise<unknown>): Promise<{ code?: string; message: string; hint?: string }> {
  try {
    await work;
  } catch (error) {
    return error as Error;
  }
  throw new Error('nothing failed');
}

describe('the address of an engine', () => {
  const shown = 'postgres://anna@127.0.0.1/promptpress';

  test('comes from the environment if none is given', async () => {
    const given = 'postgres://anna@127.0.0.1/promptpress#foxes';
    const { run } = await readEngineAddress(undefined, context({ PROMPTPRESS_ENGINE: given }));
    expect(run).toBe('foxes');
    const none = await failure(readEngineAddress(undefined, context({ PROMPTPRESS_ENGINE: '' })));
    expect(none.message).toBe('No engine is named.');
    expect(none.hint).toContain('PROMPTPRESS_ENGINE');
  });

  test('without a password uses that of the environment, for the same user and database only', async () => {
    const own = 'postgres://anna:correct-horse@127.0.0.1:5432/promptpress';
    const env = { PROMPTPRESS_ENGINE: own };
    expect((await readEngineAddress(`${shown}#foxes`, context(env))).password).toBe('correct-horse');
    for (const other of ['anna@127.0.0.1/other', 'bert@127.0.0.1/promptpress', 'anna@127.0.0.2/promptpress'])
      expect((await readEngineAddress(`postgres://${other}`, context(env))).password).toBe(undefined);
    const port = 'postgres://anna@127.0.0.1:5433/promptpress';
    expect((await readEngineAddress(port, context(env))).password).toBe(undefined);
    const named = context({ ...env, PGPASSWORD: 'battery-staple' });
    expect((await readEngineAddress(shown, named)).password).toBe('battery-staple');
    expect(named.redactor.apply('with battery-staple')).toBe('with [secret]');
  });

  test('is shown without its password', async () => {
    const there = context();
    await readEngineAddress('postgres://anna:p%40ssword@127.0.0.1/promptpress', there);
    expect(there.redactor.apply('p@ssword p%40ssword')).toBe('[secret] [secret]');
    const usual = context();
    await readEngineAddress('postgres://postgres:postgres@127.0.0.1/promptpress', usual);
    expect(usual.redactor.apply('postgres://postgres@127.0.0.1')).toBe('postgres://postgres@127.0.0.1');
  });
});

describe.runIf(hasPostgres)('an engine', () => {
  let database: TestDatabase;

  test('is opened by a run, then by a worker and by reading commands', async () => {
    database = await testDatabase();
    await using _ = database;
    const none = await failure(openEngine(database.url, reading, disposables, context()));
    expect(none.code).toBe('engine.empty');
    expect(none.message).toContain('holds no run');
    await openEngine(database.url, { as: 'run', name: 'run' }, disposables, context());
    for (const use of [reading, { ...reading, as: 'worker' }] as const) {
      const { pool } = await openEngine(database.url, use, disposables, context());
      expect((await pool.query('SELECT name FROM promptpress.runs')).rows).toEqual([]);
    }
    const wrong = new URL(database.url);
    wrong.password = 'quite-another-one';
    const refused = await failure(openEngine(wrong.href, reading, disposables, context()));
    expect(JSON.stringify([refused.message, refused.hint])).not.toContain('quite-another-one');
    await disposables.end();
  });

  test('is reported as unavailable if it does not exist', async () => {
    const { code, hint } = await failure(
      openEngine('postgres://anna@127.0.0.1:1/promptpress', reading, disposables, context()),
    );
    expect(code).toBe('engine.away');
    expect(hint).toContain('Check that PostgreSQL runs there');
  });
});
