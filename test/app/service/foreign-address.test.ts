import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { promptpress, type Said } from '../../cli/test-io.ts';
import { type Greeter, startGreeter } from '../../rig/postgres/greeter.ts';
import { startFakeS3 } from '../../rig/s3/fake-s3.ts';

/** Values of the machine, which no address of a file may get. */
const ambient = {
  PGPASSWORD: 'ambient-password-of-postgres',
  AWS_ACCESS_KEY_ID: 'AKIAAMBIENTAMBIENT00',
  AWS_SECRET_ACCESS_KEY: 'ambient/secret/key/of/the/machine/000000',
  AWS_SESSION_TOKEN: 'ambient-session-token-of-the-machine',
  PROMPTPRESS_API_KEY: 'sk-ambient-key-of-the-gateway-4711',
};

let cwd: string;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'promptpress-'));
  await writeFile(join(cwd, 'set.yaml'), 'name: set\nsteps: { grid: { imagine: a fox } }\n');
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(cwd, { recursive: true, force: true });
});

type Env = Readonly<Record<string, string>>;

const pp = (args: readonly string[], env: Env = {}, answer?: string): Promise<Said> =>
  promptpress([...args, ...(args[0] === 'trust' ? [] : ['--dotenv', '.env'])], {
    cwd,
    env: { HOME: cwd, XDG_STATE_HOME: join(cwd, 'home'), ...env },
    now: Date.now,
    ...(answer === undefined ? {} : { answer: () => answer }),
  });

const writeEnv = (variables: Env): Promise<void> =>
  writeFile(
    join(cwd, '.env'),
    Object.entries(variables)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  );

describe('an engine that a file of variables names', () => {
  let engine: Greeter;
  let address: string;
  let origin: string;
  beforeEach(async () => {
    engine = await startGreeter();
    origin = `postgres://127.0.0.1:${engine.port}`;
    address = `postgres://u@127.0.0.1:${engine.port}/db`;
  });
  afterEach(() => engine[Symbol.asyncDispose]());

  const service = { PROMPTPRESS_BASE_URL: 'http://127.0.0.1:9', PROMPTPRESS_API_KEY: 'k-of-nobody-0815' };

  it.each([
    [['run', 'set.yaml']],
    [['worker', '--once']],
    [['ls', 'ENGINE']],
    [['status', 'set.yaml']],
    [['manifest', 'set.yaml']],
    [['plan', 'set.yaml']],
    [['stop', 'set.yaml']],
    [['rm', 'set.yaml', '--yes']],
  ])('gets no password of the environment unasked: %j ends with exit 2 before it connects', async (args) => {
    await writeEnv({ ...service, PROMPTPRESS_ENGINE: address });
    const words = args.map((word) => (word === 'ENGINE' ? address : word));
    const { code, err } = await pp(words, { PGPASSWORD: ambient.PGPASSWORD });
    expect(code, err).toBe(2);
    expect(err).toContain(`$PGPASSWORD was not sent to ${origin}: that address is written in .env`);
    expect(err).toContain(`promptpress trust ${origin}\n`);
    expect(err).not.toContain(ambient.PGPASSWORD);
    expect(engine.connections()).toBe(0);
  });

  it('gets the password if the user allows it: at the terminal, beforehand, or by a variable', async () => {
    await writeEnv({ PROMPTPRESS_ENGINE: address });
    const env = { PGPASSWORD: ambient.PGPASSWORD };
    expect((await pp(['status', 'set.yaml'], env, 'n')).code).toBe(2);
    expect(engine.passwords).toEqual([]);
    await pp(['status', 'set.yaml'], { ...env, PROMPTPRESS_TRUSTED_ORIGINS: origin });
    expect(engine.passwords).toEqual([ambient.PGPASSWORD]);
    const { code, out } = await pp([
      'trust',
      `postgres://u@127.0.0.1:${engine.port}/db`,
      '--key',
      'PGPASSWORD',
    ]);
    expect([code, out]).toEqual([0, `$PGPASSWORD may be sent to ${origin}\n`]);
    await pp(['status', 'set.yaml'], env);
    expect(engine.passwords).toEqual([ambient.PGPASSWORD, ambient.PGPASSWORD]);
  });

  it.each([
    ['its variable', { PGPASSWORD: 'of-the-file-0815' }, ''],
    ['its address', {}, ':of-the-file-0815'],
  ])('gets the password of %s', async (_, more, inAddress) => {
    await writeEnv({ PROMPTPRESS_ENGINE: address.replace('u@', `u${inAddress}@`), ...more });
    if (inAddress !== '') vi.stubEnv('PGPASSWORD', ambient.PGPASSWORD);
    await pp(['status', 'set.yaml'], inAddress === '' ? {} : { PGPASSWORD: ambient.PGPASSWORD });
    expect(engine.passwords).toEqual(['of-the-file-0815']);
  });

  it('gets no password of the password file unless the user allows it', async () => {
    const file = join(cwd, 'passwords');
    await writeFile(file, '*:*:*:*:of-the-password-file\n');
    await chmod(file, 0o600);
    vi.stubEnv('PGPASSFILE', file);
    vi.stubEnv('PGPASSWORD', undefined);
    await writeEnv({ PROMPTPRESS_ENGINE: address });
    expect((await pp(['status', 'set.yaml'])).code).toBe(2);
    expect(engine.passwords).toEqual(['']);
    await pp(['trust', origin, '--key', 'PGPASSFILE']);
    await pp(['status', 'set.yaml']);
    expect(engine.passwords).toEqual(['', 'of-the-password-file']);
  });

  it('needs no permission if the environment or the command line names it', async () => {
    await writeEnv({ OTHER: 'x' });
    const env = { PGPASSWORD: ambient.PGPASSWORD };
    await pp(['status', 'set.yaml'], { ...env, PROMPTPRESS_ENGINE: address });
    await pp(['status', `${address}#set`], env);
    expect(engine.passwords).toEqual([ambient.PGPASSWORD, ambient.PGPASSWORD]);
  });
});

