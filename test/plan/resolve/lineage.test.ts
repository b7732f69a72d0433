import { describe, expect, test } from 'vitest';
import { droppedCode, type JobRecord } from '../../../src/plan/job.ts';
import {
  begunFrom,
  CellSources,
  isOutdated,
  lineageNow,
  lineageOf,
  parentTaskOf,
  sourcesOf,
  timesRedone,
} from '../../../src/plan/resolve/lineage.ts';

const job = (key: string, changes: Partial<JobRecord> = {}): JobRecord => ({
  key,
  kind: 'click',
  status: 'done',
  request: { kind: 'click', press: [], fields: {} },
  origin: { cell: 1, step: 's', branch: '', slot: 'x' },
  keep: true,
  attempts: 1,
  tries: 0,
  resubmits: 0,
  artifacts: [],
  ...changes,
});

const redone = (count: number, changes: Partial<JobRecord> = {}): Partial<JobRecord> => ({
  redone: { count, first: { taskId: 'first', submittedAt: 100 } },
  ...changes,
});

const lookupIn =
  (...records: readonly JobRecord[]) =>
  (key: string): JobRecord | undefined =>
    records.find((record) => record.key === key);

test('a job that two slots of a cell ask for comes from the sources of both, and from nothing that comes from itself', () => {
  const sources = new CellSources();
  sources.add('text', ['grid']);
  sources.add('text', ['checked']);
  sources.add('other', ['text']);
  expect(sources.before('grid', ['other', 'checked', 'grid'])).toEqual(['checked']);
  expect(sources.before('checked', ['other', 'grid'])).toEqual(['grid']);
  expect(sources.before('text', ['grid', 'checked', 'other'])).toEqual(['grid', 'checked']);
});

describe('what a job comes from', () => {
  test('are all that it presses, gathers, shows, continues and reads, each once', () => {
    expect(
      sourcesOf({
        inputs: ['a', 'b'],
        request: {
          kind: 'generate',
          fields: {},
          images: [{ job: 'c' }, { url: 'u' }, { job: 'a' }],
          continues: 'd',
        },
        reads: ['e', 'b'],
      }),
    ).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(sourcesOf({ parent: 'a', request: { kind: 'click', press: [], fields: {} } })).toEqual(['a']);
  });

  test('is recorded of what it needs only where that was redone, of what it reads always', () => {
    const lookup = lookupIn(job('a'), job('b', redone(2)), job('c'), job('d', redone(1)));
    const request = { kind: 'generate', fields: {} } as const;
    expect(lineageOf({ inputs: ['a', 'b'], request, reads: ['c', 'd', 'gone'] }, 'T', lookup)).toEqual({
      parentTaskId: 'T',
      from: { b: 2, c: 0, d: 1, gone: 0 },
    });
    expect(lineageOf({ parent: 'a', request }, undefined, lookup)).toEqual({});
    expect(timesRedone(undefined)).toBe(0);
  });

  test('is read again from the same sources', () => {
    const lookup = lookupIn(job('a', redone(1)), job('b', redone(3)));
    const record = job('x', { parent: 'a', from: { b: 0 }, parentTaskId: 'old' });
    expect(lineageNow(record, 'new', lookup)).toEqual({ parentTaskId: 'new', from: { a: 1, b: 3 } });
  });

  test('of a new beginning keeps what other cells had it made from', () => {
    const record = job('x', { parentTaskId: 'old', from: { a: 1, b: 1 } });
    expect(begunFrom(record, { parentTaskId: 'new', from: { b: 2 } })).toMatchObject({
      parentTaskId: 'new',
      from: { a: 1, b: 2 },
    });
    expect(begunFrom(record, {})).toEqual(job('x', { from: { a: 1, b: 1 } }));
    expect(begunFrom(job('y'), {})).toEqual(job('y'));
  });
});

