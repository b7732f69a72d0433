import { readdir, readFile, rm, unlink, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { eachWithRun, type Row } from './run-rig.ts';

const { pp, at, runIt, rows, imagesOf, status } = eachWithRun();
const write = async (grid: string, animals = 'fox, owl'): Promise<void> =>
  await writeFile(
    at('foxes.yaml'),
    `name: foxes
matrix: { animal: [${animals}] }
steps:
  grid: { imagine: "{{ animal }}", path: U1${grid} }
  say: { from: grid, generate: { model: text-pro, prompt: "{{ animal }}?", images: [parent] } }
`,
  );
const split = ', grid: split';
const submits = async (): Promise<unknown> => (await status())['attempts'];
const outputs = (found: readonly Row[]): readonly string[] =>
  found.map(({ cell, step, branch, output }) => `${cell} ${step} ${branch} ${output}`.replaceAll(/ +/g, ' '));
const cutRows = ['1', '2'].flatMap((cell) => [
  ...[1, 2, 3, 4, 5].map((output) => `${cell} grid ${output}`),
  `${cell} grid U1 1`,
  `${cell} say 1`,
]);
const isFrame = (name: string): boolean => /-[2-5]\.png$/.test(name);

describe('grid: split', () => {
  it('gives each frame a file and a row after its grid, counts costs once, and sends text steps only the grid', async () => {
    await write(split);
    await runIt();
    const found = await rows();
    expect(outputs(found)).toEqual(cutRows);
    expect((await imagesOf()).filter(isFrame)).toHaveLength(8);
    const [grid, frame] = found;
    expect(frame).toMatchObject({ mime: 'image/png', status: 'done', prompt: 'fox', job: grid?.['job'] });
    expect(Number(frame?.['width'])).toBe(Number(grid?.['width']) / 2);
    const key = found.find(({ step }) => step === 'say')?.['job'] ?? '';
    const shown = JSON.parse((await pp('show', key, 'run', '--json')).out) as {
      readonly shows: readonly unknown[];
    };
    expect(shown.shows).toHaveLength(1);
    const story = await pp('show', grid?.['job'] ?? '', 'run');
    expect(story.out.match(/images\/.*?-[1-5]\.png/g)).toHaveLength(5);
    const single = await pp('show', found.find(({ branch }) => branch === 'U1')?.['job'] ?? '', 'run');
    expect(single.out).toContain('none (frames.no-grid): Its task offers no U1 to U4');
  });

  it('cuts grids of an earlier run without paying, and then has nothing left to do', async () => {
    await write('');
    await runIt();
    const paid = await submits();
    expect(await rows()).toHaveLength(6);
    await write(split);
    const plan = JSON.parse((await pp('plan', 'foxes.yaml', '--sandbox', '--out', 'run', '--json')).out);
    expect(plan).toMatchObject({ total: { submits: 0, unsaved: 2, cuts: 2 } });
    expect(await runIt()).toContain('0 submissions in this run, 2 grids cut into frames.');
    expect(await submits()).toEqual(paid);
    expect(outputs(await rows())).toEqual(cutRows);
    const written = await readFile(at('run/manifest.csv'));
    await runIt();
    expect((await readFile(at('run/manifest.csv'))).equals(written)).toBe(true);
    await pp('manifest', 'run');
    expect((await readFile(at('run/manifest.csv'))).equals(written)).toBe(true);
  });

  it('copies the rows of frames when only the matrix was edited', async () => {
    await write(split);
    await runIt();
    await write(split, 'fox, owl, hare');
    await runIt();
    const merged = await readFile(at('run/manifest.csv'));
    expect((await rows()).filter(({ cell, step }) => cell === '3' && step === 'grid')).toHaveLength(6);
    await rm(at('run/manifest.csv'));
    await pp('manifest', 'run');
    expect((await readFile(at('run/manifest.csv'))).equals(merged)).toBe(true);
  });

  it('has no rows after it is removed from the step; clean removes the frames and keeps the grid', async () => {
    await write(split);
    await runIt();
    expect((await pp('clean', 'run')).out).not.toMatch(/-[2-5]\.png/);
    await write('');
    await runIt();
    expect(await rows()).toHaveLength(6);
    expect(await imagesOf()).toHaveLength(12);
    expect((await pp('clean', 'run', '--yes')).code).toBe(0);
    expect((await imagesOf()).filter(isFrame)).toEqual([]);
    expect((await pp('verify', 'run')).code).toBe(0);
    const paid = await submits();
    await write(split);
    await runIt();
    expect([(await imagesOf()).length, await submits()]).toEqual([12, paid]);
  });

  it('lets verify --repair cut missing and changed frames again without a download', async () => {
    await write(split);
    await runIt();
    const before = await rows();
    const [missing = '', changed = ''] = (await imagesOf()).filter(isFrame);
    await unlink(at('run', missing));
    await writeFile(at('run', changed), 'x');
    const { code, out } = await pp('verify', 'run', '--json');
    expect(code).toBe(1);
    for (const [kind, file] of [
      ['missing', missing],
      ['changed', changed],
    ] as const)
      expect(out).toContain(`{"kind":"${kind}","file":"${file}"`);
    const log = (await readFile(at('run/run.log'), 'utf8')).length;
    const mended = await pp('verify', 'run', '--repair');
    expect([mended.code, mended.out]).toEqual([0, expect.stringContaining('2 faults repaired.')]);
    expect(await rows()).toEqual(before);
    expect((await readFile(at('run/run.log'), 'utf8')).slice(log)).not.toContain('"route":"download"');
    expect((await pp('verify', 'run')).code).toBe(0);
  });

  it('reports a grid that was missing when it was to be cut, and cuts it after verify --repair', async () => {
    await write('');
    await runIt();
    const grid = (await rows())[0]?.['file_name'] ?? '';
    await unlink(at('run', grid));
    await write(split);
    await runIt();
    expect((await rows()).filter(({ step }) => step === 'grid')).toHaveLength(8);
    const found = await pp('verify', 'run');
    expect([found.code, found.out]).toEqual([1, expect.stringContaining(`not cut into frames: ${grid}`)]);
    expect((await pp('verify', 'run', '--repair')).code).toBe(0);
    expect(outputs(await rows())).toEqual(cutRows);
  });

  it('puts frames into merged directories, exports and the gallery', async () => {
    await write(split);
    for (const [name, shard] of [
      ['run', '1/2'],
      ['other', '2/2'],
    ] as const)
      await pp('run', 'foxes.yaml', '--sandbox', '--pace', '0.01', '--out', name, '--shard', shard);
    expect((await pp('merge', 'run', 'other', '--out', 'both')).code).toBe(0);
    await rm(at('run'), { recursive: true });
    const { code, err } = await pp(
      'export',
      'both',
      '--to',
      'set',
      '--format',
      'imagefolder',
      '--for',
      'kohya',
    );
    expect([code, err]).toEqual([0, expect.anything()]);
    const set = await readdir(at('set'), { recursive: true });
    expect(set.filter(isFrame)).toHaveLength(8);
    expect(set.filter((name) => /-[2-5]\.txt$/.test(name))).toHaveLength(8);
    const frames = await pp(
      'export',
      'both',
      '--to',
      'frames',
      '--format',
      'jsonl',
      '--step',
      'grid',
      '--no-grids',
    );
    const lines = (await readFile(at('frames/data.jsonl'), 'utf8')).trimEnd().split('\n');
    const named = lines.map((line) => (JSON.parse(line) as Row)['file_name'] ?? '');
    // The upscales, and the frames; no grid.
    expect([frames.code, named.length, named.filter(isFrame).length]).toEqual([0, 10, 8]);
    expect((await pp('report', 'both')).code).toBe(0);
    expect((await pp('verify', 'both')).code).toBe(0);
  });
});
