import { copyFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { promptpress } from '../cli/test-io.ts';
import { cli, startCli, temporaryFolder } from '../rig/cli.ts';
import { type FakeService, startFakeService } from '../rig/fake-service.ts';
import { oneStep, write } from './pipelines.ts';

describe('a run whose files are taken away under it', () => {
  let service: FakeService;
  let env: Record<string, string>;
  beforeEach(async () => {
    service = await startFakeService();
    env = { PROMPTPRESS_BASE_URL: service.url, PROMPTPRESS_API_KEY: service.apiKey };
  });
  afterEach(() => service.close());

  /** What was asked for more than once. */
  const again = (): readonly string[] =>
    [...service.submits.byPath].filter(([, count]) => count > 1).map(([asked]) => asked);

  it.each(['lock', 'state.lock', 'state.db', 'state.db-wal'])(
    'stops with exit 74 before it pays for anything more, without its %s; a second run beside it is refused',
    async (name) => {
      await using folder = await temporaryFolder();
      const options = { cwd: folder.path, env };
      await write(folder.path, { 'one.yaml': oneStep(30).replace('tasks: 24', 'tasks: 4') });
      const hang = service.fault('fetch', { hang: 'before' });
      const first = startCli(['run', 'one.yaml'], options);
      await hang.hit(4);
      const paid = service.submits.all.length;
      expect(paid).toBe(4);

      await rm(join(folder.path, 'runs/one', name));
      const second = await promptpress(['run', 'one.yaml'], options);
      expect(second.code, second.err).toBe(75);
      expect(second.err).toContain(String(first.child.pid));
      expect(service.submits.all).toHaveLength(paid);

      hang.release();
      const stopped = await first.done;
      expect(stopped.code, stopped.stderr).toBe(74);
      expect(stopped.stderr).toContain(`${name} in ${join(folder.path, 'runs/one')} was removed or replaced`);
      expect(service.submits.all).toHaveLength(paid);

      const next = await promptpress(['run', 'one.yaml'], options);
      // Without its state, all would be paid for again.
      expect(next.code, next.err).toBe(name === 'state.db' ? 74 : 0);
      expect(again()).toEqual([]);
      expect(service.submits.all).toHaveLength(name === 'state.db' ? paid : 30);
    },
  );

  it('stops where an older state is put in place of its own', async () => {
    await using folder = await temporaryFolder();
    const options = { cwd: folder.path, env };
    await write(folder.path, { 'one.yaml': oneStep(30).replace('tasks: 24', 'tasks: 4') });
    // A process of its own: with it, its state is closed for good.
    expect((await cli(['run', 'one.yaml', '--max-submits', '2'], options)).code).toBe(4);
    const state = join(folder.path, 'runs/one/state.db');
    await copyFile(state, `${state}.before`);

    const hang = service.fault('fetch', { hang: 'before' });
    const run = startCli(['run', 'one.yaml'], options);
    await hang.hit(4);
    await rename(`${state}.before`, state);
    hang.release();
    const stopped = await run.done;
    expect(stopped.code, stopped.stderr).toBe(74);
    expect(service.submits.all).toHaveLength(6);
    expect(again()).toEqual([]);
  });
});
