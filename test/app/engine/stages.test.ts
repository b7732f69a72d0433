import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { promptpress, type Said } from '../../cli/test-io.ts';
import { hasPostgres } from '../../rig/postgres.ts';
import { engineOfBlock, startEngine } from './engine-rig.ts';

const pipeline = (name: string): string => `name: ${name}
poll: { min: 20ms, max: 100ms }
matrix: { animal: [fox, owl] }
steps:
  grid: { imagine: "{{ animal }}" }
`;

interface Listed {
  readonly directory: string;
  readonly state: string;
  readonly workers?: number;
}

/** What a command has printed, which fits its schema. */
async function fitting(command: 'ls' | 'status' | 'run-registered', { out }: Said): Promise<unknown> {
  const file = join(import.meta.dirname, `../../../schemas/${command}.schema.json`);
  const schema = JSON.parse(await readFile(file, 'utf8')) as object;
  const check = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
  const value: unknown = JSON.parse(out);
  expect(check(value), JSON.stringify(check.errors)).toBe(true);
  return value;
}

describe.skipIf(!hasPostgres)('a run on an engine', () => {
  const rig = engineOfBlock();

  /** What `ls` and `status` say of it, as JSON and in words. */
  async function stageOf(name: string): Promise<readonly unknown[]> {
    const { runs } = (await fitting('ls', await rig.pp('ls', rig.database.url, '--json'))) as {
      readonly runs: readonly Listed[];
    };
    const found = runs.find(({ directory }) => directory.endsWith(`#${name}`));
    const place = `${rig.database.url}#${name}`;
    const { stage } = (await fitting('status', await rig.pp('status', place, '--json'))) as {
      stage?: { readonly state: string; readonly workers: number };
    };
    const words = (await rig.pp('status', place)).out.split('\n').slice(0, 2).join('\n');
    return [found?.state, found?.workers, stage?.state, stage?.workers, words];
  }

  it('keeps its results in one folder, which is recognised by its mark and not by its path', async () => {
    await rig.write('placed.yaml', pipeline('placed'));
    const { code } = await rig.pp('run', 'placed.yaml', ...rig.lease, '--out', 'first');
    expect(code).toBe(0);
    const other = await rig.pp('run', 'placed.yaml', ...rig.lease, '--out', 'second');
    expect(other.code).toBe(2);
    expect(other.err).toContain('is another folder');
    await rename(rig.at('first'), rig.at('moved'));
    expect((await rig.pp('run', 'placed.yaml', ...rig.lease, '--out', 'moved')).code).toBe(0);
  });

  it('is registered, running, then complete, and its messages say what to do', async () => {
    await rig.write('staged.yaml', pipeline('staged'));
    const registered = await rig.pp('run', 'staged.yaml', ...rig.lease, '--detach', '--json');
    expect(registered.code).toBe(0);
    expect(await fitting('run-registered', registered)).toMatchObject({
      pipeline: 'staged',
      run: expect.stringMatching(/^postgres:.*#staged$/),
      cells: 2,
    });
    expect(await stageOf('staged')).toEqual([
      'registered',
      undefined,
      'registered',
      0,
      expect.stringMatching(
        /: registered for .*\n {2}No worker has begun; start one: promptpress worker --engine/,
      ),
    ]);
    const hanging = rig.service.fault('imagine', { hang: 'before' }, { times: 1 });
    const worker = rig.start(['worker', '--once', ...rig.lease]);
    await hanging.hit(1);
    expect(await stageOf('staged')).toEqual([
      'running',
      1,
      'running',
      1,
      expect.stringMatching(/: running for .* \(1 worker\)\n.* --watch shows it/),
    ]);
    expect((await rig.pp('ls', rig.database.url)).out).toContain('running (1 worker)');
    hanging.release();
    expect(await worker.done).toBe(0);
    // Nobody led it to its end.
    expect(await stageOf('staged')).toEqual([
      'complete',
      undefined,
      'complete',
      0,
      expect.stringMatching(/: complete\n.*the same command writes the manifest/),
    ]);
    const ended = await rig.pp('run', 'staged.yaml', ...rig.lease);
    expect([ended.code, ended.err]).toEqual([0, expect.stringContaining('2 done')]);
    expect((await stageOf('staged')).slice(0, 3)).toEqual(['complete', undefined, 'complete']);
  });

  it('waits for workers after its last one has gone', async () => {
    await rig.write('left.yaml', pipeline('left'));
    await rig.pp('run', 'left.yaml', ...rig.lease, '--detach');
    const hanging = rig.service.fault('imagine', { hang: 'before' }, { times: 1 });
    const worker = rig.start(['worker', ...rig.lease]);
    await hanging.hit(1);
    worker.interrupt();
    hanging.release();
    await worker.done;
    const [listed, , stage, , words] = await stageOf('left');
    expect([listed, stage, words]).toEqual([
      'waiting',
      'waiting',
      expect.stringContaining('waiting for workers'),
    ]);
  });

  it('ends at once without workers if it is complete', async () => {
    await rig.write('over.yaml', pipeline('over'));
    expect((await rig.pp('run', 'over.yaml', ...rig.lease)).code).toBe(0);
    const submits = rig.service.count('imagine');
    const again = await rig.pp('run', 'over.yaml', ...rig.lease, '--no-work');
    expect([again.code, again.err]).toEqual([0, expect.stringContaining('0 submissions in this run')]);
    expect(rig.service.count('imagine')).toBe(submits);
    expect((await stageOf('over')).slice(0, 3)).toEqual(['complete', undefined, 'complete']);
  });

  it('starts again in its folder after it was removed', async () => {
    await rig.write('gone.yaml', pipeline('gone'));
    expect((await rig.pp('run', 'gone.yaml', ...rig.lease)).code).toBe(0);
    const place = `${rig.database.url}#gone`;
    const mark = await readFile(rig.at('runs/gone/engine.json'), 'utf8');
    expect((await rig.pp('rm', place, '--yes')).code).toBe(0);
    expect((await rig.pp('run', 'gone.yaml', ...rig.lease)).code).toBe(0);
    // A folder that another machine removed the run of is told from one of another run, and leaves none behind.
    expect((await rig.pp('rm', place, '--yes')).code).toBe(0);
    await writeFile(rig.at('runs/gone/engine.json'), mark);
    const refused = await rig.pp('run', 'gone.yaml', ...rig.lease);
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('does not have any more')]);
    expect((await rig.pp('ls', rig.database.url)).out).not.toContain('#gone');
    await rm(rig.at('runs/gone/engine.json'));
    expect((await rig.pp('run', 'gone.yaml', ...rig.lease)).code).toBe(0);
  });

  it('is reported as missing by a worker that does not wait for runs', async () => {
    await using fresh = await startEngine();
    const words = ['worker', '--once', '--name', 'one', '--engine', fresh.database.url];
    const empty = await fresh.pp(...words);
    expect([empty.code, empty.err]).toEqual([0, expect.stringMatching(/one: The engine .* holds no run\./)]);
    await fresh.write('over.yaml', pipeline('over'));
    expect((await fresh.pp('run', 'over.yaml', ...words.slice(4))).code).toBe(0);
    const over = await fresh.pp(...words);
    expect([over.code, over.err]).toEqual([0, expect.stringContaining('one: no run is open on the engine')]);
  });

  it('is separate from a rehearsal, even if the environment names an engine', async () => {
    await rig.write('staged.yaml', pipeline('staged'));
    const env = { ...rig.env, PROMPTPRESS_ENGINE: rig.database.url };
    const said = await promptpress(['run', 'staged.yaml', '--sandbox', '--no-work'], { cwd: rig.at(), env });
    expect([said.code, said.err]).toEqual([2, expect.stringContaining('always runs on this machine')]);
  });
});
