import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { neutralNames } from '../../../src/sandbox/names.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/sandbox.ts';
import { acquireLock } from '../../../src/state/lock/lock.ts';
import { openState, openStateForReading } from '../../../src/state/state.ts';
import { invocationFact } from '../../../src/state/store.ts';
import { comparable, readManifest } from '../../rig/manifest.ts';
import { useQuickSandbox } from '../../rig/quick-sandbox.ts';
import { copyDirectory } from '../../rig/run-place.ts';
import { promptpress, type Said } from '../test-io.ts';

useQuickSandbox();

const apiKey = 'key-of-the-test-0123456789';
let sandbox: Sandbox;
let root: string;
let cwd: string;
let made = 0;
beforeAll(async () => {
  sandbox = await startSandbox({ apiKey, names: neutralNames, settings: { pace: 0, pixels: 64 } });
  root = await mkdtemp(join(tmpdir(), 'promptpress-'));
});
beforeEach(async () => {
  cwd = join(root, String(++made));
  await mkdir(cwd);
});
afterAll(async () => {
  await sandbox.close();
  await rm(root, { recursive: true, force: true });
});

const file = (cells: number, grid = 'a fox --seed {{ seed }}'): string =>
  `name: foxes
matrix: { seed: { from: 1, to: ${cells} } }
poll: { min: 5ms, max: 20ms }
prices: { imagine: 0.5, "U*": 0.25, text-pro: { input: 1, output: 1 } }
steps:
  grid: { imagine: "${grid}", path: U1 }
  caption: { from: grid/U1, generate: { model: text-pro, prompt: "Caption {{ seed }}.", images: [parent] } }
`;

const say = (...args: readonly string[]): Promise<Said> =>
  promptpress(args, {
    cwd,
    env: { PROMPTPRESS_BASE_URL: sandbox.url, PROMPTPRESS_API_KEY: apiKey },
  });

async function run(out: string, ...flags: readonly string[]): Promise<Said> {
  const ended = await say('run', 'foxes.yaml', '--out', out, '--no-progress', ...flags);
  expect(ended.code, ended.err).toBe(0);
  return ended;
}

const rowsOf = async (directory: string) => await readManifest(join(cwd, directory, 'manifest.csv'));

