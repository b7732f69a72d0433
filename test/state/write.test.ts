import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JobRecord } from '../../src/plan/job.ts';
import type { Driver } from '../../src/state/sqlite/driver.ts';
import { openDatabase } from '../../src/state/sqlite/sqlite.ts';
import { openState, openStateForReading } from '../../src/state/state.ts';
import { invocationFact, StateError, type StateStore } from '../../src/state/store.ts';
import { replaceFs, systemError } from '../rig/replace-fs.ts';
import { type Around, around, sqliteError } from './noting-driver.ts';
import { drivers, freshFolder } from './places.ts';
import { jobRecord } from './records.ts';
import { codeOf } from './refusals.ts';

const nothing = { records: [], attempts: [] };

describe.each(drivers.map((driver) => [driver.name, driver] as const))('a store with %s', (_, plain) => {
  /** A store, the statements that its connection for writing ran, and a way to let them fail. */
  function opened(watch: Around = {}) {
    const directory = freshFolder();
    const statements: string[] = [];
    const failing = { at: 'nothing at all', errcode: 10 };
    const driver: Driver = around(plain, {
      ...watch,
      exec: (sql, location) => {
        if (location.endsWith('state.db')) statements.push(sql.trim());
        if (sql.includes(failing.at)) throw sqliteError(failing.errcode);
        return watch.exec?.(sql, location);
      },
      run: (sql) => {
        statements.push(sql.trim().replace(/\s*[(\n].*/s, ''));
        if (sql.includes(failing.at)) throw sqliteError(failing.errcode);
      },
    });
    const checks: number[] = [];
    let lost = false;
    const lock = {
      check: () => {
        checks.push(statements.length);
        if (lost) throw new StateError('state.replaced', 'The lock is gone.');
      },
    };
    const state = openState(directory, { driver, lock });
    statements.length = 0;
    checks.length = 0;
    return {
      directory,
      state,
      statements,
      checks,
      failing,
      lose: () => {
        lost = true;
      },
    };
  }

  const count = (directory: string): string => readFileSync(join(directory, 'submissions'), 'utf8');

  it('is named by its file', () => {
    const { directory, state } = opened();
    expect([state.file, state.reader.file]).toEqual(Array(2).fill(join(directory, 'state.db')));
    state.close();
  });

  it('writes a turn as one transaction: records, totals, history and submissions', () => {
    const { state, statements, checks } = opened();
    state.commit({
      records: [jobRecord('a', 'submitting'), jobRecord('b', 'done')],
      attempts: [{ key: 'a', at: 1, outcome: 'accepted' }],
      submits: 1,
      invocation: 3,
    });
    expect(statements).toEqual([
      'BEGIN IMMEDIATE',
      // What the last run noted holds no longer: in the same transaction, and once for as long as the store is open.
      'DELETE FROM facts WHERE name = ?',
      'INSERT INTO jobs',
      'INSERT INTO jobs',
      'INSERT INTO totals',
      'INSERT INTO totals',
      'INSERT INTO attempts',
      'INSERT INTO facts',
      'INSERT INTO facts',
      'COMMIT',
    ]);
    // Whoever has lost the directory writes nothing into it: that is asked before the transaction begins.
    expect(checks).toEqual([0]);
    statements.length = 0;
    state.commit({ ...nothing, attempts: [{ key: 'a', at: 2, outcome: 'accepted' }] });
    expect(statements).toEqual(['BEGIN IMMEDIATE', 'INSERT INTO attempts', 'COMMIT']);
    state.close();
  });

  it('writes a turn with only one of them, and nothing for an empty turn', async () => {
    const { state, statements, checks } = opened();
    state.commit(nothing);
    state.commit({ ...nothing, submits: 0, invocation: 9 });
    expect([statements, checks, state.fact(invocationFact)]).toEqual([[], [], undefined]);
    state.commit({ ...nothing, submits: 2 });
    state.commit({ ...nothing, attempts: [{ key: 'a', at: 1, outcome: 'accepted' }] });
    state.commit({ ...nothing, records: [jobRecord('a', 'running')] });
    expect((await state.reader.submissions()).known).toBe(2);
    expect(state.attempts('a')).toEqual([{ key: 'a', at: 1, outcome: 'accepted' }]);
    expect(state.get('a')?.status).toBe('running');
    expect(statements.filter((sql) => sql === 'COMMIT')).toHaveLength(3);
    state.close();
  });

  it.each(['INSERT INTO jobs', 'INSERT INTO totals', 'INSERT INTO attempts', 'INSERT INTO facts', 'COMMIT'])(
    'has nothing of a turn that fails at %s, and all of it after a repeated write',
    async (at) => {
      const { directory, state, failing } = opened();
      state.commit({ records: [jobRecord('a', 'pending')], attempts: [], submits: 1, invocation: 1 });
      const turn = {
        records: [jobRecord('a', 'submitting', { attempts: 1, cost: 2 }), jobRecord('b', 'failed')],
        attempts: [{ key: 'a', at: 1, outcome: 'accepted' }],
        submits: 3,
        invocation: 2,
      };
      const before = state.totals();
      failing.at = at;
      expect(codeOf(() => state.commit(turn))).toBe('state.io');
      failing.at = 'nothing at all';
      expect(state.totals()).toEqual(before);
      expect([state.get('a')?.status, state.get('b'), state.attempts('a')]).toEqual([
        'pending',
        undefined,
        [],
      ]);
      expect([state.fact(invocationFact), await state.reader.submissions()]).toEqual([
        '1',
        { known: 1, counted: 0 },
      ]);
      state.countSubmissions();
      expect(count(directory)).toBe('0000000000000001\n');

      state.commit(turn);
      expect(state.totals()).toMatchObject({ attempts: 1, cost: 2 });
      expect([state.get('a')?.status, state.get('b')?.status]).toEqual(['submitting', 'failed']);
      expect([state.fact(invocationFact), (await state.reader.submissions()).known]).toEqual(['2', 4]);
      state.close();
    },
  );

  it('writes the number of a run once, and again for the next run', () => {
    const { state, statements } = opened();
    const commit = (invocation?: number): number => {
      const before = statements.filter((sql) => sql === 'INSERT INTO facts').length;
      state.commit({
        records: [jobRecord('a', 'running')],
        attempts: [],
        ...(invocation === undefined ? {} : { invocation }),
      });
      return statements.filter((sql) => sql === 'INSERT INTO facts').length - before;
    };
    expect([commit(), commit(5), commit(5), commit(), commit(6), commit(5)]).toEqual([0, 1, 0, 0, 1, 1]);
    expect(state.fact(invocationFact)).toBe('5');
    state.close();
  });

  it('counts submissions on request, and never writes a lower number', async () => {
    const { directory, state } = opened();
    state.commit({ ...nothing, submits: 2 });
    expect(count(directory)).toBe('');
    state.countSubmissions();
    expect(count(directory)).toBe('0000000000000002\n');
    state.commit({ ...nothing, submits: 3 });
    expect(count(directory)).toBe('0000000000000002\n');
    state.countSubmissions();
    expect(count(directory)).toBe('0000000000000005\n');
    state.close();
    const again = openState(directory, { driver: plain });
    again.commit({ ...nothing, submits: 1 });
    expect(await again.reader.submissions()).toEqual({ known: 6, counted: 5 });
    again.close();
  });

  it('reports a count that cannot be written with the name of its file', () => {
    const { directory, state } = opened();
    state.commit({ ...nothing, submits: 2 });
    const undo = replaceFs({
      writeSync: () => {
        throw systemError('ENOSPC', 'write');
      },
    });
    expect(() => state.countSubmissions()).toThrow(
      expect.objectContaining({
        code: 'state.full',
        message: expect.stringContaining(join(directory, 'submissions')) as string,
      }),
    );
    undo();
    // What could not be said is said the next time.
    state.countSubmissions();
    expect(count(directory)).toBe('0000000000000002\n');
    state.close();
  });

  it('accepts missing submissions as known, durably, and never forgets known ones', async () => {
    const directory = freshFolder();
    openState(directory, { driver: plain }).close();
    writeFileSync(join(directory, 'submissions'), '0000000000000007\n');
    const state = openState(directory, { driver: plain });
    state.commit({ ...nothing, submits: 2 });
    state.acceptMissing();
    expect(await state.reader.submissions()).toEqual({ known: 7, counted: 7 });
    state.commit({ ...nothing, submits: 4 });
    state.acceptMissing();
    expect(await state.reader.submissions()).toEqual({ known: 11, counted: 7 });
    state.close();
    const reader = openStateForReading(directory, { driver: plain });
    expect(await reader?.submissions()).toEqual({ known: 11, counted: 7 });
    await reader?.close();
  });

  it('writes nothing once its directory is lost', async () => {
    const { state, statements, lose } = opened();
    state.setFact('a', 'b');
    statements.length = 0;
    lose();
    const writes = [
      () => state.commit({ records: [jobRecord('a', 'running')], attempts: [], submits: 1 }),
      () => state.setFact('a', 'c'),
      () => state.rememberInputFile({ path: 'a.csv', sha256: '', bytes: 1, mtimeMs: 1 }),
      () => state.acceptMissing(),
    ];
    expect(writes.map(codeOf)).toEqual(Array(4).fill('state.replaced'));
    expect(statements).toEqual([]);
    expect([state.fact('a'), state.get('a')]).toEqual(['b', undefined]);
    expect(await state.reader.submissions()).toEqual({ known: 0, counted: 0 });
    state.close();
  });

  it('reports a failure of its disk for each kind of write', () => {
    const { state, failing } = opened();
    for (const [at, write] of [
      ['INSERT INTO facts', () => state.setFact('a', 'c')],
      ['INSERT INTO facts', () => state.acceptMissing()],
      ['INTO inputs', () => state.rememberInputFile({ path: 'a.csv', sha256: '', bytes: 1, mtimeMs: 1 })],
      ['BEGIN', () => state.commit({ records: [jobRecord('a', 'running')], attempts: [] })],
    ] as const) {
      failing.at = at;
      failing.errcode = 13;
      expect(codeOf(write)).toBe('state.full');
    }
    failing.at = 'nothing at all';
    state.close();
  });

  it('keeps the history of a job in order, and the jobs in order of their first appearance', async () => {
    const { state } = opened();
    const keys = ['c', 'a', 'b'];
    for (const key of keys) state.commit({ records: [jobRecord(key, 'running')], attempts: [] });
    for (const key of keys.toReversed())
      state.commit({
        records: [jobRecord(key, 'saving')],
        attempts: [1, 2].map((at) => ({ key, at: -at, outcome: `${key}${at}` })),
      });
    expect(state.unfinished().map(({ key }) => key)).toEqual(keys);
    expect([...(await state.reader.numbersOf(keys)).values()]).toEqual([1, 2, 3]);
    for (const key of keys)
      expect(state.attempts(key).map(({ outcome }) => outcome)).toEqual([`${key}1`, `${key}2`]);
    state.close();
  });

  it.each<[string, Partial<JobRecord>, Partial<ReturnType<StateStore['totals']>>]>([
    ['nothing', {}, { cost: 0, possibleCost: 0, tokens: 0, assumedTokens: 0, attempts: 0 }],
    ['attempts', { attempts: 3 }, { attempts: 3, cost: 0 }],
    ['a cost', { cost: 0.5 }, { cost: 0.5, possibleCost: 0 }],
    ['tokens', { usage: { total: 9, prompt: 4 } }, { tokens: 9, assumedTokens: 0 }],
    ['tokens without a sum', { usage: { prompt: 4 } }, { tokens: 0 }],
    ['a possible cost', { doubtful: { count: 1, cost: 2 } }, { cost: 0, possibleCost: 2 }],
    ['a doubt of no known cost', { doubtful: { count: 1 } }, { possibleCost: 0 }],
    [
      'assumed tokens',
      { assumed: { answers: 1, tokens: 5 } },
      { tokens: 0, assumedTokens: 5, possibleCost: 0 },
    ],
    [
      'an assumed cost',
      { assumed: { answers: 1, tokens: 5, cost: 3 }, doubtful: { count: 1, cost: 2 } },
      { possibleCost: 5, cost: 0, assumedTokens: 5 },
    ],
  ])('adds %s to the totals, and subtracts it with its record', (_what, more, totals) => {
    const { state } = opened();
    state.commit({ records: [jobRecord('a', 'running', more), jobRecord('b', 'done', more)], attempts: [] });
    state.commit({ records: [jobRecord('b', 'done')], attempts: [] });
    expect(state.totals()).toMatchObject(totals);
    state.commit({ records: [jobRecord('a', 'done')], attempts: [] });
    expect(state.totals()).toMatchObject({
      attempts: 0,
      cost: 0,
      possibleCost: 0,
      tokens: 0,
      assumedTokens: 0,
    });
    expect(state.totals().jobs.done).toBe(2);
    state.close();
  });

  it('has no job of a turn that failed, has it once that is repeated, and none once it is closed', () => {
    const { state: store, failing } = opened();
    const attempts = [{ key: 'k', at: 1, outcome: 'accepted' as const }];
    const turn = { records: [jobRecord('k', 'pending')], attempts };
    failing.at = 'INSERT INTO attempts';
    expect(() => store.commit(turn)).toThrow(StateError);
    expect(store.get('k')).toBeUndefined();
    failing.at = 'nothing at all';
    store.commit(turn);
    expect(store.get('k')?.status).toBe('pending');
    store.close();
    expect(() => store.get('k')).toThrow(/not open|finalized|closed/);
  });

  it('is folded into one file when it is closed, and is closed even if it cannot be folded', async () => {
    const steps: string[] = [];
    const { state } = opened({
      executed: (sql) => steps.push(sql),
      close: () => steps.push('closed'),
    });
    state.setFact('a', 'b');
    steps.length = 0;
    state.close();
    expect(steps).toEqual(['PRAGMA wal_checkpoint(TRUNCATE)', 'closed']);

    const closed: string[] = [];
    const other = opened({ close: (location) => closed.push(location) });
    other.state.setFact('a', 'b');
    other.failing.at = 'wal_checkpoint';
    closed.length = 0;
    other.state.close();
    expect(closed).toEqual([join(other.directory, 'state.db')]);
    const reader = openStateForReading(other.directory, { driver: plain });
    expect(await reader?.fact('a')).toBe('b');
    await reader?.close();
  });

  it('keeps the exact records, attempts and numbers', () => {
    const { directory, state } = opened();
    const exact = jobRecord('a', 'done', {
      cost: 0.1 + 0.2,
      submittedAt: Number.MAX_SAFE_INTEGER,
      request: { kind: 'imagine', fields: { prompt: '狐 \u0000 "\\u2028\u2028', big: 1e21 } },
    });
    state.commit({ records: [exact], attempts: [] });
    expect(state.get('a')).toEqual(exact);
    const database = openDatabase(join(directory, 'state.db'), { driver: plain, readOnly: true });
    expect(
      database
        .prepare('SELECT status, code, root, slot, attempts, cost, tokens, possible, assumed FROM jobs')
        .get(),
    ).toEqual({
      status: 'done',
      code: '',
      root: 1,
      slot: 'slot-a',
      attempts: 0,
      cost: 0.1 + 0.2,
      tokens: 0,
      possible: 0,
      assumed: 0,
    });
    database.close();
    state.close();
  });
});
