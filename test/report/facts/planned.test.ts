import { describe, expect, it } from 'vitest';
import { type Planned, readHowFar, writePlanned } from '../../../src/report/facts/planned.ts';
import { outcomeFacts, type RunFacts } from '../../../src/report/facts/run.ts';
import type { ManifestTotals } from '../../../src/results/row-ledger.ts';
import type { DirectorySums } from '../../../src/results/sums.ts';
import { noJobs } from '../../rig/no-counts.ts';

const startedAt = 1_000;
const facts = { startedAt, atStart: { settled: 6, attempts: 6 } } as unknown as RunFacts;
const none = { ...noJobs, skipped: 0 };

async function progress(planned: Planned, jobs: Partial<typeof none>, attempts: number, of = facts) {
  const kept = new Map<string, string>();
  const state = { file: 'state.db', fact: async (name: string) => kept.get(name) };
  await writePlanned({ setFact: async (name, value) => void kept.set(name, value) }, startedAt, planned);
  const sums = { jobs: { ...none, ...jobs }, attempts } as unknown as DirectorySums;
  return await readHowFar(state, of, sums, 11_000);
}

describe('the progress of a run under way', () => {
  it('counts jobs that settle after its beginning', async () => {
    const planned = { total: 10, settled: 6, slotsPerJob: 1, jobs: 6 };
    expect(await progress(planned, { done: 7, failed: 1 }, 9)).toEqual({
      total: 10,
      settled: 8,
      percent: 80,
      leftMs: 10_000,
    });
  });

  it.each([
    ['none has left', { done: 3, failed: 3 }, 6, { settled: 3, percent: 50 }],
    ['one is under way', { done: 3, failed: 2, running: 1 }, 7, { settled: 3, percent: 50 }],
    ['one is done', { done: 4, failed: 2 }, 7, { settled: 4, leftMs: 20_000 }],
    ['all are settled', { done: 5, failed: 1 }, 9, { settled: 6, percent: 100 }],
  ])('counts jobs that are tried again once they have ended: %s', async (_when, jobs, attempts, seen) => {
    const planned = { total: 6, settled: 3, slotsPerJob: 1, jobs: 6, again: true };
    expect(await progress(planned, jobs, attempts)).toMatchObject(seen);
  });

  it('counts slots when some share a job', async () => {
    const planned = { total: 13, settled: 4 * 1.2 + 1, slotsPerJob: 1.2, jobs: 4 };
    expect(await progress(planned, { done: 6 }, 8)).toMatchObject({ total: 13, settled: 8 });
    expect(await progress(planned, { done: 10 }, 12)).toMatchObject({ total: 13, settled: 13, percent: 100 });
  });

  it('is all once all jobs are settled, however many slots share them', async () => {
    for (let jobs = 1; jobs <= 60; jobs += 1)
      for (const shared of [0, 1, 7, 45]) {
        const total = jobs + shared;
        const planned = { total, settled: 0, slotsPerJob: 1 + shared / jobs, jobs: 0 };
        expect(await progress(planned, { done: jobs }, 6 + jobs)).toMatchObject({
          settled: total,
          percent: 100,
        });
      }
  });

  it('is unknown where an earlier run was planned last', async () => {
    const planned = { total: 10, settled: 6, slotsPerJob: 1, jobs: 6 };
    expect(await progress(planned, { done: 7 }, 9, { ...facts, startedAt: startedAt + 1 })).toBeUndefined();
  });
});

it('the outcome of a run lists the reasons of slots without a job, with their number', () => {
  const reason = { status: 'failed', code: 'input.missing', message: 'no file' } as const;
  const reasons = [
    { ...reason, count: 5, unasked: 2 },
    { ...reason, count: 3, code: 'task.failed' },
  ];
  const totals = { slots: none, reasons } as unknown as ManifestTotals;
  const ended = { finishedAt: 1, end: { kind: 'complete' }, exitCode: 1 } as const;
  expect(outcomeFacts({ ...ended, totals }).unasked).toEqual([
    { code: 'input.missing', message: 'no file', count: 2 },
  ]);
  expect(outcomeFacts(ended)).toEqual(ended);
});