/** Every file of a directory but those of a state, with its content. */
async function contentOf(directory: string): Promise<ReadonlyMap<string, string>> {
  const names = await readdir(join(cwd, directory), { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile() && !/-(?:wal|shm)$/.test(entry.name));
  const read = files.map(async ({ parentPath, name }) => {
    const path = join(parentPath, name);
    return [path, await readFile(path, 'base64')] as const;
  });
  return new Map(await Promise.all(read));
}

describe('merge', () => {
  it('makes from the shards of a plan the same as one run, with nothing left to do', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 2, max: 5 }),
        fc.integer({ min: 2, max: 3 }),
        async (cells, shards) => {
          cwd = join(root, String(++made));
          await mkdir(cwd);
          await writeFile(join(cwd, 'foxes.yaml'), file(cells));
          await run('one');
          const parts = Array.from({ length: Math.min(shards, cells) }, (_, at) => `part-${at + 1}`);
          for (const [at, part] of parts.entries()) await run(part, '--shard', `${at + 1}/${parts.length}`);
          const before = await Promise.all(parts.map(contentOf));
          // The order in which they are named says nothing.
          const { code, err } = await say('merge', ...parts.toReversed(), '--out', 'merged/foxes');
          expect(code, err).toBe(0);
          expect(await Promise.all(parts.map(contentOf))).toEqual(before);
          expect(comparable(await rowsOf('merged/foxes'))).toEqual(comparable(await rowsOf('one')));

          const checked = await say('verify', 'merged/foxes');
          expect([checked.code, checked.out]).toEqual([0, expect.not.stringContaining('no job names')]);
          expect((await say('clean', 'merged/foxes')).out).toContain('nothing to remove');
          const planned = await say('plan', 'foxes.yaml', '--out', 'merged/foxes', '--json');
          expect(JSON.parse(planned.out)).toMatchObject({ total: { submits: 0, unsaved: 0, running: 0 } });
          const again = await run('merged/foxes', '--json');
          expect(JSON.parse(again.out)).toMatchObject({ submits: 0, end: { kind: 'complete' }, exitCode: 0 });
          expect(await readdir(join(cwd, 'merged'))).toEqual(['foxes']);
        },
      ),
      { numRuns: 2 },
    );
  }, 120_000);

  it('keeps the older of two results, and counts what both cost', async () => {
    await writeFile(join(cwd, 'foxes.yaml'), file(2));
    for (const part of ['a', 'b']) await run(part);
    const { code, out } = await say('merge', 'b', 'a', '--out', 'c');
    expect(code).toBe(0);
    expect(out).toContain('6 times with another result');
    const [a, c] = [await rowsOf('a'), await rowsOf('c')];
    const results = (rows: typeof a) =>
      rows.map((row) => [row['task_id'], row['sha256'], row['finished_at']]);
    expect(results(c)).toEqual(results(a));
    const costs = (rows: typeof a) => rows.map(({ cost }) => Number(cost));
    expect(costs(c)).toEqual(costs(a).map((cost, at) => cost + (costs(a)[at] ?? 0)));
    expect(c.map(({ attempts }) => attempts)).toEqual(a.map(() => '2'));
    expect((await say('verify', 'c')).code).toBe(0);
    const state = openStateForReading(join(cwd, 'c'));
    expect((await state?.totals())?.attempts).toBe(12);
    expect(await state?.submissions()).toEqual({ known: 12, counted: 12 });
    await state?.close();
  });

  it('counts a directory and its copy once', async () => {
    await writeFile(join(cwd, 'foxes.yaml'), file(2));
    await run('a');
    await copyDirectory(join(cwd, 'a'), join(cwd, 'b'));
    const { code, out } = await say('merge', 'a', 'b', '--out', 'c');
    expect([code, out]).toEqual([0, expect.not.stringContaining('another result')]);
    expect(await rowsOf('c')).toEqual(await rowsOf('a'));
    const histories = ['a', 'c'].map(async (directory) => {
      const state = openStateForReading(join(cwd, directory));
      const keys = (await state?.keysWithPrefix('', 100)) ?? [];
      const found = await Promise.all(keys.toSorted().map(async (key) => await state?.attempts(key)));
      await state?.close();
      return found;
    });
    const [own, both] = await Promise.all(histories);
    expect(own?.flat().length).toBeGreaterThan(0);
    expect(both).toEqual(own);
  });

  it('continues after the latest invocation of all parts, in any order of parts', async () => {
    await writeFile(join(cwd, 'foxes.yaml'), file(2));
    await run('a', '--shard', '1/2');
    await run('b', '--shard', '2/2');
    const [{ job = '' } = {}] = await rowsOf('b');
    await run('b', '--shard', '2/2', '--redo', job);
    const invocationOf = async (part: string): Promise<number> => {
      const state = openStateForReading(join(cwd, part));
      const invocation = Number(await state?.fact(invocationFact));
      await state?.close();
      return invocation;
    };
    const [a, b] = [await invocationOf('a'), await invocationOf('b')];
    expect(b).toBeGreaterThan(a);
    for (const [out, parts] of [
      ['ab', ['a', 'b']],
      ['ba', ['b', 'a']],
    ] as const) {
      await say('merge', ...parts, '--out', out);
      expect(await invocationOf(out)).toBe(b);
    }
  });

  it('leaves unfinished jobs to the next run', async () => {
    await writeFile(join(cwd, 'foxes.yaml'), file(3));
    await run('a', '--shard', '1/3');
    await run('b', '--shard', '2/3');
    const { code, out } = await say('merge', 'a', 'b', '--out', 'c');
    expect([code, out]).toEqual([1, expect.stringContaining('6 done, 3 still to do')]);
    const again = await run('c', '--json');
    expect(JSON.parse(again.out)).toMatchObject({ submits: 3 });
  });

  it.each([
    ['the text of their pipelines', file(2).replace('Caption', 'Describe'), []],
    ['what --set replaced', file(2), ['--set', 'seed=[1, 2]']],
    ['what --set replaced', file(2), ['--set', 'seed=[1, 3]'], ['--set', 'seed=[1, 2]']],
  ])('refuses directories that differ in %s', async (words, other, flags, before: string[] = []) => {
    await writeFile(join(cwd, 'foxes.yaml'), file(2));
    await run('a', '--shard', '1/2', ...before);
    await writeFile(join(cwd, 'foxes.yaml'), other);
    await run('b', '--shard', '2/2', ...flags);
    const { code, err } = await say('merge', 'a', 'b', '--out', 'c');
    expect([code, err]).toEqual([2, expect.stringContaining(words)]);
    expect((await readdir(cwd)).sort((x, y) => (x < y ? -1 : 1))).toEqual(['a', 'b', 'foxes.yaml']);
  });

  it('refuses other tables, another service, one directory twice, and one in use', async () => {
    const text = file(2).replace('matrix: { seed: { from: 1, to: 2 } }', 'matrix: { rows: seeds.csv }');
    await writeFile(join(cwd, 'foxes.yaml'), text);
    await writeFile(join(cwd, 'seeds.csv'), 'seed\n1\n2\n');
    await run('a', '--shard', '1/2');
    await say('run', 'foxes.yaml', '--out', 'rehearsed', '--sandbox', '--pace', '0', '--shard', '2/2');
    await writeFile(join(cwd, 'seeds.csv'), 'seed\n1\n3\n');
    await run('b', '--shard', '2/2');
    for (const [parts, words] of [
      [['a', 'b'], 'their tables (seeds.csv)'],
      [['a', 'rehearsed'], 'their services'],
      [['a', './a'], 'are the same directory'],
      [['a', 'gone'], 'There is no run in gone'],
    ] as const) {
      const { code, err } = await say('merge', ...parts, '--out', 'c');
      expect([code, err]).toEqual([2, expect.stringContaining(words)]);
    }
    const lock = acquireLock(join(cwd, 'b'), { pid: process.pid, host: 'here', startedAt: '' });
    const held = await say('merge', 'a', 'b', '--out', 'c');
    lock.release();
    expect([held.code, held.err]).toEqual([75, expect.stringContaining('A run is on in b')]);
    expect(await readdir(cwd)).not.toContain('c');
  });

  it('makes nothing if a run changes one of the directories in the meantime', async () => {
    await writeFile(join(cwd, 'foxes.yaml'), file(2));
    await run('a', '--shard', '1/2');
    await run('b', '--shard', '2/2');
    let isChanged = false;
    const now = (): number => {
      // Asked for the first time once all are open.
      if (!isChanged) {
        const state = openState(join(cwd, 'b'));
        state.commit({ records: [], attempts: [], submits: 1 });
        state.close();
      }
      isChanged = true;
      return Date.now();
    };
    const { code, err } = await promptpress(['merge', 'a', 'b', '--out', 'c'], { cwd, now });
    expect([isChanged, code, err]).toEqual([true, 75, expect.stringContaining('A run has changed b while')]);
    expect(await readdir(cwd)).not.toContain('c');
  });

  it('refuses a folder that is not empty, or is inside a merged directory', async () => {
    await writeFile(join(cwd, 'foxes.yaml'), file(2));
    await run('a', '--shard', '1/2');
    await run('b', '--shard', '2/2');
    for (const [to, words] of [
      ['a', 'exists already'],
      ['foxes.yaml', 'exists already'],
      ['b/merged', 'one of the merged directories'],
    ] as const) {
      const { code, err } = await say('merge', 'a', 'b', '--out', to);
      expect([code, err]).toEqual([2, expect.stringContaining(words)]);
    }
    expect((await say('merge', 'a', 'b')).code).toBe(2);
    await mkdir(join(cwd, 'empty'));
    expect((await say('merge', 'a', 'b', '--out', 'empty')).code).toBe(0);
  });

  it.each([
    ['a changed image', /^images\/.*\.png$/, 'has changed since it was written'],
    ['a reply of other bytes', /^replies\/.*\.jsonl$/, 'is not as the state says'],
  ])('makes nothing of %s', async (_, name, words) => {
    await writeFile(join(cwd, 'foxes.yaml'), file(2));
    await run('a', '--shard', '1/2');
    await run('b', '--shard', '2/2');
    const names = await readdir(join(cwd, 'b'), { recursive: true });
    const damaged = join(cwd, 'b', names.find((one) => name.test(one)) ?? '');
    const bytes = await readFile(damaged);
    await writeFile(damaged, bytes.fill(0x20, 40, 60));
    const { code, err } = await say('merge', 'a', 'b', '--out', 'c');
    expect([code, err]).toEqual([2, expect.stringContaining(words)]);
    expect(err).toContain('promptpress verify b');
    expect((await readdir(cwd)).filter((one) => one.startsWith('c'))).toEqual([]);
  });
});
