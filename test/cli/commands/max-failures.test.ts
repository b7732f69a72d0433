import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import { parseFault } from '../../../src/sandbox/faults/parse.ts';
import { neutralNames } from '../../../src/sandbox/names.ts';
import { startSandbox } from '../../../src/sandbox/sandbox.ts';
import { useQuickSandbox } from '../../rig/quick-sandbox.ts';
import { promptpress } from '../test-io.ts';

useQuickSandbox();

let cwd: string;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'promptpress-'));
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

it('--max-failures ends a run with 1 and says so', async () => {
  await writeFile(
    join(cwd, 'foxes.yaml'),
    'name: foxes\nmatrix: { seed: { from: 1, to: 30 } }\nlimits: { tasks: 1 }\nretry: { resubmits: 0, base: 5ms, cap: 10ms }\npoll: { min: 5ms, max: 20ms }\nsteps: { grid: { imagine: "a fox --seed {{ seed }}" } }\n',
  );
  const fault = parseFault('imagine:fail=task-timeout:100%');
  if (!fault.ok) throw new Error(fault.error);
  const sandbox = await startSandbox({
    apiKey: 'key-of-the-test',
    names: neutralNames,
    settings: { pace: 0, faults: [fault.value] },
  });
  onTestFinished(() => sandbox.close());
  const run = (most: string) =>
    promptpress(['run', 'foxes.yaml', '--max-failures', most], {
      cwd,
      env: { PROMPTPRESS_BASE_URL: sandbox.url, PROMPTPRESS_API_KEY: 'key-of-the-test' },
    });
  const { code, err } = await run('2');
  expect([code, err]).toEqual([
    1,
    expect.stringContaining('foxes: stopped after too many failures (--max-failures)'),
  ]);
  const refused = await run('0');
  expect([refused.code, refused.err]).toEqual([
    2,
    expect.stringContaining('--max-failures takes a whole number of at least 1'),
  ]);
});
