import * as fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { type Attempt, type JobRecord, jobStatuses } from '../../src/plan/job.ts';
import { openState } from '../../src/state/state.ts';
import { burstMs, fingerprintFact, type StateStore, type Turn } from '../../src/state/store.ts';
import { type TestEngine, testEngine } from '../engine/state/opened.ts';
import { all } from '../rig/all.ts';
import { faultyStore } from '../rig/faulty-store.ts';
import { memoryStore, recount } from '../rig/memory-store.ts';
import { hasPostgres } from '../rig/postgres.ts';
import { drivers, freshFolder } from './places.ts';
import { anyTurn, jobRecord } from './records.ts';

/** What this suite asks of a store: one that is elsewhere answers later. */
type Later<T> = {
  [Name in keyof T]: T[Name] extends (...given: infer Given) => infer Result
    ? (...given: Given) => Result | Promise<Result>
    : T[Name];
};

type TestedStore = Pick<StateStore, 'reader' | 'get'> &
  Later<
    Pick<
      StateStore,
      'unfinished' | 'totals' | 'attempts' | 'claims' | 'inputFile' | 'fact' | 'setFact' | 'rememberInputFile'
    >
  > & {
    commit(turn: Turn): unknown;
    /** What a directory has and an engine has not: a count of submissions beside its state. */
    readonly directory?: StateStore;
    close(): void;
  };

const inDirectory = (store: StateStore): TestedStore => ({ ...store, directory: store });

let engine: TestEngine | undefined;
afterAll(async () => {
  await engine?.[Symbol.asyncDispose]();
});

async function onEngine(): Promise<TestedStore> {
  engine ??= await testEngine();
  const store = await engine.worker(await engine.run());
  const { reader } = store;
  return {
    ...store,
    // A worker is told of these with its slices, or asks for them once.
    unfinished: () => all(reader.unfinished()),
    totals: () => reader.totals(),
    attempts: (key) => reader.attempts(key),
    inputFile: async (path) => (await reader.inputFiles([path])).get(path),
    close: () => undefined,
  };
}

const stores: readonly (readonly [string, () => TestedStore | Promise<TestedStore>])[] = [
  ['memory', () => inDirectory(memoryStore())],
  ['faulty, without faults', () => inDirectory(faultyStore(memoryStore()))],
  ...drivers.map((driver) => [driver.name, () => inDirectory(openState(freshFolder(), { driver }))] as const),
  ...(hasPostgres ? [['PostgreSQL', onEngine] as const] : []),
];

/** Those that lie in a directory. */
const directories = stores.filter(([name]) => name !== 'PostgreSQL');

async function openDirectory(open: () => TestedStore | Promise<TestedStore>): Promise<StateStore> {
  const { directory } = await open();
  if (directory === undefined) throw new Error('not in a directory');
  return directory;
}

const json = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

