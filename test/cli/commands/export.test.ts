import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { parse } from 'csv-parse/sync';
import { unpackTar } from 'modern-tar';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useQuickSandbox } from '../../rig/quick-sandbox.ts';
import { promptpress } from '../test-io.ts';

useQuickSandbox();

type Row = Readonly<Record<string, string>>;

const pipeline = `
name: foxes
description: Two animals | <b>with</b> captions
matrix: { animal: [fox, owl], size: [1, 2.5], tag: [{ id: 1 }, plain], repeat: 2, exclude: [{ tag: plain, size: 1 }] }
steps:
  grid: { imagine: "{{ animal }}, {{ size }} --ar 3:2 --v 6.1" }
  caption:
    from: grid
    generate: { model: text-pro, prompt: "Caption this {{ animal }}.", images: [parent] }
`;

const card = 'README.md';

let cwd: string;
let manifest: readonly Row[];
const pp = (...args: readonly string[]) => promptpress(args, { cwd });
const csv = async (file: string): Promise<readonly Row[]> =>
  parse(await readFile(join(cwd, file), 'utf8'), { columns: true });
const filesOf = async (folder: string): Promise<readonly string[]> =>
  (await readdir(join(cwd, folder), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(join(cwd, folder).length + 1))
    .sort();
const bytesOf = async (folder: string): Promise<readonly (readonly [string, string])[]> =>
  await Promise.all(
    (await filesOf(folder)).map(
      async (name) => [name, sha256(await readFile(join(cwd, folder, name)))] as const,
    ),
  );
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'promptpress-'));
  await writeFile(join(cwd, 'pipeline.yaml'), pipeline);
  const { code, err } = await pp('run', 'pipeline.yaml', '--sandbox', '--pace', '0.01', '--out', 'run');
  if (code !== 0) throw new Error(err);
  manifest = await csv('run/manifest.csv');
});
afterAll(() => rm(cwd, { recursive: true, force: true }));

