import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JobErrorCode } from '../../src/pipeline/diagnostics/job-errors.ts';
import type { StateReader } from '../../src/state/reader.ts';
import type { Driver } from '../../src/state/sqlite/driver.ts';
import { openDatabase } from '../../src/state/sqlite/sqlite.ts';
import { openState, openStateForReading } from '../../src/state/state.ts';
import { all } from '../rig/all.ts';
import { memoryStore } from '../rig/memory-store.ts';
import { noJobs } from '../rig/no-counts.ts';
import { sqliteError } from './noting-driver.ts';
import { drivers, freshFolder } from './places.ts';
import { jobRecord } from './records.ts';

/** A state with one job in it, whose document was replaced by another text. */
function stateWith(doc: string): StateReader {
  const directory = freshFolder();
  const state = openState(directory);
  state.commit({
    records: [jobRecord('a', 'running')],
    attempts: [{ key: 'a', at: 1, outcome: 'accepted', taskId: 'T1' }],
  });
  state.close();
  const database = openDatabase(join(directory, 'state.db'));
  database.prepare('UPDATE jobs SET doc = ?').run(doc);
  database.close();
  const reader = openStateForReading(directory);
  if (reader === undefined) throw new Error('There is a state.');
  return reader;
}

const plain = jobRecord('a', 'running');
const withDoc = (changes: object): string => JSON.stringify({ ...plain, ...changes });

describe('the record of a job', () => {
  it('has the members that all readers of jobs rely on', async () => {
    const changes = { request: { kind: 'imagine', fields: {} }, more: 'of a later release' };
    const reader = stateWith(withDoc(changes));
    expect(await reader.get('a')).toMatchObject({ key: 'a', ...changes });
    await reader.close();
  });

  it.each<[string, string]>([
    ['no JSON', '{'],
    ['null', 'null'],
    ['a text', '"a"'],
    ['a list', '[]'],
    ['the record of another job', withDoc({ key: 'b' })],
    ['one of an unknown status', withDoc({ status: 'lost' })],
    ['one without a status', withDoc({ status: undefined })],
    ['one without attempts', withDoc({ attempts: '1' })],
    ['one without an origin', withDoc({ origin: undefined })],
    ['one without a slot', withDoc({ origin: { slot: 1 } })],
    ['one without a request', withDoc({ request: 'imagine' })],
    ['one without artifacts', withDoc({ artifacts: {} })],
    ['one without the fields of its request', withDoc({ request: { kind: 'imagine' } })],
    ['one with a file of no name', withDoc({ artifacts: [{ output: 1, bytes: 1, sha256: '', mime: '' }] })],
    ['one with an error that says nothing', withDoc({ error: {} })],
    ['one with a button that is a text', withDoc({ result: { buttons: ['U1'] } })],
  ])('that is %s is damage for every query', async (_what, doc) => {
    const reader = stateWith(doc);
    const damaged = expect.objectContaining({ code: 'state.corrupt' });
    await expect(reader.get('a')).rejects.toEqual(damaged);
    await expect(reader.many(['a'])).rejects.toEqual(damaged);
    await expect(all(reader.unfinished())).rejects.toEqual(damaged);
    await expect(all(reader.withStatus('running'))).rejects.toEqual(damaged);
    await reader.close();
  });

  it('that is missing is not damage', async () => {
    const reader = stateWith(withDoc({}));
    expect(await reader.get('b')).toBeUndefined();
    expect(await reader.many(['b'])).toEqual(new Map());
    expect(await all(reader.keysOfTask('T1'))).toEqual(['a']);
    expect(await all(reader.keysOfTask('T'))).toEqual([]);
    await reader.close();
  });
});

describe('totals', () => {
  it('show codes of failed and in-doubt jobs only, and money without rounding errors', async () => {
    const directory = freshFolder();
    const state = openState(directory);
    const error = { code: 'task.failed' as const, message: 'm' };
    const spent = { attempts: 2, usage: { total: 7 }, assumed: { answers: 1, tokens: 5, cost: 0.2 } };
    state.commit({
      records: [
        jobRecord('a', 'failed', { error, cost: 0.1, ...spent }),
        jobRecord('b', 'failed', { error, cost: 0.2 }),
        jobRecord('c', 'in-doubt', { error, doubtful: { count: 1, cost: 0.1 } }),
        jobRecord('d', 'pending', { error }),
        jobRecord('e', 'failed'),
      ],
      attempts: [],
    });
    expect(await state.reader.totals()).toEqual({
      jobs: { ...noJobs, pending: 1, failed: 3, 'in-doubt': 1 },
      attempts: 2,
      cost: 0.3,
      possibleCost: 0.3,
      tokens: 7,
      assumedTokens: 5,
      codes: { failed: { 'task.failed': 2 }, 'in-doubt': { 'task.failed': 1 } },
    });
    state.close();
  });
});

