import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { promptpress } from '../cli/test-io.ts';
import { startCli, temporaryFolder } from '../rig/cli.ts';
import { type FakeService, startFakeService } from '../rig/fake-service.ts';
import { byStatus, readManifest } from '../rig/manifest.ts';
import { oneStep, write } from './pipelines.ts';

describe('one run at a time on a run directory', () => {
  let service: FakeService;
  let env: Record<string, string>;
  beforeEach(async () => {
    service = await startFakeService();
    env = { PROMPTPRESS_BASE_URL: service.url, PROMPTPRESS_API_KEY: service.apiKey };
  });
  afterEach(() => service.close());

  it('a second run is refused with exit 75, naming the owner, and status still works', async () => {
    await using folder = await temporaryFolder();
    await write(folder.path, { 'one.yaml': oneStep(3) });
    const hang = service.fault('imagine', { hang: 'before' });
    const first = startCli(['run', 'one.yaml'], { cwd: folder.path, env });
    await hang.hit(1);
    const second = await promptpress(['run', 'one.yaml'], { cwd: folder.path, env });
    expect(second.code, second.err).toBe(75);
    expect(second.err).toContain(String(first.child.pid));
    const status = await promptpress(['status', 'one.yaml', '--json'], { cwd: folder.path, env });
    expect(status.code, status.err).toBe(0);
    expect(JSON.parse(status.out)).toBeTypeOf('object');
    hang.release();
    const result = await first.done;
    expect(result.code, result.stderr).toBe(0);
    expect(service.submits.all).toHaveLength(3);
  });

  it('after kill -9 the next run starts at once', async () => {
    await using folder = await temporaryFolder();
    await write(folder.path, { 'one.yaml': oneStep(3) });
    const hang = service.fault('fetch', { hang: 'before' });
    const first = startCli(['run', 'one.yaml'], { cwd: folder.path, env });
    // All three tasks are known to the state before they are polled.
    await hang.hit(3);
    first.child.kill('SIGKILL');
    hang.release();
    await first.done;
    const second = await promptpress(['run', 'one.yaml'], { cwd: folder.path, env });
    expect(second.code, second.err).toBe(0);
    expect(service.submits.all).toHaveLength(3);
  });

  it.each([
    ['SIGINT', 130],
    ['SIGHUP', 129],
  ] as const)(
    'the first %s settles what is in flight and opens nothing; the command again does the rest',
    async (signal, code) => {
      await using folder = await temporaryFolder();
      await write(folder.path, { 'one.yaml': oneStep(60).replace('tasks: 24', 'tasks: 4') });
      const hang = service.fault('fetch', { hang: 'before' });
      const run = startCli(['run', 'one.yaml'], { cwd: folder.path, env });
      await hang.hit(4);
      const made = service.submits.all.length;
      run.child.kill(signal);
      await run.said(/again/i);
      hang.release();
      const result = await run.done;
      expect(result.code, result.stderr).toBe(code);
      expect(service.submits.all.length).toBe(made);
      const rows = await readManifest(join(folder.path, 'runs/one/manifest.csv'));
      expect(byStatus(rows)).toEqual({ done: made, pending: 60 - made });
      expect((await promptpress(['run', 'one.yaml'], { cwd: folder.path, env })).code).toBe(0);
      expect(service.submits.all).toHaveLength(60);
    },
  );

  it('the second signal leaves at once, and nothing is lost or paid again', async () => {
    await using folder = await temporaryFolder();
    await write(folder.path, { 'one.yaml': oneStep(4) });
    const hang = service.fault('fetch', { hang: 'before' });
    const run = startCli(['run', 'one.yaml'], { cwd: folder.path, env });
    await hang.hit(4);
    run.child.kill('SIGTERM');
    await run.said(/again/i);
    run.child.kill('SIGTERM');
    expect((await run.done).code).toBe(143);
    hang.release();
    expect((await promptpress(['run', 'one.yaml'], { cwd: folder.path, env })).code).toBe(0);
    expect(service.submits.all).toHaveLength(4);
  });

  it('budget.submits ends the run with exit 4, over the life of the directory', async () => {
    await using folder = await temporaryFolder();
    await write(folder.path, { 'one.yaml': oneStep(10, 'budget: { submits: 6 }\n') });
    const first = await promptpress(['run', 'one.yaml', '--max-submits', '4'], { cwd: folder.path, env });
    expect(first.code, first.err).toBe(4);
    expect(service.submits.all).toHaveLength(4);
    const second = await promptpress(['run', 'one.yaml'], { cwd: folder.path, env });
    expect(second.code, second.err).toBe(4);
    expect(service.submits.all).toHaveLength(6);
    expect(second.err).toContain('budget.submits');
  });

  it('a failed job stays failed until --retry-failed', async () => {
    await using folder = await temporaryFolder();
    await write(folder.path, { 'one.yaml': oneStep(2) });
    const fault = service.fault('imagine', { status: 400, body: { error: { message: 'no' } } }, { times: 1 });
    expect((await promptpress(['run', 'one.yaml'], { cwd: folder.path, env })).code).toBe(1);
    expect(fault.hits).toBe(1);
    expect((await promptpress(['run', 'one.yaml'], { cwd: folder.path, env })).code).toBe(1);
    expect(service.count('imagine')).toBe(2);
    const retried = await promptpress(['run', 'one.yaml', '--retry-failed'], { cwd: folder.path, env });
    expect(retried.code, retried.err).toBe(0);
    expect(service.count('imagine')).toBe(3);
  });
});
