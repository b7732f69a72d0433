import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { promptpress as command, type Said } from '../cli/test-io.ts';
import { temporaryFolder } from '../rig/cli.ts';
import { type FakeService, startFakeService } from '../rig/fake-service.ts';
import { byStatus, type ManifestRow, readManifest } from '../rig/manifest.ts';
import { oneStep, write } from './pipelines.ts';

/** One submission is carried out and never answered; the user finds out what became of it, and says so. */
describe('a job in doubt', () => {
  let service: FakeService;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  beforeEach(async () => {
    service = await startFakeService();
    folder = await temporaryFolder();
    await write(folder.path, { 'one.yaml': `${oneStep(3)}    path: U1\n` });
  });
  afterEach(async () => {
    await service.close();
    await folder[Symbol.asyncDispose]();
  });

  const promptpress = (...args: readonly string[]): Promise<Said> =>
    command(args, {
      cwd: folder.path,
      env: { PROMPTPRESS_BASE_URL: service.url, PROMPTPRESS_API_KEY: service.apiKey },
    });
  const rows = (): Promise<readonly ManifestRow[]> =>
    readManifest(join(folder.path, 'runs/one/manifest.csv'));

  /** Runs until one grid is in doubt; its key, and the task that the service made of it all the same. */
  async function doubtful(): Promise<{ readonly key: string; readonly task: string }> {
    const isSecond = ({ body }: { readonly body: Readonly<Record<string, unknown>> | undefined }): boolean =>
      body?.['prompt'] === 'picture number 2';
    service.fault('imagine', { reset: 'after' }, { times: 1, match: isSecond });
    const first = await promptpress('run', 'one.yaml');
    expect(first.code, first.err).toBe(5);
    expect(byStatus(await rows())).toEqual({ done: 4, 'in-doubt': 1, pending: 1 });
    const [, key = ''] = /promptpress resolve (\w+) runs\/one --task TASK_ID/.exec(first.err) ?? [];
    const task = service.submits.all.find((submit) => isSecond(submit))?.task.id ?? '';
    return { key, task };
  }

  it('continues with its task, and is not submitted again: --task', async () => {
    const { key, task } = await doubtful();
    const shown = await promptpress('show', key.slice(0, 8));
    expect(shown.code, shown.err).toBe(0);
    expect(shown.out).toContain('picture number 2');
    expect(shown.out).toContain(`promptpress resolve ${key} runs/one --task`);

    const resolved = await promptpress('resolve', key, '--task', task);
    expect(resolved.code, resolved.err).toBe(0);
    expect(resolved.out).toContain('promptpress run one.yaml');
    const second = await promptpress('run', 'one.yaml');
    expect(second.code, second.err).toBe(0);
    expect([service.count('imagine'), service.count('action')]).toEqual([3, 3]);
    const done = await rows();
    expect(byStatus(done)).toEqual({ done: 6 });
    expect(done.find(({ job }) => job === key)).toMatchObject({ task_id: task, attempts: '1' });
  });

  it('is in doubt again where the service does not know the task that was named, and can be resolved again', async () => {
    const { key, task } = await doubtful();
    expect((await promptpress('resolve', key, '--task', '123')).code).toBe(0);
    const second = await promptpress('run', 'one.yaml');
    expect(second.code, second.err).toBe(5);
    expect((await rows()).find(({ job }) => job === key)).toMatchObject({
      status: 'in-doubt',
      error_code: 'task.unknown',
      attempts: '1',
    });
    expect((await promptpress('show', key)).out).toContain('does not know task 123');
    expect((await promptpress('resolve', key, '--task', task)).code).toBe(0);
    const third = await promptpress('run', 'one.yaml');
    expect(third.code, third.err).toBe(0);
    expect([service.count('imagine'), service.count('action')]).toEqual([3, 3]);
    expect((await rows()).find(({ job }) => job === key)).toMatchObject({ status: 'done', task_id: task });
  });

  it('is given up, and what hangs on it is blocked: --drop', async () => {
    const { key } = await doubtful();
    expect((await promptpress('resolve', key, 'one.yaml', '--drop')).code).toBe(0);
    const second = await promptpress('run', 'one.yaml');
    expect(second.code, second.err).toBe(1);
    expect(service.count('imagine')).toBe(3);
    const left = await rows();
    expect(byStatus(left)).toEqual({ done: 4, failed: 1, blocked: 1 });
    expect(left.find(({ job }) => job === key)).toMatchObject({ error_code: 'job.dropped' });
  });

  it('is submitted once more, and counted twice: --retry', async () => {
    const { key } = await doubtful();
    expect((await promptpress('resolve', key, 'runs/one', '--retry')).code).toBe(0);
    const second = await promptpress('run', 'one.yaml');
    expect(second.code, second.err).toBe(0);
    expect([service.count('imagine'), service.count('action')]).toEqual([4, 3]);
    const done = await rows();
    expect(byStatus(done)).toEqual({ done: 6 });
    expect(done.find(({ job }) => job === key)).toMatchObject({ attempts: '2' });
  });
});