describe.each(stores)('a state store: %s', (name, open) => {
  it('is empty when it is new', async () => {
    const store = await open();
    expect(store.get('a')).toBeUndefined();
    expect(await store.fact('a')).toBeUndefined();
    expect(await all(store.reader.rootKeys())).toEqual([]);
    expect(await store.totals()).toEqual(recount([]));
    expect(await store.reader.submissions()).toEqual({ known: 0, counted: 0 });
    store.close();
  });

  it('returns every committed record', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyTurn, { maxLength: 5 }), async (turns) => {
        const store = await open();
        const { reader } = store;
        const jobs = new Map<string, JobRecord>();
        const attempts: Attempt[] = [];
        for (const turn of turns) {
          await store.commit(turn);
          for (const record of turn.records) jobs.set(record.key, json(record));
          attempts.push(...turn.attempts.map(json));
        }
        const records = [...jobs.values()];
        const keysWhere = (holds: (record: JobRecord) => boolean): string[] =>
          records.filter(holds).map((record) => record.key);

        for (const [key, record] of jobs) {
          expect(store.get(key)).toEqual(record);
          expect(await reader.get(key)).toEqual(record);
        }
        expect(await reader.many([...jobs.keys(), 'no job'])).toEqual(jobs);
        for (const status of jobStatuses) {
          expect((await all(reader.withStatus(status))).map((record) => record.key)).toEqual(
            keysWhere((record) => record.status === status).sort(),
          );
        }
        expect((await all(reader.withStatus('failed', 'task.failed'))).map((record) => record.key)).toEqual(
          keysWhere((record) => record.status === 'failed' && record.error?.code === 'task.failed').sort(),
        );
        const unfinished = keysWhere((record) =>
          ['submitting', 'running', 'modal', 'saving'].includes(record.status),
        );
        expect((await store.unfinished()).map((record) => record.key)).toEqual(unfinished);
        expect((await all(reader.unfinished())).map((record) => record.key)).toEqual(unfinished);
        const slots = ['slot-0', 'slot-1', 'slot-2', 'no slot'];
        expect(await reader.keysOfSlots(slots)).toEqual(
          new Map(
            slots
              .map((slot) => [slot, keysWhere((record) => record.origin.slot === slot)] as const)
              .filter(([, keys]) => keys.length > 0),
          ),
        );
        const numbered = await reader.numbersOf([...jobs.keys(), 'no job']);
        expect(numbered.size).toBe(jobs.size);
        const numbers = [...jobs.keys()].map((key) => numbered.get(key) ?? 0);
        expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
        expect(new Set(numbers).size).toBe(jobs.size);
        expect(await reader.lastNumber()).toBe(numbers.at(-1) ?? 0);
        expect(await all(store.reader.rootKeys())).toEqual(
          keysWhere((record) => record.parent === undefined).sort(),
        );
        expect(await store.totals()).toEqual(recount(records));
        expect(await reader.totals()).toEqual(recount(records));
        for (const prefix of ['', 'key-1', 'key-3', 'nothing'])
          expect(await store.reader.keysWithPrefix(prefix, 4)).toEqual(
            keysWhere(({ key }) => key.startsWith(prefix))
              .sort()
              .slice(0, 4),
          );
        for (const text of ['key-0', 'failed', '"'])
          expect((await all(reader.mentioning(text))).map((record) => record.key)).toEqual(
            keysWhere((record) => JSON.stringify(record).includes(JSON.stringify(text))),
          );
        for (const key of ['key-0', 'key-1']) {
          const own = attempts.filter((attempt) => attempt.key === key);
          expect(await store.attempts(key)).toEqual(own);
          expect(await reader.attempts(key)).toEqual(own);
        }
        store.close();
      }),
      { seed: 20_261_121, numRuns: name === 'PostgreSQL' ? 6 : 15 },
    );
  });

  it('keeps the latest facts of a file that a run recorded', async () => {
    const store = await open();
    const file = { path: 'masks/neck.png', sha256: 'aa', bytes: 12, mtimeMs: 1_700_000_000_000.25 };
    await store.rememberInputFile({ ...file, sha256: 'bb' });
    await store.rememberInputFile(file);
    expect([await store.inputFile(file.path), await store.inputFile('masks/other.png')]).toEqual([
      file,
      undefined,
    ]);
    const other = { ...file, path: 'masks/"ear".png' };
    await store.rememberInputFile(other);
    expect(await store.reader.inputFiles([other.path, 'masks/other.png', file.path])).toEqual(
      new Map([
        [file.path, file],
        [other.path, other],
      ]),
    );
    store.close();
  });

  it('reads beyond one page, in key order, while it is written', async () => {
    const store = await open();
    const keys = Array.from({ length: 700 }, (_unused, index) => `k${String(index).padStart(4, '0')}`);
    await store.commit({ records: keys.map((key) => jobRecord(key, 'failed')), attempts: [] });
    const seen: string[] = [];
    for await (const { key } of store.reader.withStatus('failed')) {
      if (seen.push(key) % 25 > 0) continue;
      await store.commit({ records: seen.slice(-25).map((each) => jobRecord(each, 'done')), attempts: [] });
    }
    expect(seen).toEqual(keys);
    expect(await all(store.reader.withStatus('done'))).toHaveLength(700);
    expect(await all(store.reader.rootKeys())).toEqual(keys);
    store.close();
  });

  it('finds a text anywhere among many records, and no record that only contains it as a part', async () => {
    const store = await open();
    const keys = Array.from({ length: 9000 }, (_unused, index) => `k${String(index).padStart(4, '0')}`);
    await store.commit({
      records: keys.map((key, index) =>
        jobRecord(key, 'done', index % 3000 === 2999 ? { parent: 'k0001' } : { parent: 'k00012' }),
      ),
      attempts: [],
    });
    const found = async (text: string): Promise<string[]> =>
      (await all(store.reader.mentioning(text))).map(({ key }) => key);
    expect(await found('k0001')).toEqual(['k0001', 'k2999', 'k5999', 'k8999']);
    expect(await found('k000')).toEqual([]);
    expect(await store.reader.keysWithPrefix('k89', 3)).toEqual(['k8900', 'k8901', 'k8902']);
    expect(await store.reader.keysWithPrefix('k8999', 3)).toEqual(['k8999']);
    store.close();
  });

  it('finds the job of a task by each of its attempts, among many attempts', async () => {
    const store = await open();
    const numbers = Array.from({ length: 8193 }, (_unused, index) => index + 1);
    await store.commit({
      records: [],
      attempts: numbers.map((n) => ({ key: `k${n}`, at: n, outcome: 'accepted', taskId: `t${n}` })),
    });
    const found = (n: number): Promise<string[]> => all(store.reader.keysOfTask(`t${n}`));
    for (const n of [1, 4095, 4096, 4097, 8192, 8193]) expect(await found(n)).toEqual([`k${n}`]);
    expect(await found(8194)).toEqual([]);
    store.close();
  });

  it('knows which jobs got the id of a task in one burst, after many other attempts', async () => {
    const store = await open();
    const accepted = (key: string, at: number, taskId = 'T'): Attempt => ({
      key,
      at,
      outcome: 'accepted',
      taskId,
    });
    const at = 10 * burstMs;
    await store.commit({
      records: ['a', 'b', 'c'].map((key) => jobRecord(key, 'running', { taskId: 'T', submittedAt: at })),
      attempts: [
        accepted('c', at - burstMs),
        accepted('a', at),
        accepted('b', at + 3),
        accepted('d', at, 'T2'),
      ],
    });
    await store.commit({
      records: [],
      attempts: Array.from({ length: 9000 }, (_unused, n) => accepted(`k${n}`, at + 1000, `t${n}`)),
    });
    const record = jobRecord('a', 'running', { taskId: 'T', submittedAt: at });
    expect(await store.claims(record)).toEqual({ keys: ['a', 'b'], mayGrow: false });
    store.close();
  });

  it('replaces a record as a whole', async () => {
    const store = await open();
    await store.commit({ records: [jobRecord('a', 'running', { taskId: '7', cost: 2 })], attempts: [] });
    await store.commit({ records: [jobRecord('a', 'done')], attempts: [] });
    expect(store.get('a')).toEqual(jobRecord('a', 'done'));
    expect((await store.totals()).cost).toBe(0);
    store.close();
  });

  it('keeps the latest value of a fact', async () => {
    const store = await open();
    await store.setFact('pipeline.text', 'name: foxes');
    await store.setFact('pipeline.text', 'name: owls 🦉');
    expect(await store.fact('pipeline.text')).toBe('name: owls 🦉');
    expect(await store.reader.fact('pipeline.text')).toBe('name: owls 🦉');
    store.close();
  });

  it('keeps facts with the records of a turn', async () => {
    const store = await open();
    await store.commit({
      records: [jobRecord('a', 'done')],
      attempts: [],
      facts: { 'learned.poll': 'a', x: 'b' },
    });
    await store.commit({ records: [jobRecord('b', 'done')], attempts: [], facts: { x: 'c' } });
    expect([await store.fact('learned.poll'), await store.reader.fact('x')]).toEqual(['a', 'c']);
    store.close();
  });
});

