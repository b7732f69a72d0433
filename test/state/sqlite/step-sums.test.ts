import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openDatabase } from '../../../src/state/sqlite/sqlite.ts';
import { openState, openStateForReading } from '../../../src/state/state.ts';
import { imagineRecord } from '../../rig/jobs.ts';
import { memoryStore } from '../../rig/memory-store.ts';
import { freshFolder } from '../places.ts';

const statuses = ['done', 'failed', 'running'] as const;

/** More jobs than are read at a time, of three steps that come by turns. */
const records = Array.from({ length: 4_500 }, (_, index) => {
  const status = statuses[index % 3] ?? 'done';
  return imagineRecord({
    key: `k${index}`,
    status,
    origin: { cell: 1, step: ['zebra', 'ant', 'bee'][index % 3] ?? '', branch: '', slot: `s${index}` },
    attempts: 1 + (index % 2),
    ...(status === 'done' ? { cost: 0.1, usage: { total: 7 } } : {}),
    ...(status === 'failed'
      ? { doubtful: { count: 1, cost: 0.01 }, error: { code: 'service.rejected', message: 'y' } }
      : {}),
    ...(status === 'running' ? { assumed: { answers: 1, tokens: 5, cost: 0.02 } } : {}),
  });
});

describe('the sums of the steps', () => {
  it('are the sums of their jobs, in the order of the first jobs', async () => {
    const directory = freshFolder();
    const state = openState(directory);
    const memory = memoryStore();
    for (const store of [state, memory]) store.commit({ records, attempts: [] });
    const sums = await state.reader.stepSums();
    expect(sums).toEqual(await memory.reader.stepSums());
    expect(sums.map(({ unanswered }) => unanswered)).toEqual([0, 1500, 0]);
    expect(sums.map(({ step, jobs, done, cost, tokens }) => [step, jobs, done, cost, tokens])).toEqual([
      ['zebra', 1500, 1500, 150, 10_500],
      ['ant', 1500, 0, 0, 0],
      ['bee', 1500, 0, 0, 0],
    ]);
    state.close();
  });

  it('include a damaged record too, without its step', async () => {
    const directory = freshFolder();
    const state = openState(directory);
    state.commit({ records: records.slice(0, 2), attempts: [] });
    state.close();
    const database = openDatabase(join(directory, 'state.db'));
    database.prepare("UPDATE jobs SET doc = '{' WHERE key = ?").run('k1');
    database.close();
    const reader = openStateForReading(directory);
    expect((await reader?.stepSums())?.map(({ step, jobs }) => [step, jobs])).toEqual([
      ['zebra', 1],
      ['', 1],
    ]);
    await reader?.close();
  });
});
