import { access, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { useQuickSandbox } from '../../rig/quick-sandbox.ts';
import { promptpress } from '../test-io.ts';

useQuickSandbox();

let cwd: string;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'promptpress-'));
  await writeFile(
    join(cwd, 'foxes.yaml'),
    'name: foxes\nmatrix: { animal: [fox, owl], seed: { from: 1, to: 2 } }\nsteps: { grid: { imagine: "{{ animal }} --seed {{ seed }}" } }\n',
  );
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

const pp = (...args: readonly string[]) => promptpress(args, { cwd });
const promptsOf = async (directory: string): Promise<readonly string[]> =>
  (await readFile(join(cwd, directory, 'manifest.csv'), 'utf8')).match(/\w+ --seed \d/g) ?? [];
/** A rehearsal in which nothing takes time. */
const rehearse = ['run', 'foxes.yaml', '--sandbox', '--pace', '0'];
const runLynx = [...rehearse, '--out', 'runs/lynx', '--set', 'animal=lynx'];

describe('--set', () => {
  it('replaces an axis for plan and validate, which change nothing', async () => {
    const { out } = await pp(
      'plan',
      'foxes.yaml',
      '--cells',
      '--set',
      'animal=[lynx, hare]',
      '--set',
      'seed=7',
    );
    expect(out).toBe(
      '{"cell":1,"vars":{"animal":"lynx","seed":7}}\n{"cell":2,"vars":{"animal":"hare","seed":7}}\n',
    );
    expect((await pp('validate', 'foxes.yaml', '--set', 'animal=lynx')).code).toBe(0);
    const { code, err } = await pp('validate', 'foxes.yaml', '--set', 'animl=lynx');
    expect([code, err]).toEqual([2, expect.stringContaining('Did you mean "animal"?')]);
  });

  it('needs a run directory of its own, and creates none when it is refused', async () => {
    const { code, err } = await pp(
      'run',
      'foxes.yaml',
      '--sandbox',
      '--set',
      'animal=lynx',
      '--set',
      'seed=7',
    );
    expect([code, err]).toEqual([2, expect.stringContaining('--set needs a run directory of its own.')]);
    expect(err).toContain('Add --out runs/foxes.sandbox-lynx-7.');
    await expect(access(join(cwd, 'runs'))).rejects.toThrow('ENOENT');
  });

  it('is stored in the run directory, in its manifest, run.json, status and the commands to copy', async () => {
    expect((await pp(...runLynx, '--limit', '1')).code).toBe(0);
    expect(await promptsOf('runs/lynx')).toEqual(['lynx --seed 1']);
    await rm(join(cwd, 'runs/lynx/manifest.csv'));
    expect((await pp('manifest', 'runs/lynx')).code).toBe(0);
    expect(await promptsOf('runs/lynx')).toEqual(['lynx --seed 1']);
    const set = [{ axis: 'animal', value: 'lynx' }];
    const record = JSON.parse(await readFile(join(cwd, 'runs/lynx/run.json'), 'utf8')) as unknown;
    expect(record).toMatchObject({ pipeline: { set } });
    expect((await pp('status', 'runs/lynx')).out).toContain('matrix       with --set animal=lynx');
    const status = JSON.parse((await pp('status', 'runs/lynx', '--json')).out) as unknown;
    expect(status).toMatchObject({ set });
    const schema = join(import.meta.dirname, '../../../schemas/status.schema.json');
    const check = new Ajv2020({ strict: false }).compile(
      JSON.parse(await readFile(schema, 'utf8')) as object,
    );
    expect(check(status), JSON.stringify(check.errors)).toBe(true);
    expect((await pp(...runLynx)).code).toBe(0);
    expect((await pp('status', 'runs/lynx')).out).toContain('2 done');
  });

  it('is the same in every run of a directory', async () => {
    expect((await pp(...runLynx)).code).toBe(0);
    const other = (...set: readonly string[]) =>
      pp(...rehearse, '--out', 'runs/lynx', ...set.flatMap((one) => ['--set', one]));
    for (const set of [[], ['animal=hare'], ['animal=lynx', 'seed=1']]) {
      const { code, err } = await other(...set);
      expect([code, err]).toEqual([
        2,
        expect.stringContaining('runs/lynx holds a run with --set animal=lynx.'),
      ]);
      expect(err).toContain('Add --set animal=lynx to continue it');
    }
    expect((await pp(...rehearse, '--limit', '1')).code).toBe(0);
    const { code, err } = await pp(...rehearse, '--set', 'animal=lynx');
    expect([code, err]).toEqual([
      2,
      expect.stringContaining('runs/foxes.sandbox holds a run without --set.'),
    ]);
    expect(err).toContain('--out runs/foxes.sandbox-lynx');
  });

  it('of a plan does not count results of runs with another --set', async () => {
    expect((await pp(...rehearse)).code).toBe(0);
    const { out, err } = await pp('plan', 'foxes.yaml', '--sandbox', '--set', 'animal=fox');
    expect(out).toContain('2 submissions, all new.');
    expect(err).toContain('runs/foxes.sandbox was run without --set, so this plan is for a directory');
    expect((await pp('plan', 'foxes.yaml', '--sandbox')).out).toContain(
      '0 submissions: nothing is left to do',
    );
  });
});
