import { readFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { promptpress } from '../cli/test-io.ts';
import { cli, temporaryFolder } from '../rig/cli.ts';
import { startFakeService } from '../rig/fake-service.ts';
import { byStatus, readManifest } from '../rig/manifest.ts';
import { quick, write } from './pipelines.ts';

const text = readFileSync(fileURLToPath(new URL('../../README.md', import.meta.url)), 'utf8');
const examples = [...text.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, yaml = '']) => ({
  name: /^name: (.*)$/m.exec(yaml)?.[1] ?? '',
  yaml,
}));
const example = (name: string): string => examples.find((one) => one.name === name)?.yaml ?? '';

describe('README', () => {
  it.each(examples)('the example $name is a valid pipeline', async ({ yaml }) => {
    await using folder = await temporaryFolder();
    await write(folder.path, {
      'example.yaml': yaml,
      'data/prompts.csv': 'prompt\na fox\nan owl\n',
      'data/album/fox.png': 'looked at, not into',
    });
    const { code, err } = await promptpress(['validate', 'example.yaml'], { cwd: folder.path });
    expect(code, err).toBe(0);
  });

  it('its first example makes 36 jobs, 9 of a cell, all of them done in the sandbox', async () => {
    await using folder = await temporaryFolder();
    await write(folder.path, { 'hello.yaml': example('hello') });
    const plan = await cli(['plan', 'hello.yaml', '--json'], { cwd: folder.path });
    expect(JSON.parse(plan.stdout)).toMatchObject({ cells: { total: 4 }, total: { jobs: 36, submits: 36 } });
    const { code, stderr } = await cli(['run', 'hello.yaml', '--sandbox', '--limit', '1'], {
      cwd: folder.path,
    });
    expect(code, stderr).toBe(0);
    expect(byStatus(await readManifest(join(folder.path, 'runs/hello.sandbox/manifest.csv')))).toEqual({
      done: 9,
    });
  }, 120_000);

  it('a path and the steps it is short for ask for the same jobs', async () => {
    const service = await startFakeService();
    const env = { PROMPTPRESS_BASE_URL: service.url, PROMPTPRESS_API_KEY: service.apiKey };
    const keys: string[][] = [];
    try {
      for (const name of ['short', 'long']) {
        await using folder = await temporaryFolder();
        await write(folder.path, { 'one.yaml': `${example(name)}${quick}` });
        const run = await promptpress(['run', 'one.yaml'], { cwd: folder.path, env });
        expect(run.code, run.err).toBe(0);
        const rows = await readManifest(join(folder.path, `runs/${name}/manifest.csv`));
        keys.push(rows.map(({ job = '' }) => job));
      }
    } finally {
      await service.close();
    }
    expect(keys[0]).toHaveLength(3);
    expect(keys[0]).toEqual(keys[1]);
  }, 60_000);

  it('its judge presses the button that it names, and the texts that follow are there', async () => {
    await using folder = await temporaryFolder();
    await write(folder.path, { 'judged.yaml': `${example('judged')}poll: { min: 20ms, max: 1s }\n` });
    const run = await promptpress(['run', 'judged.yaml', '--sandbox'], { cwd: folder.path });
    expect(run.code, run.err).toBe(0);
    const rows = await readManifest(join(folder.path, 'runs/judged.sandbox/manifest.csv'));
    expect(rows.map(({ step, status }) => [step, status])).toEqual(
      ['grid', 'pick', 'best', 'why', 'title'].map((step) => [step, 'done']),
    );
    const [, pick, best, why, title] = rows;
    expect(best?.['button']).toBe(`U${(JSON.parse(pick?.['text'] ?? '') as { best: number }).best}`);
    expect([why?.['text'], title?.['text']]).not.toContain('');
  }, 60_000);

  it('its album begins from a file, so that it can be rehearsed', async () => {
    await using folder = await temporaryFolder();
    await write(folder.path, { 'album.yaml': `${example('album')}poll: { min: 20ms, max: 1s }\n` });
    const album = fileURLToPath(new URL('../../pipelines/data/album', import.meta.url));
    await cp(album, join(folder.path, 'data/album'), { recursive: true });
    const run = await promptpress(['run', 'album.yaml', '--sandbox', '--only', 'words'], {
      cwd: folder.path,
    });
    expect(run.code, run.err).toBe(0);
    const rows = await readManifest(join(folder.path, 'runs/album.sandbox/manifest.csv'));
    expect(rows.map(({ step, status }) => [step, status])).toContainEqual(['words', 'done']);
    expect(example('album')).not.toContain('://');
  }, 60_000);

  it('names every command that help names, and no other', async () => {
    await using folder = await temporaryFolder();
    const { stdout } = await cli(['--help'], { cwd: folder.path });
    const inReadme = new Set([...text.matchAll(/^\| `promptpress (\w+)/gm)].map(([, command]) => command));
    const inHelp = new Set(
      [...stdout.matchAll(/^ {2}(?:promptpress )?([a-z]+) {2,}/gm)].map(([, command]) => command),
    );
    for (const command of inReadme) expect(inHelp).toContain(command);
  });
});
