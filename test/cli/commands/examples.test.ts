import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../../src/sandbox/sandbox.ts';
import { defaultSettings } from '../../../src/sandbox/settings.ts';
import { byStatus, readManifest } from '../../rig/manifest.ts';
import { promptpress } from '../test-io.ts';

const folder = join(import.meta.dirname, '../../../pipelines');
const examples = (await readdir(folder)).filter((name) => name.endsWith('.yaml'));

/** Its mask is a file, in the size of what a sandbox draws when nobody says otherwise. The test has both smaller. */
const withMask = 'repaint.yaml';
const maskFile = 'data/masks/meadow.png';
/** A sixteenth of the pixels, and still enough to tell what is painted from what is not. */
const side = 256;

/** Some of their cells, for nothing is drawn as slowly: `npm start`, with which CI begins, carries out all of the foxes. */
const flags: Readonly<Record<string, readonly string[]>> = {
  'foxes.yaml': ['--limit', '1'],
  'prompts-table.yaml': ['--limit', '3'],
  'ideas.yaml': ['--limit', '1'],
  'best-of-seeds.yaml': ['--filter', 'animal=owl'],
};

describe('the example pipelines', () => {
  let cwd: string;
  let sandbox: Sandbox;
  let larger: Sandbox;
  const rowsOf = (run: string) => readManifest(join(cwd, 'pipelines/runs', run, 'manifest.csv'));
  beforeAll(async () => {
    cwd = await mkdtemp(join(tmpdir(), 'promptpress-'));
    const runs = join(folder, 'runs');
    await cp(folder, join(cwd, 'pipelines'), { recursive: true, filter: (source) => source !== runs });
    // The whole service, with no time to wait and little to draw.
    sandbox = await startSandbox({ apiKey: 'test-key', settings: { pace: 0, pixels: 64 } });
    larger = await startSandbox({ apiKey: 'test-key', settings: { pace: 0, pixels: side } });
    const mask = await sharp(join(folder, maskFile))
      .resize(side, side, { kernel: 'nearest' })
      .png()
      .toBuffer();
    await writeFile(join(cwd, 'pipelines', maskFile), mask);
    for (const name of examples) {
      const text = await readFile(join(folder, name), 'utf8');
      // As the file says, a task is looked at after 200 ms at the earliest: here it is done by then.
      await writeFile(
        join(cwd, 'pipelines', name),
        text.replace('min: 200ms, max: 15s', 'min: 5ms, max: 50ms'),
      );
    }
  });
  afterAll(async () => {
    await sandbox.close();
    await larger.close();
    await rm(cwd, { recursive: true, force: true });
  });

  it.each(examples)(
    '%s is valid, says how to run it, and every job of it is done',
    async (name) => {
      const text = await readFile(join(folder, name), 'utf8');
      expect(text).toContain(`promptpress run pipelines/${name} --sandbox`);
      expect(text.split('\n')[0]).toBe('# yaml-language-server: $schema=../schemas/pipeline.schema.json');
      expect((await promptpress(['validate', join(folder, name)], { cwd })).code).toBe(0);
      const { url } = name === withMask ? larger : sandbox;
      const env = { PROMPTPRESS_BASE_URL: url, PROMPTPRESS_API_KEY: 'test-key' };
      const { code, err } = await promptpress(['run', `pipelines/${name}`, ...(flags[name] ?? [])], {
        cwd,
        env,
      });
      expect(code, err).toBe(0);
      const [, run = ''] = /^name: (\S+)$/m.exec(text) ?? [];
      expect(Object.keys(byStatus(await rowsOf(run)))).toEqual(['done']);
    },
    180_000,
  );

  it('versions.yaml presses the button that each version has', async () => {
    const rows = await rowsOf('versions');
    const pressed = new Map(
      rows
        .filter(({ branch = '' }) => branch.includes('|'))
        .map((row) => [row['var.version'], row['button']]),
    );
    expect(Object.fromEntries(pressed)).toEqual({
      '5.2': 'Upscale (2x)',
      '6': 'Upscale (Subtle)',
      '6.1': 'Upscale (Subtle)',
      '7': 'Upscale (Subtle)',
    });
  });

  it('the mask of repaint.yaml has the size of what a sandbox draws', async () => {
    const { width, height } = await sharp(join(folder, maskFile)).metadata();
    expect([width, height]).toEqual([defaultSettings.pixels, defaultSettings.pixels]);
  });

  it('repaint.yaml paints within its masks, and leaves every pixel around them as it was', async () => {
    const rows = await rowsOf('repaint');
    const pixels = (file: string): Promise<Buffer> => sharp(file).removeAlpha().raw().toBuffer();
    const pixelsOf = async (step: string, branch: string, cell: string): Promise<Buffer> => {
      const row = rows.find(
        (one) => one['step'] === step && one['branch'] === branch && one['cell'] === cell,
      );
      return await pixels(join(cwd, 'pipelines/runs/repaint', row?.['file_name'] ?? ''));
    };
    const parent = await pixelsOf('portrait', 'U1', '1');
    const meadow = await pixels(join(cwd, 'pipelines', maskFile));
    const sky = Buffer.alloc(meadow.length).fill(255, 0, Math.round(0.12 * side) * side * 3);
    for (const [step, mask, cell] of [
      ['guest', meadow, '1'],
      ['guest', meadow, '2'],
      ['sky', sky, '1'],
    ] as const) {
      const painted = await pixelsOf(step, 'U1/Vary (Region)/U1', cell);
      let changedOutside = 0;
      let changedInside = 0;
      for (let at = 0; at < mask.length; at += 1) {
        if (parent[at] === painted[at]) continue;
        if (mask[at] === 255) changedInside += 1;
        else changedOutside += 1;
      }
      expect([step, cell, changedOutside]).toEqual([step, cell, 0]);
      expect(changedInside).toBeGreaterThan(0.5 * mask.filter((level) => level === 255).length);
    }
  });

  it('remix-album.yaml draws each image of a folder again from its description', async () => {
    const rows = await rowsOf('remix-album');
    const files = (await readdir(join(folder, 'data/album'))).sort();
    const words = rows.filter(({ step }) => step === 'words');
    expect(words.map((row) => row['var.file'])).toEqual(files.map((name) => `data/album/${name}`));
    for (const { cell, text = '', file_name: file } of words) {
      expect(file).toBe('');
      const prompts = text.split('\n\n');
      expect(prompts).toHaveLength(4);
      const changed = rows.find(
        (row) => row['cell'] === cell && row['step'] === 'redrawn' && row['branch'] === '',
      );
      expect(changed?.['prompt']).toBe(`${prompts[0]} --v 6.1`);
      expect(rows.find((row) => row['cell'] === cell && row['step'] === 'mix')).toMatchObject({
        kind: 'blend',
        branch: 'U1',
        mime: 'image/png',
      });
    }
  });

  it('ideas.yaml draws and captions each scene that the model wrote', async () => {
    const rows = await rowsOf('ideas');
    const { scenes } = JSON.parse(rows.find(({ step }) => step === 'ideas')?.['text'] ?? '') as {
      scenes: readonly { readonly title: string; readonly scene: string }[];
    };
    expect(scenes).toHaveLength(20);
    const shown = (step: string) =>
      rows.filter((row) => row['step'] === step).map(({ branch, prompt }) => ({ branch, prompt }));
    expect(shown('draw')).toEqual(
      scenes.flatMap(({ scene }, index) => {
        const prompt = `${scene}, forest, watercolour --ar 3:2`;
        return ['', '/U1'].map((pressed) => ({ branch: `[${index + 1}]${pressed}`, prompt }));
      }),
    );
    expect(shown('caption')).toEqual(
      scenes.map(({ title }, index) => ({
        branch: `[${index + 1}]/U1`,
        prompt: `Caption this picture in one sentence. Its title is "${title}".`,
      })),
    );
  });

  it('best-of-seeds.yaml upscales the two frames with the highest scores of all seeds', async () => {
    const rows = await rowsOf('best-of-seeds');
    const own = (step: string) => rows.filter((row) => row['step'] === step);
    const scores = own('score').map(({ cell, branch, text = '' }) => ({
      cell,
      branch,
      value: (JSON.parse(text) as { readonly value: number }).value,
    }));
    expect(scores).toHaveLength(8 * 4);
    const [first, second] = scores.toSorted((a, b) => b.value - a.value);
    const picked = own('grid').filter((row) => row['picked'] !== '');
    expect(
      new Map(picked.map((row) => [row['picked'], [row['cell'], `#${Number(row['output']) - 1}`]])),
    ).toEqual(
      new Map([
        ['best/1', [first?.cell, first?.branch]],
        ['best/2', [second?.cell, second?.branch]],
      ]),
    );
    expect(
      own('large').map(({ cell, branch, button, ...row }) => [cell, branch, button, row['var.seed']]),
    ).toEqual(
      [first, second].map((one, index) => ['8', `${index + 1}/U`, one?.branch?.replace('#', 'U'), one?.cell]),
    );
    expect(own('caption').map(({ prompt }) => prompt)).toEqual([
      `Caption this owl in one sentence. It has seed ${first?.cell} and ${first?.value} points.`,
    ]);
  });

  it('animate.yaml leaves a row for each video', async () => {
    const rows = (await rowsOf('animate')).filter(({ file_name: file = '' }) => file.startsWith('video/'));
    expect(rows.map(({ step, output }) => `${step} ${output}`)).toEqual([
      'grid 1',
      'grid 2',
      'grid 3',
      'grid 4',
      'film 1',
      'film 2',
    ]);
    for (const { file_name: file = '' } of rows) {
      const { pages } = await sharp(join(cwd, 'pipelines/runs/animate', file), { pages: -1 }).metadata();
      expect(pages).toBeGreaterThan(1);
    }
  });
});