describe('pages of a search', () => {
  it.each([255, 256, 257, 512, 513])('contain each of %i jobs once', async (count) => {
    const state = openState(freshFolder());
    const keys = Array.from({ length: count }, (_, n) => `k${String(n).padStart(4, '0')}`);
    state.commit({ records: keys.map((key) => jobRecord(key, 'failed')), attempts: [] });
    expect((await all(state.reader.withStatus('failed'))).map(({ key }) => key)).toEqual(keys);
    expect(await all(state.reader.withStatus('failed', 'task.failed'))).toEqual([]);
    expect(await all(state.reader.rootKeys())).toEqual(keys);
    state.close();
  });

  it('contain no job with a parent among the roots', async () => {
    const state = openState(freshFolder());
    state.commit({
      records: [jobRecord('a', 'done'), jobRecord('b', 'done', { parent: 'a' })],
      attempts: [],
    });
    expect(await all(state.reader.rootKeys())).toEqual(['a']);
    // What a job continues is said anew with each record.
    state.commit({
      records: [jobRecord('a', 'done', { parent: 'b' }), jobRecord('b', 'done')],
      attempts: [],
    });
    expect(await all(state.reader.rootKeys())).toEqual(['b']);
    state.close();
  });

  it('contain the jobs of a slot, and none of another with the same beginning', async () => {
    const state = openState(freshFolder());
    const slots = ['01234567', '012345678', '0123456', '', '01234567\u{1F98A}'];
    const records = slots.map((slot, n) =>
      jobRecord(`k${n}`, 'done', { origin: { cell: 1, step: 'grid', branch: '', slot } }),
    );
    state.commit({ records, attempts: [] });
    for (const [n, slot] of slots.entries())
      expect(await state.reader.keysOfSlots([slot])).toEqual(new Map([[slot, [`k${n}`]]]));
    expect([...(await state.reader.keysOfSlots(slots)).keys()]).toEqual(slots);
    expect(await state.reader.keysOfSlots(['0123456789', '01234568'])).toEqual(new Map());
    state.close();
  });
});

describe('a search', () => {
  it('for failures of one code finds all of them, beyond one page, and none of another code', async () => {
    const state = openState(freshFolder());
    const codes = ['task.failed', 'task.timeout', 'task'];
    const keys = Array.from({ length: 1600 }, (_, n) => `k${String(n).padStart(4, '0')}`);
    const codeOf = (n: number): string => codes[n % 3] ?? '';
    state.commit({
      records: keys.map((key, n) =>
        jobRecord(key, 'failed', { error: { code: codeOf(n) as JobErrorCode, message: 'm' } }),
      ),
      attempts: [],
    });
    for (const code of [...codes, '', 'task.'])
      expect((await all(state.reader.withStatus('failed', code))).map(({ key }) => key)).toEqual(
        keys.filter((_, n) => codeOf(n) === code),
      );
    expect(await all(state.reader.withStatus('failed'))).toHaveLength(1600);
    expect(await all(state.reader.withStatus('in-doubt', 'task'))).toEqual([]);
    state.close();
  });

  it('reads each page once, in its state at that moment', async () => {
    const state = openState(freshFolder());
    const keys = Array.from({ length: 300 }, (_, n) => `k${String(n).padStart(4, '0')}`);
    state.commit({ records: keys.map((key) => jobRecord(key, 'pending')), attempts: [] });
    const seen: string[] = [];
    for await (const { key, attempts } of state.reader.withStatus('pending')) {
      if (seen.length === 0)
        state.commit({
          records: keys.slice(256).map((k) => jobRecord(k, 'pending', { attempts: 7 })),
          attempts: [],
        });
      seen.push(`${key} ${attempts}`);
    }
    expect(seen).toEqual(keys.map((key, n) => `${key} ${n < 256 ? 0 : 7}`));
    state.close();
  });

  it('through all records finds one at every position, oldest first', async () => {
    const state = openState(freshFolder());
    const count = 8193;
    state.commit({
      records: Array.from({ length: count }, (_, n) =>
        jobRecord(`k${count - n}`, 'done', { taskId: `t${n + 1}` }),
      ),
      attempts: [],
    });
    for (const n of [1, 4095, 4096, 4097, 8192, 8193])
      expect((await all(state.reader.mentioning(`t${n}`))).map(({ taskId }) => taskId)).toEqual([`t${n}`]);
    const common = await all(state.reader.mentioning('done'));
    expect(common.map(({ taskId }) => taskId)).toEqual(Array.from({ length: count }, (_, n) => `t${n + 1}`));
    state.close();
  });

  it('for a task finds each of its attempts, and none that only mentions it', async () => {
    const state = openState(freshFolder());
    state.commit({
      records: [],
      attempts: [
        { key: 'a', at: 1, outcome: 'T1' },
        { key: 'b', at: 2, outcome: 'accepted', taskId: 'T1' },
        {
          key: 'c',
          at: 3,
          outcome: 'accepted',
          taskId: 'T11',
          error: { code: 'T1' as JobErrorCode, message: 'T1' },
        },
        { key: 'b', at: 4, outcome: 'polled', taskId: 'T1' },
      ],
    });
    expect(await all(state.reader.keysOfTask('T1'))).toEqual(['b', 'b']);
    state.close();
  });

  it('for keys by their beginning compares code points, however high, and keeps its limit', async () => {
    const state = openState(freshFolder());
    const keys = ['a', 'a\u{10FFFE}', 'aa', 'ab', 'b', 'é', '狐', '🦊', '🦊🦊'];
    state.commit({ records: keys.map((key) => jobRecord(key, 'done')), attempts: [] });
    expect(await state.reader.keysWithPrefix('a', 9)).toEqual(['a', 'aa', 'ab', 'a\u{10FFFE}']);
    expect(await state.reader.keysWithPrefix('🦊', 9)).toEqual(['🦊', '🦊🦊']);
    expect(await state.reader.keysWithPrefix('', 3)).toEqual(['a', 'aa', 'ab']);
    expect(await state.reader.keysWithPrefix('', 0)).toEqual([]);
    state.close();
  });
});

