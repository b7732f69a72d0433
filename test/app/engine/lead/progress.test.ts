import { expect, it } from 'vitest';
import { EngineProgress } from '../../../../src/app/engine/lead/progress.ts';
import { engineReader } from '../../../../src/engine/state/reader.ts';
import { RunMetrics } from '../../../../src/report/metrics/run-metrics.ts';
import { runStart, stepStart } from '../../../cli/terminal/progress/start-rig.ts';
import { noEnginePool } from '../../../rig/engine/no-pool.ts';
import { parseExposition, valueOf } from '../../../rig/exposition.ts';

it('the lead reports once when the first workers join a run that has waited for them', async () => {
  let workers = 0;
  const pool = noEnginePool((text) => {
    if (text.includes('"lastedMs"'))
      return [{ state: 'open', invocation: 1, fed: false, waiting: 9, ended: null }];
    if (text.includes('AS live')) return [{ live: workers }];
    return [];
  });
  const progress = new EngineProgress(runStart(), 0, { pool, run: 1, reader: engineReader(pool, 1) });
  const look = async (): Promise<string | undefined> => {
    await progress.look(() => 1000);
    return progress.joined();
  };
  expect(await look()).toBeUndefined();
  expect(progress.progress(1000).notice).toContain('no worker is at work');
  expect(await look()).toBeUndefined();
  workers = 1;
  expect(await look()).toBe('A worker has joined: the run continues.');
  workers = 2;
  expect(await look()).toBeUndefined();
  expect(progress.progress(1000).notice).toBe('2 workers, 9 slices left');
  // They have ended, and others come.
  workers = 0;
  await look();
  workers = 3;
  expect(await look()).toBe('3 workers have joined: the run continues.');
});

it('the lead does not report workers that were there from the start', async () => {
  const pool = noEnginePool((text) =>
    text.includes('"lastedMs"')
      ? [{ state: 'open', invocation: 1, fed: true, waiting: 9, ended: null }]
      : text.includes('AS live')
        ? [{ live: 1 }]
        : [],
  );
  const progress = new EngineProgress(runStart(), 0, { pool, run: 1, reader: engineReader(pool, 1) });
  await progress.look(() => 1000);
  expect(progress.joined()).toBeUndefined();
});

it('the progress counts tasks, texts and downloads of all workers separately', async () => {
  const rows = [
    ['grid', 'running', 3],
    ['grid', 'saving', 2],
    ['grid', 'pending', 9],
    ['say', 'submitting', 4],
    ['say', 'done', 5],
    ['say', 'accepted', 6],
  ].map(([step, status, jobs]) => ({ step, status, jobs }));
  const pool = noEnginePool((text) => (text.includes('FROM promptpress.jobs') ? rows : []));
  const steps = [stepStart('grid'), stepStart('say', { isText: true, counts: { skipped: 1 } })];
  const progress = new EngineProgress(runStart(steps), 0, { pool, run: 1, reader: engineReader(pool, 1) });
  await progress.look(() => 1000);
  expect(progress.progress(1000)).toMatchObject({
    tasks: 3,
    texts: 4,
    downloads: 2,
    steps: [
      { name: 'grid', active: 5, done: 0 },
      { name: 'say', active: 4, done: 5, skipped: 1, accepted: 6, failed: 0 },
    ],
  });
  const metrics = new RunMetrics({ pipeline: 'foxes', version: '1', startedAt: 0 });
  metrics.begin(progress);
  const text = parseExposition(metrics.text(undefined));
  expect(valueOf(text, 'promptpress_tasks_in_flight')).toBe(3);
  expect(valueOf(text, 'promptpress_jobs', { step: 'say', status: 'submitting' })).toBe(4);
});
