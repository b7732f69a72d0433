import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { write } from '../e2e/pipelines.ts';
import { type CliResult, cli, type RunningCli, startCli, temporaryFolder } from '../rig/cli.ts';
import { repository } from '../rig/documents.ts';
import { readManifest } from '../rig/manifest.ts';
import { serviceEnv, startQuickService } from '../rig/measured.ts';
import { testDatabase } from '../rig/postgres.ts';
import { type S3Fault, startFakeS3 } from '../rig/s3/fake-s3.ts';

const pipeline = `name: large
poll: { min: 20ms, max: 100ms }
matrix: { animal: [fox, owl] }
steps: { grid: { imagine: "{{ animal }}" } }
`;

/** Long enough to be killed in the middle of one. */
const imageBytes = 68_000_000;

/** A run whose first worker is killed in the middle of an upload; a second one goes on. */
class TornRun implements AsyncDisposable {
  readonly #processes: RunningCli[] = [];
  readonly #open: AsyncDisposable[] = [];
  #env: Readonly<Record<string, string>> = {};
  #flags: readonly string[] = [];
  cwd = '';
  submits: () => Promise<number> = () => Promise.resolve(0);

  /** @param env of the bucket */
  async begin(env: Readonly<Record<string, string>>, place: string): Promise<RunningCli> {
    const folder = await temporaryFolder();
    this.#open.push(folder);
    const database = await testDatabase();
    this.#open.push(database);
    const service = await startQuickService({ imageBytes });
    this.#open.push({ [Symbol.asyncDispose]: () => service.close() });
    this.submits = async () => (await service.counts()).submits;
    this.cwd = folder.path;
    this.#env = { ...serviceEnv(service.url), ...env };
    this.#flags = ['--engine', database.url, '--lease', '1s'];
    await write(this.cwd, { 'large.yaml': pipeline });
    return this.#start('run', 'large.yaml', '--no-work', '--queue', 'lease', '--out', place);
  }

