import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { allCommands } from '../../../src/cli/program.ts';
import { type FakeService, startFakeService } from '../../rig/fake-service.ts';
import { byStatus, readManifest } from '../../rig/manifest.ts';
import { promptpress, type Said } from '../test-io.ts';

const key = 'sk-very-secret-in-a-file-0815';
let cwd: string;
let service: FakeService;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'promptpress-'));
  service = await startFakeService({ apiKey: key });
  await writeFile(
    join(cwd, 'set.yaml'),
    'name: set\npoll: { min: 5ms, max: 10ms }\nsteps: { grid: { imagine: a fox } }\n',
  );
});
afterEach(async () => {
  await service.close();
  await rm(cwd, { recursive: true, force: true });
});

type Env = Readonly<Record<string, string>>;
const pp = (args: readonly string[], env: Env = {}, answer?: string): Promise<Said> =>
  promptpress(args, {
    cwd,
    env: { HOME: cwd, ...env },
    ...(answer === undefined ? {} : { answer: () => answer }),
  });
const writeEnv = (variables: Env): Promise<void> =>
  writeFile(
    join(cwd, '.env'),
    Object.entries(variables)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  );

async function everythingWritten(): Promise<string> {
  const entries = await readdir(join(cwd, 'runs'), { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const texts = await Promise.all(files.map((one) => readFile(join(one.parentPath, one.name), 'latin1')));
  return texts.join('\n');
}

describe('--dotenv', () => {
  it('is a flag of every command', async () => {
    for (const { name, flags } of await allCommands()) expect(Object.keys(flags), name).toContain('dotenv');
  });

  it('gives address and key, which are masked in all output', async () => {
    service.fault('imagine', { status: 400, body: { error: { message: `bad key ${key}` } } }, { times: 1 });
    await writeEnv({ PROMPTPRESS_BASE_URL: service.url, PROMPTPRESS_API_KEY: key });
    const { code, out, err } = await pp(['run', 'set.yaml', '--dotenv', '.env', '--json']);
    expect(code, err).toBe(1);
    const again = await pp(['run', 'set.yaml', '--dotenv', '.env', '--retry-failed']);
    expect(again.code, again.err).toBe(0);
    expect(byStatus(await readManifest(join(cwd, 'runs/set/manifest.csv')))).toEqual({ done: 1 });
    for (const text of [out, err, again.out, again.err, await everythingWritten()])
      expect(text).not.toContain(key);
    expect(err).toContain(service.url);
  });

  it('gives secrets by their names, which are masked where they have eight characters or more', async () => {
    await writeEnv({
      HOOK_TOKEN: 'hook-tok',
      hook_secret: 'hook-sec',
      HOOK_NAME: 'hook-nam',
      SHORT_KEY: 'hook-ke',
    });
    const said = await pp(['status', 'hook-tok hook-sec hook-nam hook-ke', '--dotenv', '.env']);
    expect([said.code, said.err]).toEqual([
      2,
      expect.stringContaining('There is no file [secret] [secret] hook-nam hook-ke'),
    ]);
  });

  it('is read only where the flag names it', async () => {
    await writeEnv({ PROMPTPRESS_BASE_URL: service.url, PROMPTPRESS_API_KEY: key });
    const { code, err } = await pp(['run', 'set.yaml']);
    expect(code).toBe(2);
    expect(err).toContain('No service is named');
  });

  it('is overridden by the environment, but not by an empty variable', async () => {
    await writeEnv({ PROMPTPRESS_BASE_URL: 'http://127.0.0.1:9', PROMPTPRESS_API_KEY: key });
    const { code, err } = await pp(['run', 'set.yaml', '--dotenv', '.env'], {
      PROMPTPRESS_BASE_URL: service.url,
      PROMPTPRESS_API_KEY: '',
    });
    expect(code, err).toBe(0);
    expect(service.submits.all).toHaveLength(1);
  });

  it('cannot send a key of the environment to its own address without a question', async () => {
    await writeEnv({ PROMPTPRESS_BASE_URL: service.url });
    const args = ['run', 'set.yaml', '--dotenv', '.env'];
    const env = { PROMPTPRESS_API_KEY: key };
    const refused = await pp(args, env);
    expect(refused.code).toBe(2);
    expect(refused.err).toContain(`$PROMPTPRESS_API_KEY was not sent to ${service.url}`);
    expect(refused.err).toContain('that address is written in .env');
    expect((await pp(args, env, 'n')).code).toBe(2);
    expect(service.submits.all).toHaveLength(0);
    const accepted = await pp(args, env, 'y');
    expect(accepted.code, accepted.err).toBe(0);
  });

  it('cannot decide what is trusted', async () => {
    await writeEnv({ PROMPTPRESS_TRUSTED_ORIGINS: service.url });
    const { code, err } = await pp(['status', '--dotenv', '.env']);
    expect(code).toBe(2);
    expect(err).toContain('.env:1: PROMPTPRESS_TRUSTED_ORIGINS decides what promptpress trusts or runs');
  });
});
