import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { promptpress, type Said } from '../../cli/test-io.ts';
import { quick } from '../../e2e/pipelines.ts';
import { readManifest } from '../../rig/manifest.ts';
import { openPlace, type RunPlace } from '../../rig/run-place.ts';
import { type FakeS3, type FakeS3Options, startFakeS3 } from '../../rig/s3/fake-s3.ts';

const out = 's3://pictures/sets/foxes';

const pipeline = `
name: killed
${quick}
matrix: { animal: [fox, owl] }
steps:
  grid: { imagine: "{{ animal }}", path: U1 }
  say: { from: grid, generate: { model: text-pro, prompt: What is this?, images: [parent] } }
`;

interface S3Place {
  readonly place: RunPlace;
  readonly fake: FakeS3;
  /** A command in the folder of the pipeline, with the keys of the store. */
  readonly say: (...words: readonly string[]) => Promise<Said>;
}

async function open(options: FakeS3Options = {}): Promise<S3Place> {
  const place = await openPlace(pipeline);
  const fake = await startFakeS3(options);
  onTestFinished(async () => {
    await place[Symbol.asyncDispose]();
    await fake[Symbol.asyncDispose]();
  });
  const env = { ...place.env, ...fake.env };
  return { place, fake, say: (...words) => promptpress(words, { cwd: place.folder, env }) };
}

const sha256 = (content: Buffer): string => createHash('sha256').update(content).digest('hex');

/** Every row of the manifest in the bucket has its file beside it, and nothing else lies there. */
async function checkBucket({ fake, place }: S3Place, rows: number): Promise<void> {
  const manifest = fake.objects.get('sets/foxes/manifest.csv')?.content ?? Buffer.alloc(0);
  const copy = join(place.folder, 'of-the-bucket.csv');
  await writeFile(copy, manifest);
  const listed = await readManifest(copy);
  expect(listed.map(({ status }) => status)).toEqual(Array.from({ length: rows }, () => 'done'));
  const files = listed.flatMap(({ file_name: file = '' }) => (file === '' ? [] : [file]));
  const named = new Set(files.map((file) => `sets/foxes/${file}`));
  for (const key of named) {
    const object = fake.objects.get(key);
    expect(object?.headers['x-amz-meta-sha256']).toBe(sha256(object?.content ?? Buffer.alloc(0)));
  }
  const rest = ['.promptpress.json', 'manifest.csv', 'run.json'].map((name) => `sets/foxes/${name}`);
  expect([...fake.objects.keys()].sort()).toEqual([...named, ...rest].sort());
}

it('a run puts files, manifest and record into a bucket, and sends models the images from there', async () => {
  const opened = await open();
  const { place, fake, say } = opened;
  const { code, err } = await say('run', 'killed.yaml', '--out', out);
  expect([code, err]).toEqual([0, expect.stringContaining(`images    ${out}/images`)]);
  expect(err).toContain(`manifest  ${out}/manifest.csv`);
  expect(err).toContain('promptpress serve runs/killed');
  await checkBucket(opened, 6);
  expect(JSON.parse(fake.objects.get('sets/foxes/run.json')?.content.toString() ?? '')).toMatchObject({
    exitCode: 0,
  });
  // Nothing of the files stays here, and no key anywhere.
  expect(
    readdirSync(place.directory).includes('images') && readdirSync(join(place.directory, 'images')),
  ).not.toContain('.incoming');
  for (const name of ['run.json', 'run.log', 'manifest.csv', 'state.db'])
    expect(readFileSync(join(place.directory, name)).includes(fake.account.secretAccessKey), name).toBe(
      false,
    );

  // The directory remembers its place: with the flag or without it there is nothing left to do.
  const puts = fake.counts.get('PUT object') ?? 0;
  for (const words of [['--out', out], []]) {
    const again = await say('run', 'killed.yaml', ...words);
    expect([again.code, place.service.submits.all.length]).toEqual([0, 4]);
  }
  // Its claim and its record, and no image.
  expect((fake.counts.get('PUT object') ?? 0) - puts).toBe(4);
}, 120_000);