describe('promptpress export', () => {
  it('writes a folder of images whose metadata are the rows of the manifest, with captions as their text', async () => {
    const { code, out } = await pp(
      'export',
      'run',
      '--format',
      'imagefolder',
      '--to',
      'set',
      '--caption',
      'caption',
    );
    expect([code, out]).toEqual([0, expect.stringContaining('set: 12 rows, 8 files')]);
    const rows = await csv('set/metadata.csv');
    const images = manifest.filter(({ step }) => step === 'grid');
    const said = (image: Row) =>
      manifest.find((row) => row['step'] === 'caption' && row['cell'] === image['cell'])?.['text'];
    expect(rows).toEqual(images.map((image) => ({ ...image, text: said(image) })));
    expect(rows.every(({ text }) => text !== '')).toBe(true);
    for (const { file_name: name = '', sha256: hash } of rows)
      expect(sha256(await readFile(join(cwd, 'set', name)))).toBe(hash);
    expect(new Set(rows.map(({ file_name: name }) => name)).size).toBe((await filesOf('set')).length - 2);
  });

  it('writes the same bytes for the same state, in every format', async () => {
    for (const format of ['imagefolder', 'jsonl', 'parquet', 'webdataset']) {
      expect((await pp('export', 'run', '--format', format, '--to', `${format}-1`)).code).toBe(0);
      expect((await pp('export', 'run', '--format', format, '--to', `${format}-2`)).code).toBe(0);
      expect(await bytesOf(`${format}-2`)).toEqual(await bytesOf(`${format}-1`));
    }
  });

  it('writes typed JSON lines: unknown values are null, objects are objects', async () => {
    expect((await pp('export', 'run', '--format', 'jsonl', '--to', 'lines')).code).toBe(0);
    const lines = (await readFile(join(cwd, 'lines/data.jsonl'), 'utf8')).trimEnd().split('\n');
    const rows = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(rows.length).toBe(manifest.length);
    expect(rows[0]).toMatchObject({
      cell: 1,
      step: 'grid',
      branch: null,
      width: Number(manifest[0]?.['width']),
      'var.animal': 'fox',
      'var.size': 1,
      'var.tag': '{"id":1}',
      submitted_at: manifest[0]?.['submitted_at'],
    });
    expect(Object.keys(rows[0] ?? {})).toEqual(Object.keys(manifest[0] ?? {}));
  });

  it('writes Parquet that DuckDB reads: counts, sums and hashes are those of the manifest', async () => {
    expect((await pp('export', 'run', '--format', 'parquet', '--to', 'parquet')).code).toBe(0);
    const duck = await (await DuckDBInstance.create(':memory:')).connect();
    const file = join(cwd, 'parquet/data-00000.parquet');
    const read = async (query: string) => (await duck.runAndReadAll(query)).getRowObjectsJson();
    const sum = (name: string) => manifest.reduce((all, row) => all + Number(row[name] || 0), 0);
    expect(
      await read(
        `SELECT count(*) AS rows, sum(total_tokens)::INT AS tokens, sum(width)::INT AS width, max("var.size") AS size, count(file_name) AS files FROM '${file}'`,
      ),
    ).toEqual([
      {
        rows: String(manifest.length),
        tokens: sum('total_tokens'),
        width: sum('width'),
        size: 2.5,
        files: '12',
      },
    ]);
    expect(await read(`SELECT sha256, epoch_ms(submitted_at)::VARCHAR AS at, text FROM '${file}'`)).toEqual(
      manifest.map(({ sha256: hash, submitted_at: at, text }) => ({
        sha256: hash || null,
        at: at ? String(Date.parse(at)) : null,
        text: text || null,
      })),
    );
    duck.closeSync();
  });

  it('writes tar archives whose samples have an image, a text and the row, under a key of their own', async () => {
    expect(
      (await pp('export', 'run', '--format', 'webdataset', '--to', 'shards', '--step', 'grid')).code,
    ).toBe(0);
    const members = await unpackTar(await readFile(join(cwd, 'shards/000000.tar')));
    const images = manifest.filter(({ step }) => step === 'grid');
    expect(members.map(({ header }) => header.name)).toEqual(
      images.flatMap(({ job, cell }, at) => {
        const isShared = images.findIndex((image) => image['job'] === job) < at;
        return ['png', 'txt', 'json'].map(
          (ending) => `${job}-1${isShared ? `-cell-${cell}-grid` : ''}.${ending}`,
        );
      }),
    );
    expect(members.every(({ header }) => header.mtime?.getTime() === 0)).toBe(true);
    const text = (at: number) => Buffer.from(members[at]?.data ?? []).toString();
    expect(sha256(members[0]?.data ?? new Uint8Array())).toBe(images[0]?.['sha256']);
    expect(text(1)).toBe('fox, 1');
    expect(JSON.parse(text(2))).toMatchObject({ job: images[0]?.['job'], cell: 1 });
  });

  it('puts each cell into one part, with its repeats, and says how many rows each part has', async () => {
    const { out } = await pp(
      'export',
      'run',
      '--format',
      'jsonl',
      '--to',
      'parts',
      '--split',
      'train=0.5,test=0.5',
    );
    const parts = await Promise.all(
      ['train', 'test'].map(async (part) =>
        (await readFile(join(cwd, 'parts', part, 'data.jsonl'), 'utf8'))
          .split('\n')
          .filter((line) => line !== '')
          .map((line) => JSON.parse(line) as Record<string, unknown>),
      ),
    );
    const cells = parts.map(
      (rows) => new Set(rows.map((row) => [row['var.animal'], row['var.size'], row['var.tag']].join())),
    );
    expect([...(cells[0] ?? [])].filter((cell) => cells[1]?.has(cell))).toEqual([]);
    expect(out).toContain(`(train ${parts[0]?.length}, test ${parts[1]?.length})`);
    expect(parts.flat().length).toBe(manifest.length);
  });

  it('takes the jobs that a file lists, and refuses a file that lists something else', async () => {
    const [first] = manifest;
    await writeFile(join(cwd, 'marks.csv'), `job,mark,note\n${first?.['job']},keep,"a, b"\n`);
    await pp('export', 'run', '--format', 'jsonl', '--to', 'marked', '--jobs', 'marks.csv');
    expect((await readFile(join(cwd, 'marked/data.jsonl'), 'utf8')).split('\n').length - 1).toBe(1);
    await writeFile(join(cwd, 'wrong.csv'), 'job\nabcdef0123\nfox\n');
    const { code, err } = await pp(
      'export',
      'run',
      '--format',
      'jsonl',
      '--to',
      'none',
      '--jobs',
      'wrong.csv',
    );
    expect([code, err]).toEqual([
      2,
      expect.stringContaining('--jobs wrong.csv, line 3: "fox" is not a job key.'),
    ]);
  });

  it('filters the whole plan, not only what the last run chose', async () => {
    const again = ['run', 'pipeline.yaml', '--sandbox', '--out', 'run'];
    expect((await pp(...again, '--filter', 'animal=fox', '--limit', '1')).code).toBe(0);
    const owls = [
      'export',
      'run',
      '--format',
      'jsonl',
      '--no-files',
      '--filter',
      'animal=owl',
      '--to',
      'owls',
    ];
    const { code, out } = await pp(...owls);
    const all = manifest.filter((row) => row['var.animal'] === 'owl').length;
    expect([code, out]).toEqual([0, expect.stringContaining(`owls: ${all} rows`)]);
    expect((await pp(...again)).code).toBe(0);
  });

  it('has a table with all its columns also where no result is chosen', async () => {
    const none = ['--status', 'failed', '--no-files'];
    for (const [format, file] of [
      ['parquet', 'data-00000.parquet'],
      ['jsonl', 'data.jsonl'],
    ] as const) {
      const { code, out } = await pp('export', 'run', '--format', format, ...none, '--to', `no-${format}`);
      expect([code, out]).toEqual([0, expect.stringContaining('0 rows')]);
      expect(await filesOf(`no-${format}`)).toContain(file);
    }
    const duck = await (await DuckDBInstance.create(':memory:')).connect();
    const file = join(cwd, 'no-parquet/data-00000.parquet');
    const read = await duck.runAndReadAll(`SELECT * FROM '${file}'`);
    expect(read.columnNames()).toEqual(Object.keys(manifest[0] ?? {}));
  });

  it('writes a text beside each image for kohya', async () => {
    await pp(
      'export',
      'run',
      '--format',
      'imagefolder',
      '--to',
      'kohya',
      '--for',
      'kohya',
      '--filter',
      'animal=owl',
    );
    const texts = (await filesOf('kohya')).filter((name) => name.endsWith('.txt'));
    // Cells that share a job share its image.
    expect(texts.length).toBe(4);
    expect(await readFile(join(cwd, 'kohya', texts[0] ?? ''), 'utf8')).toMatch(/^owl, (1|2\.5)\n$/);
  });

  it('leaves out rows with missing or changed files, names them, and exits with 1', async () => {
    const names = manifest.filter(({ step }) => step === 'grid').map((row) => row['file_name'] ?? '');
    const [gone = '', changed = ''] = names;
    const kept = await Promise.all([gone, changed].map((name) => readFile(join(cwd, 'run', name))));
    await unlink(join(cwd, 'run', gone));
    const other = Buffer.from(kept[1] ?? []);
    other[100] = (other[100] ?? 0) ^ 1;
    await writeFile(join(cwd, 'run', changed), other);
    const { code, out, err } = await pp(
      'export',
      'run',
      '--format',
      'webdataset',
      '--to',
      'damaged',
      '--step',
      'grid',
    );
    expect([code, out]).toEqual([1, expect.stringContaining('10 rows, 10 files')]);
    expect(err).toContain(`1 file missing, 1 file changed since the run, such as ${gone}, ${changed}.`);
    expect(await readFile(join(cwd, 'damaged', card), 'utf8')).toContain('- 1 row whose file is missing\n');
    await writeFile(join(cwd, 'run', gone), kept[0] ?? '');
    await writeFile(join(cwd, 'run', changed), kept[1] ?? '');
  });

  it('describes contents, origin and left-out rows in the card, without foreign markup', async () => {
    const { out } = await pp('export', 'run', '--format', 'imagefolder', '--to', 'card');
    expect(out).toContain('left out: 12 rows without an image; an imagefolder has only images\n');
    const text = await readFile(join(cwd, 'card', card), 'utf8');
    expect(text).toContain('Two animals \\| \\<b\\>with\\</b\\> captions');
    expect(text).toContain('- 12 rows without an image');
    expect(text).toContain('## Licence');
    expect(text).toContain('| `var.size` | number |');
  });

  it('has no remote content in the card, whatever the pipeline contains', async () => {
    const loads = '![a](http://evil.test/seen.png) \\![b](http://evil.test/2) `<img>` [c](http://evil.test)';
    await writeFile(
      join(cwd, 'loads.yaml'),
      `name: loads\ndescription: ${JSON.stringify(loads)}\nsteps: { a: { imagine: fox } }\n`,
    );
    await pp('run', 'loads.yaml', '--sandbox', '--pace', '0.01', '--out', 'loads');
    await pp('export', 'loads', '--format', 'jsonl', '--to', 'loading');
    expect(await readFile(join(cwd, 'loading', card), 'utf8')).toContain(
      '\n!\\[a\\](http://evil.test/seen.png) \\\\!\\[b\\](http://evil.test/2) \\`\\<img\\>\\` \\[c\\](http://evil.test)\n',
    );
  });

  it('counts the files in the data set: rows may share one, and a table alone has none', async () => {
    await writeFile(
      join(cwd, 'two.yaml'),
      'name: two\nsteps: { a: { imagine: fox }, b: { imagine: fox } }\n',
    );
    await pp('run', 'two.yaml', '--sandbox', '--pace', '0.01', '--out', 'two');
    const shared = await pp('export', 'two', '--format', 'jsonl', '--to', 'shared');
    expect(shared.out).toBe('shared: 2 rows, 1 file\n');
    const alone = await pp('export', 'two', '--format', 'jsonl', '--to', 'alone', '--no-files');
    expect(alone.out).toBe('alone: 2 rows, 0 files\n');
    expect(await readFile(join(cwd, 'alone', card), 'utf8')).toContain('relative to the run directory');
  });

  it('refuses a folder that is not empty and leaves nothing behind', async () => {
    await pp('export', 'run', '--format', 'jsonl', '--to', 'twice');
    const before = await bytesOf('twice');
    const { code, err } = await pp('export', 'run', '--format', 'jsonl', '--to', 'twice');
    expect([code, err]).toEqual([2, expect.stringContaining('--to twice is not empty.')]);
    expect(await bytesOf('twice')).toEqual(before);
    expect((await readdir(cwd)).filter((name) => name.includes('.part'))).toEqual([]);
  });

  it.each([
    [['export', 'run', '--to', 'x'], 'export needs --format'],
    [['export', 'run', '--format', 'jsonl'], 'export needs --to DIR'],
    [['export', 'run', '--format', 'jsonl', '--to', 'x', '--step', 'gird'], 'no step "gird"'],
    [['export', 'run', '--format', 'jsonl', '--to', 'x', '--caption', 'grid'], 'makes images, not texts'],
    [
      ['export', 'run', '--format', 'jsonl', '--to', 'x', '--step', 'caption', '--caption', 'caption'],
      'nothing is left',
    ],
    [
      ['export', 'run', '--format', 'jsonl', '--to', 'x', '--split', 'train=0.9,test=0.2'],
      'The shares add up to 1.1',
    ],
    [['export', 'run', '--format', 'parquet', '--to', 'x', '--for', 'kohya'], 'Take --format imagefolder.'],
    [
      ['export', 'run', '--format', 'jsonl', '--to', 'x', '--for', 'foo'],
      'promptpress export run --to x --for kohya --format imagefolder',
    ],
    [['export', 'run', '--format', 'imagefolder', '--to', 'x', '--no-files'], 'consists of files'],
  ])('refuses %j', async (args, message) => {
    const { code, err } = await pp(...args);
    expect([code, err]).toEqual([2, expect.stringContaining(message)]);
    expect(await readdir(cwd)).not.toContain('x');
  });
});
