import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parseFault } from '../../src/sandbox/faults/parse.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { promptpress } from '../cli/test-io.ts';
import { temporaryFolder } from '../rig/cli.ts';
import { readManifest } from '../rig/manifest.ts';
import { write } from './pipelines.ts';

const apiKey = 'find-key-1234567890';

it('a task whose response was lost is found by its tag and adopted: nothing is paid twice', async () => {
  const fault = parseFault('submit:504-after:first 1');
  if (!fault.ok) throw new Error(fault.error);
  const sandbox = await startSandbox({ apiKey, settings: { pace: 0.02, pixels: 64, faults: [fault.value] } });
  await using folder = await temporaryFolder();
  try {
    await write(folder.path, {
      'set.yaml':
        'name: set\nprices: { imagine: 1 }\npoll: { min: 20ms, max: 200ms }\nretry: { ambiguous: hold }\nsteps:\n  grid: { imagine: a fox }\n',
    });
    const run = (...flags: readonly string[]) =>
      promptpress(['run', 'set.yaml', ...flags], {
        cwd: folder.path,
        env: { PROMPTPRESS_BASE_URL: sandbox.url, PROMPTPRESS_API_KEY: apiKey },
      });
    const first = await run();
    expect(first.code, first.err).toBe(5);
    expect(first.err).toContain('up to 1.00 for submissions without a response');
    const next = first.err.slice(first.err.indexOf('Next:')).split('\n');
    expect(next[1]).toContain('promptpress run set.yaml --in-doubt find');
    const { out } = await promptpress(['status', 'set.yaml'], { cwd: folder.path });
    expect(out).toContain('  promptpress run set.yaml --in-doubt find\n');

    const second = await run('--in-doubt', 'find');
    expect(second.code, second.err).toBe(0);
    expect(second.err).toContain('of 1 job in doubt 1 had a task, which is adopted');
    const { requests, tasks } = sandbox.counters();
    expect(Object.values(requests['imagine'] ?? {}).reduce((sum, count) => sum + count, 0)).toBe(1);
    expect(tasks.made).toBe(1);
    const rows = await readManifest(join(folder.path, 'runs/set/manifest.csv'));
    expect(rows).toMatchObject([{ status: 'done', attempts: '1', cost: '1' }]);
  } finally {
    await sandbox.close();
  }
}, 60_000);

it('a submission that got a 504 is searched by its tag before it is sent again: nothing is paid twice', async () => {
  const fault = parseFault('submit:504-after:first 3');
  if (!fault.ok) throw new Error(fault.error);
  const sandbox = await startSandbox({ apiKey, settings: { pace: 0.02, pixels: 64, faults: [fault.value] } });
  await using folder = await temporaryFolder();
  try {
    await write(folder.path, {
      'set.yaml':
        'name: set\nmatrix: { n: { from: 1, to: 6 } }\nprices: { imagine: 1 }\npoll: { min: 20ms, max: 200ms }\nretry: { base: 20ms }\nsteps:\n  grid: { imagine: "a fox {{ n }}" }\n',
    });
    const done = await promptpress(['run', 'set.yaml'], {
      cwd: folder.path,
      env: { PROMPTPRESS_BASE_URL: sandbox.url, PROMPTPRESS_API_KEY: apiKey },
    });
    expect(done.code, done.err).toBe(0);
    const { requests, tasks } = sandbox.counters();
    expect([
      Object.values(requests['imagine'] ?? {}).reduce((sum, count) => sum + count, 0),
      tasks.made,
    ]).toEqual([6, 6]);
    const rows = await readManifest(join(folder.path, 'runs/set/manifest.csv'));
    expect(rows.map(({ status, attempts, cost }) => [status, attempts, cost])).toEqual(
      Array.from({ length: 6 }, () => ['done', '1', '1']),
    );
  } finally {
    await sandbox.close();
  }
}, 60_000);
