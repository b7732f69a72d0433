import { expect, it } from 'vitest';
import { EngineProgress } from '../../../../src/app/engine/lead/progress.ts';
import { engineReader } from '../../../../src/engine/state/reader.ts';
import { runStart } from '../../../cli/terminal/progress/start-rig.ts';
import { noEnginePool } from '../../../rig/engine/no-pool.ts';

it('says once when the first workers join a run that has waited for them', async () => {
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
  expect(await look()).toBe('A worker has joined: the run goes on.');
  workers = 2;
  expect(await look()).toBeUndefined();
  expect(progress.progress(1000).notice).toBe('2 workers, 9 slices left');
  // They have ended, and others come.
  workers = 0;
  await look();
  workers = 3;
  expect(await look()).toBe('3 workers have joined: the run goes on.');
});

it('says nothing of workers that were there from the start', async () => {
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