it('commands read, check, repair, clean, export and list the files in the bucket', async () => {
  const opened = await open();
  const { place, fake, say } = opened;
  expect((await say('run', 'killed.yaml', '--out', out)).code).toBe(0);
  expect(await say('verify', 'runs/killed')).toMatchObject({ code: 0 });
  expect((await say('status', 'killed.yaml', '--out', out)).code).toBe(0);

  const images = [...fake.objects.keys()].filter((key) => key.includes('/images/'));
  const [gone = '', changed = ''] = images;
  const before = fake.objects.get(changed)?.content;
  fake.remove(gone);
  fake.store(changed, 'something else');
  fake.store('sets/foxes/images/zz/notes.png', 'x');
  const wrong = await say('verify', 'runs/killed', '--json');
  expect(wrong.code).toBe(1);
  expect(wrong.out.match(/"kind":"[a-z]+"/g)?.sort()).toEqual([
    '"kind":"changed"',
    '"kind":"missing"',
    '"kind":"unlisted"',
  ]);
  const submits = place.service.submits.all.length;
  const repaired = await say('verify', 'runs/killed', '--repair');
  expect([repaired.code, place.service.submits.all.length], repaired.err).toEqual([0, submits]);
  expect(fake.objects.get(changed)?.content).toEqual(before);

  const exported = await say('export', 'runs/killed', '--format', 'imagefolder', '--to', 'set');
  expect([exported.code, exported.err]).toEqual([0, '']);
  expect(
    readdirSync(join(place.folder, 'set'), { recursive: true }).filter((name) =>
      String(name).endsWith('.png'),
    ),
  ).toHaveLength(4);

  fake.store('sets/foxes/images/ab/ab12345678-1.png', 'left over');
  const shown = await say('clean', 'runs/killed');
  expect(shown.out).toContain(`${out}: 1 file`);
  expect(shown.out).toContain('images/zz/notes.png');
  expect((await say('clean', 'runs/killed', '--yes')).code).toBe(0);
  expect(fake.objects.has('sets/foxes/images/ab/ab12345678-1.png')).toBe(false);
  expect(fake.objects.has('sets/foxes/images/zz/notes.png')).toBe(true);

  fake.remove('sets/foxes/manifest.csv');
  expect((await say('manifest', 'runs/killed')).out).toContain(`${out}/manifest.csv: 6 rows`);
  fake.remove('sets/foxes/images/zz/notes.png');
  await checkBucket(opened, 6);

  const report = await say('report', 'runs/killed');
  expect([report.code, report.err]).toEqual([2, expect.stringContaining('promptpress serve runs/killed')]);
  expect(existsSync(join(place.directory, 'report'))).toBe(false);
}, 120_000);

it.each([
  ['no keys', { AWS_ACCESS_KEY_ID: '' }, 'AWS_ACCESS_KEY_ID is not set'],
  ['a wrong key', { AWS_SECRET_ACCESS_KEY: 'wrong' }, 'does not accept the keys'],
  ['another region', { AWS_REGION: 'us-east-1' }, 'AWS_REGION=eu-test-1'],
] as const)('asks for nothing that is paid with %s', async (_, env, words) => {
  const { place, fake } = await open();
  const said = await promptpress(['run', 'killed.yaml', '--out', out], {
    cwd: place.folder,
    env: { ...place.env, ...fake.env, ...env },
  });
  expect([said.code, said.err]).toEqual([2, expect.stringContaining(words)]);
  expect([place.service.submits.all.length, fake.objects.size]).toEqual([0, 0]);
});

it('verify reports that there is nothing to verify for a run that was refused before it began', async () => {
  const { say } = await open({ bucket: 'other' });
  expect((await say('run', 'killed.yaml', '--out', out)).code).toBe(2);
  const said = await say('verify', 'runs/killed');
  expect([said.code, said.out, said.err]).toEqual([
    2,
    '',
    expect.stringContaining('holds no run that reached its first job'),
  ]);
});

it.each([
  [{ AWS_S3_ADDRESSING_STYLE: 'host' }, undefined, 'AWS_S3_ADDRESSING_STYLE is neither'],
  [{ AWS_SESSION_TOKEN: 'of an hour' }, { status: 400, code: 'InvalidRequest' }, 'AWS_SESSION_TOKEN'],
] as const)('refuses %j before anything is paid', async (more, fault, words) => {
  const { place, fake } = await open(fault === undefined ? {} : { fault: () => fault });
  const said = await promptpress(['run', 'killed.yaml', '--out', out], {
    cwd: place.folder,
    env: { ...place.env, ...fake.env, ...more },
  });
  expect([said.code, said.err]).toEqual([2, expect.stringContaining(words)]);
  expect(place.service.submits.all).toEqual([]);
});