  #start(...args: readonly string[]): RunningCli {
    const started = startCli([...args, ...this.#flags], { cwd: this.cwd, env: this.#env });
    this.#processes.push(started);
    return started;
  }

  worker(name: string): RunningCli {
    return this.#start('worker', '--name', name, '--slots', '1');
  }

  again(): Promise<CliResult> {
    return this.#start('run', 'large.yaml').done;
  }

  verify(): Promise<CliResult> {
    return cli(['verify', `${this.#flags[1] ?? ''}#large`], { cwd: this.cwd, env: this.#env });
  }

  rows(): ReturnType<typeof readManifest> {
    return readManifest(join(this.cwd, 'runs/large/manifest.csv'));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { child } of this.#processes) child.kill('SIGKILL');
    await Promise.all(this.#processes.map(({ done }) => done));
    for (const each of this.#open.reverse()) await each[Symbol.asyncDispose]();
  }
}

/** A promise, and what resolves it. */
function signal(): { readonly given: Promise<void>; readonly give: () => void } {
  let give = (): void => undefined;
  const given = new Promise<void>((resolve) => {
    give = resolve;
  });
  return { given, give: () => give() };
}

test('a worker is killed in the middle of an upload: another one sends it again, and nothing half is left', async () => {
  await using fake = await startFakeS3();
  await using run = new TornRun();
  const [half, over] = [signal(), signal()];
  fake.fault = ({ method, key }): S3Fault | undefined => {
    if (method !== 'PUT' || !key.includes('/images/')) return undefined;
    half.give();
    return { kind: 'held', until: over.given };
  };
  const leading = await run.begin(fake.env, 's3://pictures/large');
  const first = run.worker('first');
  await half.given;
  first.child.kill('SIGKILL');
  await first.done;
  const pictures = () => [...fake.objects].filter(([key]) => key.startsWith('large/images/'));
  expect(pictures()).toEqual([]);
  // What the dead worker had sent arrives now; of those that follow one breaks, and the answer to another is lost.
  const faults: S3Fault[] = [{ kind: 'torn' }, { kind: 'lost' }];
  fake.fault = ({ method, key }): S3Fault | undefined =>
    method === 'PUT' && key.includes('/images/') ? faults.shift() : undefined;
  over.give();
  run.worker('second');
  const ended = await leading.done;
  expect(ended.code, ended.stderr).toBe(0);
  expect(faults).toEqual([]);
  const rows = await run.rows();
  expect(rows.map(({ status }) => status)).toEqual(['done', 'done']);
  expect(fake.objects.get('large/manifest.csv')?.content).toEqual(
    await readFile(join(run.cwd, 'runs/large/manifest.csv')),
  );
  const hashes = pictures().map(([key, { content }]) => [
    key,
    createHash('sha256').update(content).digest('hex'),
  ]);
  expect(Object.fromEntries(hashes)).toEqual(
    Object.fromEntries(rows.map(({ file_name, sha256 }) => [`large/${file_name}`, sha256])),
  );
  const again = await run.again();
  expect([again.code, again.stderr]).toEqual([0, expect.stringContaining('0 submissions in this run')]);
  expect(await run.submits()).toBe(2);
}, 240_000);

/** Installed by hand, as for bucket.test.ts. */
const server = join(repository, 'node_modules/.cache/s3rver/node_modules/s3rver/bin/s3rver.js');

/** A way to a server that stands still, once, behind so many bytes; what is under way then never arrives. */
async function narrowWay(port: () => number, maxBytes: number) {
  const full = signal();
  let left = maxBytes;
  const way = createServer((from) => {
    const to = connect(port(), '127.0.0.1');
    for (const [one, other] of [
      [from, to],
      [to, from],
    ] as const) {
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
    to.pipe(from);
    from.on('data', (bytes) => {
      const had = left;
      left -= bytes.length;
      // Others pass by what is stuck.
      if (had >= 0 && left < 0) {
        from.pause();
        full.give();
      } else if (!to.write(bytes)) {
        from.pause();
        to.once('drain', () => from.resume());
      }
    });
  });
  await new Promise<void>((resolve) => way.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(way.address() as AddressInfo).port}`,
    full: full.given,
    [Symbol.asyncDispose]: async () => {
      await new Promise((resolve) => way.close(resolve));
    },
  };
}

test('the same with s3rver, where the connection stands still in the middle of an upload', async () => {
  await using buckets = await temporaryFolder();
  let port = 0;
  await using way = await narrowWay(() => port, 40_000_000);
  const args = [server, '-d', buckets.path, '-a', '127.0.0.1', '-p', '0', '--configure-bucket', 'bucket'];
  const child = spawn(process.execPath, args, { stdio: 'pipe' });
  try {
    port = await new Promise<number>((resolve, reject) => {
      child.stdout.on('data', (text: Buffer) => {
        const [, found] = /listening on .*?:(\d+)/.exec(text.toString()) ?? [];
        if (found !== undefined) resolve(Number(found));
      });
      child.once('close', () => reject(new Error(`s3rver does not run: ${server}`)));
    });
    await using run = new TornRun();
    const env = {
      AWS_ENDPOINT_URL: way.url,
      AWS_ACCESS_KEY_ID: 'S3RVER',
      AWS_SECRET_ACCESS_KEY: 'S3RVER',
    };
    const leading = await run.begin(env, 's3://bucket/large');
    const first = run.worker('first');
    await way.full;
    first.child.kill('SIGKILL');
    await first.done;
    run.worker('second');
    const ended = await leading.done;
    expect(ended.code, ended.stderr).toBe(0);
    expect((await run.rows()).map(({ status }) => status)).toEqual(['done', 'done']);
    const verified = await run.verify();
    expect([verified.code, verified.stdout, verified.stderr]).toEqual([
      0,
      expect.stringContaining('2 files'),
      '',
    ]);
    expect(await run.submits()).toBe(2);
  } finally {
    child.kill();
  }
}, 240_000);
