import { copyFile, cp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { promptpress, type Said } from '../cli/test-io.ts';
import { startCli, temporaryFolder } from '../rig/cli.ts';
import { type FakeService, startFakeService } from '../rig/fake-service.ts';
import { comparable, readManifest } from '../rig/manifest.ts';
import { oneStep, quick, write } from './pipelines.ts';

const stateFiles = ['state.db', 'state.db-wal'];

/** Puts copies of a state's files in place of those of a directory. */
async function restore(copies: string, directory: string): Promise<void> {
  for (const name of [...stateFiles, 'state.db-shm']) await rm(join(directory, name), { force: true });
  await cp(copies, directory, { recursive: true });
}

describe('a state that was copied in the middle of a run, and put in place of the one of its end', () => {
  let service: FakeService;
  let env: Record<string, string>;
  beforeEach(async () => {
    service = await startFakeService();
    env = { PROMPTPRESS_BASE_URL: service.url, PROMPTPRESS_API_KEY: service.apiKey };
  });
  afterEach(() => service.close());

  it.each([
    ['with its log', stateFiles, 26],
    ['without its log', ['state.db'], 30],
  ])(
    '%s: refused with exit 74 until the user says how to continue',
    async (_, names, missing) => {
      await using folder = await temporaryFolder();
      const cwd = folder.path;
      const directory = join(cwd, 'runs/one');
      const copies = join(cwd, 'copies');
      await write(cwd, { 'one.yaml': oneStep(30).replace('tasks: 24', 'tasks: 4'), 'copies/.keep': '' });
      const hang = service.fault('fetch', { hang: 'before' });
      const first = startCli(['run', 'one.yaml'], { cwd, env });
      await hang.hit(4);
      for (const name of names) await copyFile(join(directory, name), join(copies, name));
      hang.release();
      const whole = await first.done;
      expect(whole.code, whole.stderr).toBe(0);

      await restore(copies, directory);
      const run = (...flags: readonly string[]): Promise<Said> =>
        promptpress(['run', 'one.yaml', ...flags], { cwd, env });
      for (const command of [run, run]) {
        const refused = await command();
        expect(refused.code, refused.err).toBe(74);
        expect(refused.err).toContain(`nothing of ${missing} of the 30 submissions`);
        expect(refused.err).toContain('--in-doubt find');
        expect(refused.err).toContain('--accept-older-state');
      }
      // The gateway does not list its tasks now: nothing is found, nothing is paid, and the refusal stays.
      service.fault('list', { status: 500, body: { error: { message: 'no list' } } }, { times: 1 });
      const unfound = await run('--in-doubt', 'find');
      expect(unfound.code, unfound.err).toBe(74);
      expect(unfound.err).toContain('could not be searched');
      expect((await run()).code).toBe(74);
      expect(service.submits.all).toHaveLength(30);

      const accepted = await run('--accept-older-state');
      expect(accepted.code, accepted.err).toBe(0);
      expect(accepted.err).toContain(`Up to ${missing} submissions may then be paid for twice.`);
      expect(service.submits.all).toHaveLength(30 + missing);
      const again = await run();
      expect(again.code, again.err).toBe(0);
      expect(service.submits.all).toHaveLength(30 + missing);
    },
    120_000,
  );

  it('without the count of submissions: refused with exit 74, in every start, until the user says how to continue', async () => {
    await using folder = await temporaryFolder();
    const cwd = folder.path;
    await write(cwd, { 'one.yaml': oneStep(6) });
    const run = (...flags: readonly string[]): Promise<Said> =>
      promptpress(['run', 'one.yaml', ...flags], { cwd, env });
    expect((await run('--limit', '3')).code).toBe(0);
    await rm(join(cwd, 'runs/one/submissions'));
    for (const command of [run, run]) {
      const refused = await command();
      expect(refused.code, refused.err).toBe(74);
      expect(refused.err).toMatch(
        /The file submissions in .* is missing, which counts what was sent: state\.db may be older/,
      );
      expect(refused.err).toContain('--accept-older-state');
    }
    expect(service.submits.all).toHaveLength(3);
    const accepted = await run('--accept-older-state');
    expect(accepted.code, accepted.err).toBe(0);
    expect((await run()).code).toBe(0);
    expect(service.submits.all).toHaveLength(6);
  });

  it('is whole again once the files of the end are put back', async () => {
    await using folder = await temporaryFolder();
    const cwd = folder.path;
    const directory = join(cwd, 'runs/one');
    await write(cwd, { 'one.yaml': oneStep(6) });
    const run = (...flags: readonly string[]): Promise<Said> =>
      promptpress(['run', 'one.yaml', ...flags], { cwd, env });
    expect((await run('--max-submits', '2')).code).toBe(4);
    await copyFile(join(directory, 'state.db'), join(cwd, 'old.db'));
    expect((await run()).code).toBe(0);
    await copyFile(join(directory, 'state.db'), join(cwd, 'new.db'));
    await copyFile(join(cwd, 'old.db'), join(directory, 'state.db'));
    expect((await run()).code).toBe(74);
    for (const name of await readdir(directory))
      if (name.startsWith('state.db')) await rm(join(directory, name));
    await copyFile(join(cwd, 'new.db'), join(directory, 'state.db'));
    const whole = await run();
    expect(whole.code, whole.err).toBe(0);
    expect(service.submits.all).toHaveLength(6);
  });
});

it('--in-doubt find takes on the tasks that an older state does not know, modals among them: nothing is paid twice', async () => {
  const sandbox = await startSandbox({
    apiKey: 'older-key-1234567890',
    settings: { pace: 0.02, pixels: 64 },
  });
  await using folder = await temporaryFolder();
  const cwd = folder.path;
  const directory = join(cwd, 'runs/set');
  const env = { PROMPTPRESS_BASE_URL: sandbox.url, PROMPTPRESS_API_KEY: 'older-key-1234567890' };
  try {
    await write(cwd, {
      'set.yaml': `name: set
service: { id: fake }
prices: { imagine: 1, "*": 1 }
${quick}
matrix: { animal: [fox, owl] }
steps:
  grid: { imagine: "a {{ animal }} --v 6.1" }
  large:
    from: grid
    click: U1
  wide:
    from: large
    click: Custom Zoom
    prompt: "in a wide field --zoom 1.5"
`,
    });
    const run = (...flags: readonly string[]): Promise<Said> =>
      promptpress(['run', 'set.yaml', ...flags], { cwd, env });
    const begun = await run('--max-submits', '1');
    expect(begun.code, begun.err).toBe(4);
    await copyFile(join(directory, 'state.db'), join(cwd, 'old.db'));
    const whole = await run();
    expect(whole.code, whole.err).toBe(0);
    const rows = comparable(await readManifest(join(directory, 'manifest.csv')));
    const paid = sandbox.counters().tasks.made;
    expect(paid).toBeGreaterThanOrEqual(6);

    await copyFile(join(cwd, 'old.db'), join(directory, 'state.db'));
    expect((await run()).code).toBe(74);
    // It may be stopped before it comes to all of them.
    const part = await run('--in-doubt', 'find', '--limit', '1');
    expect(part.code, part.err).toBe(0);
    expect(part.err).toContain('submissions that are missing in the state, the service lists tasks of');
    const rest = await run();
    expect(rest.code, rest.err).toBe(0);
    expect(sandbox.counters().tasks.made).toBe(paid);
    expect(comparable(await readManifest(join(directory, 'manifest.csv')))).toEqual(rows);
  } finally {
    await sandbox.close();
  }
}, 120_000);
