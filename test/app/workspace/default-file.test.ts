import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { promptpress, type Said } from '../../cli/test-io.ts';
import { useQuickSandbox } from '../../rig/quick-sandbox.ts';

useQuickSandbox();

let cwd: string;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'promptpress-'));
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

const pp = (...args: readonly string[]): Promise<Said> => promptpress(args, { cwd });
const pipeline = 'name: one\nsteps: { words: { chat: { model: chat-mini, prompt: a fox } } }\n';

describe('without FILE', () => {
  it('validate, plan and run use pipeline.yaml of the current folder', async () => {
    await writeFile(join(cwd, 'pipeline.yaml'), pipeline);
    expect((await pp('validate')).out).toBe('pipeline.yaml: OK\n');
    expect((await pp('plan', '--sandbox')).out).toContain('one: 1 cell, 1 slot');
    const run = await pp('run', '--sandbox', '--pace', '0');
    expect(run.code, run.err).toBe(0);
    expect(await readFile(join(cwd, 'runs/one.sandbox/manifest.csv'), 'utf8')).toContain('a fox');
  }, 120_000);

  it('status and manifest use the run of pipeline.yaml, or the current folder if it is a run directory', async () => {
    await writeFile(join(cwd, 'pipeline.yaml'), pipeline);
    await pp('run', '--sandbox', '--pace', '0');
    expect((await pp('status', '--sandbox')).out).toContain('pipeline.yaml in runs/one.sandbox: not running');
    expect((await pp('manifest', '--sandbox')).out).toContain('runs/one.sandbox/manifest.csv: 1 row');
    const inside = { cwd: join(cwd, 'runs/one.sandbox') };
    expect((await promptpress(['status'], inside)).out).toContain(' in .: not running');
    expect((await promptpress(['manifest'], inside)).out).toContain('manifest.csv: 1 row');
  });

  it.each(['validate', 'plan', 'run'])('%s says what is missing without a pipeline.yaml', async (name) => {
    const { code, err } = await pp(name);
    expect(code).toBe(2);
    expect(err).toContain(`promptpress: ${name} needs FILE: there is no pipeline.yaml in this folder.`);
    expect(err).toContain('promptpress init');
  });

  it.each(['status', 'manifest'])('%s says what is missing without a pipeline or run', async (name) => {
    const { code, err } = await pp(name);
    expect(code).toBe(2);
    expect(err).toContain(`promptpress: ${name} needs FILE or DIR`);
  });
});

describe('a path that begins with a hyphen', () => {
  it('is written as a path, not a flag, in every suggested command', async () => {
    await writeFile(join(cwd, '--out=evil.yaml'), pipeline);
    const start = await pp('run');
    expect(start.err).toContain('Write: promptpress run ./--out=evil.yaml\n');
    const near = await pp('validate', 'out=evil.yaml');
    expect(near.err).toContain('./--out=evil.yaml');

    await pp('run', './--out=evil.yaml', '--sandbox', '--pace', '0', '--out', './--out=evil');
    expect((await pp('ls')).out).toContain('./--out=evil ');
    await writeFile(join(cwd, '--out=evil/run.json.0a1b2c3d.part'), '');
    for (const command of ['status', 'clean', 'verify']) {
      const { out, err } = await pp(command, './--out=evil');
      expect([command, `${out}${err}`]).toEqual([command, expect.stringContaining('./--out=evil')]);
      expect(`${out}${err}`).not.toMatch(/promptpress .*(?<!\.\/)--out=evil/);
    }
  });
});