describe('a settled job has to be redone', () => {
  const source = (count: number) => lookupIn(job('a', redone(count)));
  const below = (changes: Partial<JobRecord> = {}): JobRecord => job('x', { parent: 'a', ...changes });

  test.each<readonly [string, JobRecord, number, boolean]>([
    ['where its parent was redone since', below(), 1, true],
    ['where it failed, and its parent was redone since', below({ status: 'failed' }), 1, true],
    ['not where its parent never was', below(), 0, false],
    ['not where it was begun from the new result', below({ from: { a: 1 } }), 1, false],
    ['where that was replaced again', below({ from: { a: 1 } }), 2, true],
    ['not while it is held in doubt', below({ status: 'in-doubt' }), 1, false],
    ['not while it runs', below({ status: 'running' }), 1, false],
    ['not while its own redo may still come', below({ former: { resubmits: 0 } }), 1, false],
    [
      'not where the user gave it up',
      below({ status: 'failed', error: { code: droppedCode, message: '' } }),
      1,
      false,
    ],
    [
      'where another error ended it',
      below({ status: 'failed', error: { code: 'service.rejected', message: '' } }),
      1,
      true,
    ],
    ['not where a redo from this result failed', below({ kept: { a: 1 } }), 1, false],
    ['where a redo from an earlier result failed', below({ kept: { a: 1 } }), 2, true],
  ])('%s', (_, record, count, outdated) => {
    expect(isOutdated(record, source(count))).toBe(outdated);
  });

  test('not for a source that it never came from', () => {
    expect(isOutdated(job('x', { from: { b: 0 } }), source(1), ['a'])).toBe(false);
    expect(isOutdated(job('x', { from: { a: 0 } }), source(1), ['a'])).toBe(true);
  });

  test('for any of its sources', () => {
    const lookup = lookupIn(job('a'), job('b', redone(1)));
    expect(isOutdated(job('x', { inputs: ['a', 'b'] }), lookup)).toBe(true);
    expect(isOutdated(job('x', { inputs: ['b', 'a'] }), lookup)).toBe(true);
  });

  test('not for a source that was itself made from it, over any number of others', () => {
    const record = job('x', { from: { a: 0 } });
    expect(isOutdated(record, lookupIn(job('a', redone(1, { parent: 'x' }))))).toBe(false);
    const far = [
      job('a', redone(1, { inputs: ['p', 'q'] })),
      job('q', { from: { r: 0 } }),
      job('r', { parent: 'x' }),
    ];
    expect(isOutdated(record, lookupIn(...far))).toBe(false);
    expect(isOutdated(record, lookupIn(...far.slice(0, 2)))).toBe(true);
  });
});

describe('the task that a job was made from', () => {
  const parent = (changes: Partial<JobRecord>) => lookupIn(job('a', { taskId: 'now', ...changes }));
  const below = (changes: Partial<JobRecord> = {}): JobRecord => job('x', { parent: 'a', ...changes });

  test('is the one on record', () => {
    expect(parentTaskOf(below({ parentTaskId: 'T' }), parent({}))).toBe('T');
  });

  test.each<readonly [string, Partial<JobRecord>, Partial<JobRecord>, string | undefined]>([
    ['that of its parent', {}, { submittedAt: 100 }, 'now'],
    ['that of its parent, submitted at the same moment', { submittedAt: 100 }, { submittedAt: 100 }, 'now'],
    ['unknown where the parent was submitted later', { submittedAt: 99 }, { submittedAt: 100 }, undefined],
    [
      'judged by its end where its beginning is not known',
      { finishedAt: 99 },
      { submittedAt: 100 },
      undefined,
    ],
    [
      'judged by its beginning, however late it ended',
      { submittedAt: 50, finishedAt: 300 },
      { submittedAt: 100 },
      undefined,
    ],
    ['that of its parent where no time is known of either', {}, {}, 'now'],
    ['that of its parent where only its own time is known', { submittedAt: 5 }, {}, 'now'],
    ['the first of a parent that was redone', { submittedAt: 200 }, redone(1, { submittedAt: 900 }), 'first'],
    ['unknown where even the first came later', { submittedAt: 99 }, redone(1), undefined],
    [
      'the former one while the parent is redone',
      { submittedAt: 200 },
      { submittedAt: 900, former: { resubmits: 0, taskId: 'former', submittedAt: 50 } },
      'former',
    ],
  ])('is, where nothing is on record, %s', (_, own, above, task) => {
    expect(parentTaskOf(below(own), parent(above))).toBe(task);
  });

  test('is none without a parent, or without its record', () => {
    expect(parentTaskOf(job('x'), parent({}))).toBeUndefined();
    expect(parentTaskOf(below(), lookupIn())).toBeUndefined();
  });
});