it.each([
  ['s3://', 'is not a place in a bucket'],
  ['s3://ab/x', 'A bucket has 3 characters or more'],
  ['s3://nowhere/x', 'AWS_S3_ADDRESSING_STYLE=virtual'],
  ['s3://nowhere/x', 'There is no bucket "nowhere"'],
] as const)('refuses %s before anything is paid', async (address, words) => {
  const { place, say } = await open();
  const said = await say('run', 'killed.yaml', '--out', address);
  expect([said.code, said.err]).toEqual([2, expect.stringContaining(words)]);
  expect(place.service.submits.all).toEqual([]);
});

it('a run keeps all its files in one place, and two runs stay apart', async () => {
  const { place, say } = await open();
  expect((await say('run', 'killed.yaml', '--out', out)).code).toBe(0);
  const moved = await say('run', 'killed.yaml', '--out', 's3://pictures/other');
  expect([moved.code, moved.err]).toEqual([2, expect.stringContaining(`Continue there: --out ${out}`)]);
  const other = await say('run', 'killed.yaml', '--out', out, '--run-directory', 'runs/second');
  expect([other.code, other.err]).toEqual([2, expect.stringContaining('belongs to another run')]);
  const asked = await say('status', 'killed.yaml', '--out', 's3://pictures/other');
  expect([asked.code, asked.err]).toEqual([2, expect.stringContaining(`are in ${out}`)]);
  const alone = await say('run', 'killed.yaml', '--run-directory', 'runs/third');
  expect([alone.code, alone.err]).toEqual([2, expect.stringContaining('--out s3://')]);
  const submits = place.service.submits.all.length;
  const beside = await say(
    'run',
    'killed.yaml',
    '--out',
    's3://pictures/third',
    '--run-directory',
    'runs/third',
  );
  expect([beside.code, place.service.submits.all.length]).toEqual([0, 2 * submits]);
  await mkdir(join(place.folder, 'runs/local'), { recursive: true });
  expect((await say('run', 'killed.yaml', '--out', 'runs/local')).code).toBe(0);
  const late = await say(
    'run',
    'killed.yaml',
    '--out',
    's3://pictures/late',
    '--run-directory',
    'runs/local',
  );
  expect([late.code, late.err]).toEqual([2, expect.stringContaining('another place')]);
}, 120_000);

it('a run ends with 74 if all is done and the bucket rejects the manifest; the next run uploads it', async () => {
  const opened = await open();
  const { place, fake, say } = opened;
  fake.fault = ({ method, key }) =>
    method === 'PUT' && key.endsWith('/manifest.csv') ? { status: 403, code: 'AccessDenied' } : undefined;
  const first = await say('run', 'killed.yaml', '--out', out, '--json');
  expect([first.code, first.err]).toEqual([74, expect.stringContaining('manifest.csv')]);
  expect(JSON.parse(first.out)).toMatchObject({ exitCode: 74, end: { kind: 'complete' } });
  fake.fault = () => undefined;
  expect((await say('run', 'killed.yaml')).code).toBe(0);
  expect(place.service.submits.all).toHaveLength(4);
  await checkBucket(opened, 6);
}, 120_000);

it('a run stops when the store accepts no more, and continues from there later', async () => {
  const opened = await open();
  const { place, fake, say } = opened;
  let isTaken = true;
  fake.fault = ({ method, key }) => {
    if (method === 'PUT' && key.includes('/images/')) isTaken = false;
    return isTaken ? undefined : { status: 403, code: 'AccessDenied' };
  };
  const stopped = await say('run', 'killed.yaml', '--out', out);
  expect([stopped.code, stopped.err]).toEqual([74, expect.stringContaining('s3.denied')]);
  expect([...fake.objects.keys()]).toEqual(['sets/foxes/.promptpress.json']);
  fake.fault = () => undefined;
  expect((await say('run', 'killed.yaml')).code).toBe(0);
  expect(place.service.submits.all).toHaveLength(4);
  await checkBucket(opened, 6);
}, 120_000);
