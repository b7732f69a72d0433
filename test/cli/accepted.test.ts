import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openStateForReading } from '../../src/state/state.ts';
import { fingerprintFact } from '../../src/state/store.ts';
import { temporaryFolder } from '../rig/cli.ts';
import { readManifest } from '../rig/manifest.ts';
import { useQuickSandbox } from '../rig/quick-sandbox.ts';
import { promptpress, type Said } from './test-io.ts';

useQuickSandbox();

const pipeline = (accept: string): string => `name: words
poll: { min: 5ms, max: 10ms }
failures: { accept: [${accept}] }
matrix:
  word: [fine, "[banned]", good]
steps:
  grid:
    imagine: "a {{ word }} fox"
    path: U1
`;

const json = (said: Said): Record<string, unknown> => JSON.parse(said.out) as Record<string, unknown>;

it('failures that the pipeline accepts are counted apart, and a run without others exits with 0', async () => {
  await using folder = await temporaryFolder();
  const cwd = folder.path;
  const pp = (...args: readonly string[]): Promise<Said> => promptpress(args, { cwd, env: {} });
  const run = (...flags: readonly string[]): Promise<Said> => pp('run', 'words.yaml', '--sandbox', ...flags);
  const accept = (codes: string): Promise<void> => writeFile(join(cwd, 'words.yaml'), pipeline(codes));
  const directory = 'runs/words.sandbox';

  await accept('task.moderated');
  const ran = await run('--max-failures', '1', '--metrics-file', 'run.prom');
  expect(ran.code, ran.err).toBe(0);
  expect(ran.err).toContain('words: complete');
  expect(ran.err).toContain('4 done, 2 failed or blocked as accepted');
  expect(ran.err).toContain('1 accepted  task.moderated');
  expect(ran.err).not.toContain('Next:');
  const rows = await readManifest(join(cwd, directory, 'manifest.csv'));
  expect(rows.map(({ status, error_code, accepted }) => [status, error_code, accepted])).toEqual([
    ['done', '', ''],
    ['done', '', ''],
    ['failed', 'task.moderated', 'true'],
    ['blocked', 'ancestor.failed', 'true'],
    ['done', '', ''],
    ['done', '', ''],
  ]);

  // Nor does the log, a plan, a chart or a monitoring system count them as failed.
  const log = (await readFile(join(cwd, directory, 'run.log'), 'utf8'))
    .split('\n')
    .filter((line) => line.includes('task.moderated'));
  expect(log.map((line) => (JSON.parse(line) as { level: string }).level)).toEqual(['info']);
  const prom = await readFile(join(cwd, 'run.prom'), 'utf8');
  expect(prom).toContain('{pipeline="words",step="grid",status="accepted"} 2\n');
  expect(prom).toContain('{pipeline="words",step="grid",status="failed"} 0\n');
  const plan = async (): Promise<Record<string, unknown>> =>
    json(await pp('plan', 'words.yaml', '--sandbox', '--json'))['total'] as Record<string, unknown>;
  const counts = { slots: 6, jobs: 4, done: 4, failed: 0, blocked: 0, accepted: 2, submits: 0 };
  expect(await plan()).toMatchObject(counts);
  const planned = (await pp('plan', 'words.yaml', '--sandbox')).out;
  expect(planned).toContain('2 failed or blocked as accepted\n');
  expect(planned).toContain('0 submissions: nothing is left to do\n');

  expect(json(await pp('status', directory, '--json'))).toMatchObject({
    exitCode: 0,
    jobs: { done: 4, failed: 0, accepted: 1 },
    slots: { done: 4, failed: 0, blocked: 0, accepted: 2 },
    reasons: [{ code: 'task.moderated', count: 1, accepted: true }],
  });
  const status = (await pp('status', directory)).out;
  expect(status).toContain('the last run was complete');
  expect(status).toContain('  jobs         4 done, 1 failed as accepted\n');
  expect(status).toMatch(/ {2}1 {2}task\.moderated .* \(accepted\)\n/);
  expect(json(await pp('ls', '--json'))).toMatchObject({
    runs: [{ state: 'complete', jobs: { done: 4, failed: 0, accepted: 1 } }],
  });
  expect((await pp('show', rows[2]?.['job'] ?? '', directory)).out).toContain(
    'The pipeline accepts this failure',
  );

  // Nothing is left to do, and the next run knows that without the plan.
  expect(json(await pp('status', directory, '--json'))).toMatchObject({
    planned: { settled: 6, percent: 100 },
  });
  expect((await run()).code).toBe(0);
  expect(await plan()).toMatchObject(counts);
  const state = openStateForReading(join(cwd, directory));
  expect(await state?.fact(fingerprintFact)).toMatch(/./);
  await state?.close();

  // The same run again, and after edits of the list: nothing is sent, and only the exit code follows the list.
  for (const [codes, exit] of [
    ['task.moderated', 0],
    ['', 1],
    ['text.blocked', 1],
    ['task.moderated, text.blocked', 0],
  ] as const) {
    await accept(codes);
    const again = await run('--json');
    expect([codes, again.code, json(again)['submits']]).toEqual([codes, exit, 0]);
  }
  expect(json(await run('--retry-failed', '--json'))).toMatchObject({ submits: 1, exitCode: 0 });
});

it('--fail-fast ends the run at a failure that is not accepted, and not before', async () => {
  await using folder = await temporaryFolder();
  const cwd = folder.path;
  const run = (): Promise<Said> =>
    promptpress(['run', 'words.yaml', '--sandbox', '--fail-fast', '--json'], { cwd, env: {} });
  await writeFile(join(cwd, 'words.yaml'), pipeline('task.moderated'));
  expect(json(await run())).toMatchObject({ end: { kind: 'complete' }, exitCode: 0 });
  await writeFile(join(cwd, 'words.yaml'), pipeline('text.blocked').replace('fox', 'cat'));
  expect(json(await run())).toMatchObject({
    end: { kind: 'fail-fast', code: 'task.moderated' },
    exitCode: 1,
  });
});