describe('a store that a file of variables names', () => {
  const run = ['run', 'set.yaml', '--out', 's3://pictures/set', '--max-submits', '0'];
  const service = { PROMPTPRESS_BASE_URL: 'http://127.0.0.1:9', PROMPTPRESS_API_KEY: 'k-of-nobody-0815' };
  const { PROMPTPRESS_API_KEY: _key, PGPASSWORD: _password, ...keys } = ambient;

  it.each(['AWS_ENDPOINT_URL_S3', 'AWS_ENDPOINT_URL'])(
    '(%s) gets no key of the environment unasked',
    async (variable) => {
      const { url, seen } = await listener();
      await writeEnv({ ...service, [variable]: url });
      const { code, err } = await pp(run, keys);
      expect(code, err).toBe(2);
      expect(err).toContain(`promptpress trust ${url} --key AWS_SECRET_ACCESS_KEY`);
      expect(seen).toEqual([]);
      const half = await pp(run, { AWS_ACCESS_KEY_ID: keys.AWS_ACCESS_KEY_ID });
      expect(half.code, half.err).toBe(2);
      expect(seen).toEqual([]);
      await pp(run, { ...keys, PROMPTPRESS_TRUSTED_ORIGINS: url });
      expect(seen[0]).toMatchObject({ 'x-amz-security-token': keys.AWS_SESSION_TOKEN });
    },
  );

  it('needs permission for each of the keys: a yes to one does not allow another', async () => {
    const { url, seen } = await listener();
    await writeEnv({ ...service, AWS_ENDPOINT_URL_S3: url });
    const asked: string[] = [];
    const { code } = await promptpress([...run, '--dotenv', '.env'], {
      cwd,
      env: { HOME: cwd, XDG_STATE_HOME: join(cwd, 'home'), ...keys },
      now: Date.now,
      answer: (question) => {
        asked.push(question);
        return asked.length === 1 ? 'y' : 'n';
      },
    });
    expect([code, seen]).toEqual([2, []]);
    expect(asked.map((question) => /\$(\w+) to /.exec(question)?.[1])).toEqual([
      'AWS_SECRET_ACCESS_KEY',
      'AWS_ACCESS_KEY_ID',
    ]);
  });

  it('gets the keys of its file, without a session token of the environment', async () => {
    await using fake = await startFakeS3();
    await writeEnv({ ...service, ...fake.env });
    await pp(run, { AWS_SESSION_TOKEN: keys.AWS_SESSION_TOKEN });
    expect(fake.requests.length).toBeGreaterThan(0);
    for (const { headers } of fake.requests) expect(headers['x-amz-security-token']).toBeUndefined();
  });
});

it('an address in a file of variables receives the end of a run, and none of the keys', async () => {
  const { url, seen } = await listener();
  await writeEnv({ PROMPTPRESS_NOTIFY: url });
  const run = ['run', 'set.yaml', '--sandbox', '--max-submits', '0'];
  await pp(run, ambient);
  expect(seen).toHaveLength(1);
  const sent = JSON.stringify(seen);
  for (const value of Object.values(ambient)) expect(sent).not.toContain(value);
  expect(seen[0]?.authorization).toBeUndefined();
});

/** A server that answers 204 to everything, and keeps the headers. */
async function listener(): Promise<{ readonly url: string; readonly seen: readonly IncomingHttpHeaders[] }> {
  const seen: IncomingHttpHeaders[] = [];
  const server = createServer(({ headers }, response) => {
    seen.push(headers);
    response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}