describe('a reader', () => {
  it('without a file has no name, and one with a file names it', () => {
    expect(memoryStore().reader).not.toHaveProperty('file');
    const state = openState(freshFolder());
    expect(state.reader.file).toBe(state.file);
    state.close();
  });

  it('reports damage and failures by a code, for every question', async () => {
    const directory = freshFolder();
    openState(directory).close();
    let fails = false;
    const driver: Driver = {
      ...drivers[0],
      open: (location, given) => {
        const raw = (drivers[0] as Driver).open(location, given);
        return {
          exec: (sql) => raw.exec(sql),
          close: () => raw.close(),
          prepare: (sql) => {
            const statement = raw.prepare(sql);
            const failing = <T>(work: () => T): T => {
              if (fails) throw sqliteError(10, 'disk I/O error');
              return work();
            };
            return {
              run: (...values) => failing(() => statement.run(...values)),
              get: (...values) => failing(() => statement.get(...values)),
              all: (...values) => failing(() => statement.all(...values)),
              iterate: (...values) => failing(() => statement.iterate(...values)),
            };
          },
        };
      },
    } as Driver;
    const reader = openStateForReading(directory, { driver });
    if (reader === undefined) throw new Error('There is a state.');
    fails = true;
    const questions: Readonly<
      Record<
        | Exclude<keyof StateReader, 'file' | 'table' | 'replyLine' | 'redos' | 'close'>
        | keyof StateReader['redos'],
        () => Promise<unknown>
      >
    > = {
      get: () => reader.get('a'),
      many: () => reader.many(['a']),
      unfinished: () => all(reader.unfinished()),
      withStatus: () => all(reader.withStatus('failed')),
      keysOfSlots: () => reader.keysOfSlots(['a']),
      keysWithPrefix: () => reader.keysWithPrefix('a', 1),
      mentioning: () => all(reader.mentioning('a')),
      keysOfTask: () => all(reader.keysOfTask('a')),
      numbersOf: () => reader.numbersOf(['a']),
      lastNumber: () => reader.lastNumber(),
      rootKeys: () => all(reader.rootKeys()),
      totals: () => reader.totals(),
      stepSums: () => reader.stepSums(),
      submissions: () => reader.submissions(),
      attempts: () => reader.attempts('a'),
      counts: () => reader.redos.counts(),
      entries: () => reader.redos.entries(['a']),
      waiting: () => all(reader.redos.waiting()),
      inputFiles: () => reader.inputFiles(['a']),
      fact: () => reader.fact('a'),
    };
    for (const [name, ask] of Object.entries(questions))
      await expect(ask(), name).rejects.toMatchObject({
        code: 'state.io',
        message: expect.stringContaining(join(directory, 'state.db')) as string,
      });
    fails = false;
    await reader.close();
  });

  it('of an attempt that is not JSON reports damage', async () => {
    const directory = freshFolder();
    const state = openState(directory);
    state.commit({ records: [], attempts: [{ key: 'a', at: 1, outcome: 'accepted', taskId: 'T1' }] });
    state.close();
    const database = openDatabase(join(directory, 'state.db'));
    database.exec(`UPDATE attempts SET doc = '{"taskId":"T1"'`);
    database.close();
    const reader = openStateForReading(directory);
    if (reader === undefined) throw new Error('There is a state.');
    const damaged = expect.objectContaining({ code: 'state.corrupt' }) as Error;
    await expect(reader.attempts('a')).rejects.toEqual(damaged);
    await expect(all(reader.keysOfTask('T1'))).rejects.toEqual(damaged);
    await reader.close();
  });
});
