import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { promptpress } from '../cli/test-io.ts';
import { startCli } from '../rig/cli.ts';
import { readManifest } from '../rig/manifest.ts';
import { openPlace, repeated } from '../rig/run-place.ts';
import { type S3Fault, type S3Request, startFakeS3 } from '../rig/s3/fake-s3.ts';
import { quick } from './pipelines.ts';

const pipeline = `name: killed
service: { id: fake }
${quick}
matrix: { animal: [fox, owl, lynx, hare] }
steps:
  grid: { imagine: "{{ animal }}", path: U1..U2 }
`;

const isImage = ({ method, key }: S3Request): boolean => method === 'PUT' && key.includes('/images/');

it('goes on after kills in the middle of uploads: nothing half, nothing left over, nothing lost, nothing paid twice', async () => {
  await using place = await openPlace(pipeline);
  const fake = await startFakeS3();
  onTestFinished(() => fake[Symbol.asyncDispose]());
  const { folder: cwd, service } = place;
  const env = { ...place.env, ...fake.env };
  const args = ['run', 'killed.yaml', '--out', 's3://pictures/set'];

  /** Kills a run when so many images are on their way, in one of three states: not begun, half, carried out and not answered. */
  const killAt = async (images: number, fault: (release: Promise<void>) => S3Fault): Promise<void> => {
    let reached = (): void => undefined;
    const isReached = new Promise<void>((resolve) => {
      reached = resolve;
    });
    let release = (): void => undefined;
    const until = new Promise<void>((resolve) => {
      release = resolve;
    });
    let seen = 0;
    fake.fault = (request) => {
      if (!isImage(request)) return undefined;
      seen += 1;
      if (seen < images) return undefined;
      if (seen === images) setImmediate(reached);
      return fault(until);
    };
    const { child, done } = startCli(args, { cwd, env });
    await Promise.race([isReached, done]);
    child.kill('SIGKILL');
    expect((await done).signal).toBe('SIGKILL');
    // What the dead run had sent arrives now, behind its end.
    release();
    fake.fault = () => undefined;
  };
  await killAt(2, (until) => ({ kind: 'held', until }));
  await killAt(2, () => ({ kind: 'lost' }));
  await killAt(1, () => ({ kind: 'reset' }));

  // Submissions that a kill left without an answer are paid a second time once somebody says so, and not before.
  const first = await promptpress(args, { cwd, env });
  expect([0, 5]).toContain(first.code);
  expect(repeated(service)).toEqual([]);
  const last = await promptpress([...args, '--in-doubt', 'retry'], { cwd, env });
  expect([last.code, last.err]).toEqual([0, expect.stringContaining('s3://pictures/set/images')]);
  const copy = join(cwd, 'manifest.csv');
  await writeFile(copy, fake.objects.get('set/manifest.csv')?.content ?? '');
  const rows = await readManifest(copy);
  expect(rows.map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => 'done'));
  const images = [...fake.objects].filter(([key]) => key.startsWith('set/images/'));
  expect(images.map(([key]) => key).sort()).toEqual(rows.map(({ file_name }) => `set/${file_name}`).sort());
  for (const [, { content, headers }] of images)
    expect(createHash('sha256').update(content).digest('hex')).toBe(headers['x-amz-meta-sha256']);
  expect((await promptpress(['verify', 'runs/killed'], { cwd, env })).code).toBe(0);
}, 120_000);

it('says that the store is away, submits nothing meanwhile, and goes on by itself', async () => {
  const cells = 24;
  const slow = pipeline
    .replace('[fox, owl, lynx, hare]', `{ from: 1, to: ${cells} }`)
    .replace(', path: U1..U2', '')
    .replace('tasks: 24', 'tasks: 1')
    .replace('patience: 2s', 'patience: 1m')
    .replace('poll: { min: 5ms, max: 20ms }', 'poll: { min: 80ms, max: 80ms }');
  await using place = await openPlace(slow, { polls: 5 });
  const fake = await startFakeS3();
  onTestFinished(() => fake[Symbol.asyncDispose]());
  const { folder: cwd, service } = place;
  const env = { ...place.env, ...fake.env };
  let awaySince = 0;
  const seen: number[] = [];
  fake.fault = (request) => {
    if (!isImage(request)) return undefined;
    if (awaySince === 0) awaySince = performance.now();
    const awayMs = performance.now() - awaySince;
    if (awayMs > 11_000) return undefined;
    if (awayMs > 6000) seen.push(service.submits.all.length);
    return { kind: 'reset', byReset: true };
  };
  const ran = await promptpress(['run', 'killed.yaml', '--out', 's3://pictures/set'], { cwd, env });
  expect([ran.code, ran.err]).toEqual([0, expect.stringContaining('ECONNRESET')]);
  expect(ran.err.match(/Nothing could be written to s3:.*Nothing new is submitted/g)).toHaveLength(1);
  // What had begun before, and no more, until the store was back.
  expect([seen.length > 1, new Set(seen).size, (seen[0] ?? 0) < cells]).toEqual([true, 1, true]);
  expect(service.submits.all).toHaveLength(cells);
}, 120_000);

it('runs, verifies, exports and cleans over a store that resets each tenth request', async () => {
  await using place = await openPlace(pipeline);
  const kinds = ['reset', 'lost', 'cut'] as const;
  const fake = await startFakeS3({
    fault: (_, count) =>
      count % 10 === 0 ? { kind: kinds[(count / 10) % 3] ?? 'cut', byReset: true } : undefined,
  });
  onTestFinished(() => fake[Symbol.asyncDispose]());
  const { folder: cwd, service } = place;
  const say = (...words: readonly string[]): ReturnType<typeof promptpress> =>
    promptpress(words, { cwd, env: { ...place.env, ...fake.env } });
  const ran = await say('run', 'killed.yaml', '--out', 's3://pictures/set');
  expect([ran.code, ran.err]).toEqual([0, expect.stringContaining('s3://pictures/set/images')]);
  expect(repeated(service)).toEqual([]);
  for (let turn = 0; turn < 4; turn += 1) {
    const checked = await say('verify', 'runs/killed');
    expect([checked.code, checked.err]).toEqual([0, '']);
    const exported = await say('export', 'runs/killed', '--format', 'imagefolder', '--to', `set-${turn}`);
    expect([exported.code, exported.out]).toEqual([0, expect.stringContaining('12 rows, 12 files')]);
  }
  fake.store('set/images/ab/ab12345678-1.png', 'left over');
  expect((await say('clean', 'runs/killed', '--yes')).code).toBe(0);
  expect(fake.objects.has('set/images/ab/ab12345678-1.png')).toBe(false);
  expect(fake.requests.length).toBeGreaterThan(100);
}, 120_000);