describe.each(directories)('the state store of a directory: %s', (_, open) => {
  it('knows the submissions of a commit with the commit, and counts them on request', async () => {
    const store = await openDirectory(open);
    store.commit({ records: [jobRecord('a', 'submitting')], attempts: [], submits: 2 });
    expect(await store.reader.submissions()).toEqual({ known: 2, counted: 0 });
    store.countSubmissions();
    store.commit({ records: [], attempts: [], submits: 1 });
    store.commit({ records: [jobRecord('b', 'done')], attempts: [] });
    expect(await store.reader.submissions()).toEqual({ known: 3, counted: 2 });
    store.countSubmissions();
    store.countSubmissions();
    expect(await store.reader.submissions()).toEqual({ known: 3, counted: 3 });
    store.acceptMissing();
    expect(await store.reader.submissions()).toEqual({ known: 3, counted: 3 });
    store.close();
  });

  it('deletes the fingerprint of a finished run with every change of jobs and files', async () => {
    const store = await openDirectory(open);
    const changes: readonly (() => void)[] = [
      () => store.commit({ records: [jobRecord('a', 'done')], attempts: [] }),
      () => store.commit({ records: [], attempts: [{ key: 'a', at: 1, outcome: 'x' }] }),
      () => store.commit({ records: [], attempts: [], submits: 1 }),
      () => store.rememberInputFile({ path: 'a.png', sha256: 'x', bytes: 1, mtimeMs: 1 }),
      () => store.acceptMissing(),
    ];
    for (const change of [...changes, ...changes]) {
      store.setFact(fingerprintFact, '{}');
      store.setFact('run.last', '{}');
      store.commit({ records: [], attempts: [] });
      expect(store.fact(fingerprintFact)).toBe('{}');
      change();
      expect(store.fact(fingerprintFact)).toBeUndefined();
      expect(await store.reader.fact(fingerprintFact)).toBeUndefined();
    }
    store.close();
  });

  it('fails after it is closed', async () => {
    const store = await openDirectory(open);
    store.close();
    expect(() => store.get('a')).toThrow(/not open|finalized|closed/);
    await expect(store.reader.get('a')).rejects.toThrow(/not open|finalized|closed/);
    await expect(all(store.reader.withStatus('done'))).rejects.toThrow(/not open|finalized|closed/);
    expect(() => store.commit({ records: [jobRecord('a', 'done')], attempts: [] })).toThrow(
      /not open|finalized|closed/,
    );
  });
});
