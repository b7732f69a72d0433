import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { StateReader } from '../../src/state/reader.ts';
import { openDatabase } from '../../src/state/sqlite/sqlite.ts';
import { openState, openStateForReading } from '../../src/state/state.ts';
import { all } from '../rig/all.ts';
import { noJobs } from '../rig/no-counts.ts';
import { freshFolder } from './places.ts';
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
  it('is what every reader of jobs relies on', async () => {
    const reader = stateWith(withDoc({ origin: { slot: '' }, request: {} }));
    expect(await reader.get('a')).toMatchObject({ key: 'a', request: {} });
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
  ])('that is %s is damage, however it is asked for', async (_what, doc) => {
    const reader = stateWith(doc);
    const damaged = expect.objectContaining({ code: 'state.corrupt' });
    await expect(reader.get('a')).rejects.toEqual(damaged);
    await expect(reader.many(['a'])).rejects.toEqual(damaged);
    await expect(all(reader.unfinished())).rejects.toEqual(damaged);
    await expect(all(reader.withStatus('running'))).rejects.toEqual(damaged);
    await reader.close();
  });

  it('that is missing is no damage', async () => {
    const reader = stateWith(withDoc({}));
    expect(await reader.get('b')).toBeUndefined();
    expect(await reader.many(['b'])).toEqual(new Map());
    expect(await all(reader.keysOfTask('T1'))).toEqual(['a']);
    expect(await all(reader.keysOfTask('T'))).toEqual([]);
    await reader.close();
  });
});

describe('totals', () => {
  it('tell codes of failures and doubts alone, and money without the noise of sums', async () => {
    const directory = freshFolder();
    const state = openState(directory);
    const error = { code: 'task.failed', message: 'm' };
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
      codes: { 'task.failed': 3 },
    });
    state.close();
  });
});

describe('pages of a search', () => {
  it.each([255, 256, 257, 512, 513])('hold each of %i jobs once', async (count) => {
    const state = openState(freshFolder());
    const keys = Array.from({ length: count }, (_, n) => `k${String(n).padStart(4, '0')}`);
    state.commit({ records: keys.map((key) => jobRecord(key, 'failed')), attempts: [] });
    expect((await all(state.reader.withStatus('failed'))).map(({ key }) => key)).toEqual(keys);
    expect(await all(state.reader.withStatus('failed', 'task.failed'))).toEqual([]);
    expect(await all(state.reader.rootKeys())).toEqual(keys);
    state.close();
  });

  it('hold no job that came from another one among the roots', async () => {
    const state = openState(freshFolder());
    state.commit({
      records: [jobRecord('a', 'done'), jobRecord('b', 'done', { parent: 'a' })],
      attempts: [],
    });
    expect(await all(state.reader.rootKeys())).toEqual(['a']);
    state.close();
  });
});
