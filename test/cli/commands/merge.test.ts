import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makerFact } from '../../../src/app/workspace/checks/maker.ts';
import type { JobRecord } from '../../../src/plan/job.ts';
import { acquireLock } from '../../../src/state/lock/lock.ts';
import { openState, openStateForReading } from '../../../src/state/state.ts';
import { invocationFact } from '../../../src/state/store.ts';
import { comparable } from '../../rig/manifest.ts';
import { useQuickSandbox } from '../../rig/quick-sandbox.ts';
import { copyDirectory } from '../../rig/run-place.ts';
import { promptpress } from '../test-io.ts';
import { quickHead, type Ran, useRunFolder } from './run-folder.ts';

useQuickSandbox();

const folder = useRunFolder();
const { say, rowsOf } = folder;

const file = (cells: number, grid = 'a fox --seed {{ seed }}'): string =>
  `name: foxes
matrix: { seed: { from: 1, to: ${cells} } }
${quickHead}steps:
  grid: { imagine: "${grid}", path: U1 }
  caption: { from: grid/U1, generate: { model: text-pro, prompt: "Caption {{ seed }}.", images: [parent] } }
`;

const run = (out: string, ...flags: readonly string[]): Promise<Ran> =>
  folder.run('foxes.yaml', out, ...flags);

/** Every file of a directory but those of a state, with its content. */
async function contentOf(directory: string): Promise<ReadonlyMap<string, string>> {
  const names = await readdir(join(folder.cwd, directory), { recursive: true, withFileTypes: true });
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
          await folder.next();
          const { cwd } = folder;
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
          const again = await run('merged/foxes');
          expect(again).toMatchObject({ submits: 0, end: { kind: 'complete' }, exitCode: 0 });
          expect(await readdir(join(cwd, 'merged'))).toEqual(['foxes']);
        },
      ),
      { numRuns: 2 },
    );
  }, 120_000);

  it('keeps the older of two results, and counts what both cost', async () => {
    await writeFile(join(folder.cwd, 'foxes.yaml'), file(2));
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
    const state = openStateForReading(join(folder.cwd, 'c'));
    expect((await state?.totals())?.attempts).toBe(12);
    expect(await state?.submissions()).toEqual({ known: 12, counted: 12 });
    await state?.close();
  });

  it('counts a directory and its copy once', async () => {
    await writeFile(join(folder.cwd, 'foxes.yaml'), file(2));
    await run('a');
    await copyDirectory(join(folder.cwd, 'a'), join(folder.cwd, 'b'));
    const { code, out } = await say('merge', 'a', 'b', '--out', 'c');
    expect([code, out]).toEqual([0, expect.not.stringContaining('another result')]);
    expect(await rowsOf('c')).toEqual(await rowsOf('a'));
    const histories = ['a', 'c'].map(async (directory) => {
      const state = openStateForReading(join(folder.cwd, directory));
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
    await writeFile(join(folder.cwd, 'foxes.yaml'), file(2));
    await run('a', '--shard', '1/2');
    await run('b', '--shard', '2/2');
    const [{ job = '' } = {}] = await rowsOf('b');
    await run('b', '--shard', '2/2', '--redo', job);
    const invocationOf = async (part: string): Promise<number> => {
      const state = openStateForReading(join(folder.cwd, part));
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
    await writeFile(join(folder.cwd, 'foxes.yaml'), file(3));
    await run('a', '--shard', '1/3');
    await run('b', '--shard', '2/3');
    const { code, out } = await say('merge', 'a', 'b', '--out', 'c');
    expect([code, out]).toEqual([1, expect.stringContaining('6 done, 3 still to do')]);
    expect((await run('c')).submits).toBe(3);
  });

  it.each([
    ['the text of their pipelines', file(2).replace('Caption', 'Describe'), []],
    ['what --set replaced', file(2), ['--set', 'seed=[1, 2]']],
    ['what --set replaced', file(2), ['--set', 'seed=[1, 3]'], ['--set', 'seed=[1, 2]']],
  ])('refuses directories that differ in %s', async (words, other, flags, before: string[] = []) => {
    await writeFile(join(folder.cwd, 'foxes.yaml'), file(2));
    await run('a', '--shard', '1/2', ...before);
    await writeFile(join(folder.cwd, 'foxes.yaml'), other);
    await run('b', '--shard', '2/2', ...flags);
    const { code, err } = await say('merge', 'a', 'b', '--out', 'c');
    expect([code, err]).toEqual([2, expect.stringContaining(words)]);
    expect((await readdir(folder.cwd)).sort((x, y) => (x < y ? -1 : 1))).toEqual(['a', 'b', 'foxes.yaml']);
  });

  it('refuses other tables, another service, one directory twice, and one in use', async () => {
    const text = file(2).replace('matrix: { seed: { from: 1, to: 2 } }', 'matrix: { rows: seeds.csv }');
    await writeFile(join(folder.cwd, 'foxes.yaml'), text);
    await writeFile(join(folder.cwd, 'seeds.csv'), 'seed\n1\n2\n');
    await run('a', '--shard', '1/2');
    await say('run', 'foxes.yaml', '--out', 'rehearsed', '--sandbox', '--pace', '0', '--shard', '2/2');
    await writeFile(join(folder.cwd, 'seeds.csv'), 'seed\n1\n3\n');
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
    const lock = acquireLock(join(folder.cwd, 'b'), { pid: process.pid, host: 'here', startedAt: '' });
    const held = await say('merge', 'a', 'b', '--out', 'c');
    lock.release();
    expect([held.code, held.err]).toEqual([75, expect.stringContaining('A run is on in b')]);
    expect(await readdir(folder.cwd)).not.toContain('c');
  });

  it('makes nothing if a run changes one of the directories in the meantime', async () => {
    await writeFile(join(folder.cwd, 'foxes.yaml'), file(2));
    await run('a', '--shard', '1/2');
    await run('b', '--shard', '2/2');
    let isChanged = false;
    const now = (): number => {
      // Asked for the first time once all are open.
      if (!isChanged) {
        const state = openState(join(folder.cwd, 'b'));
        state.commit({ records: [], attempts: [], submits: 1 });
        state.close();
      }
      isChanged = true;
      return Date.now();
    };
    const { code, err } = await promptpress(['merge', 'a', 'b', '--out', 'c'], { cwd: folder.cwd, now });
    expect([isChanged, code, err]).toEqual([true, 75, expect.stringContaining('A run has changed b while')]);
    expect(await readdir(folder.cwd)).not.toContain('c');
  });

  it('takes the directory of another machine, and refuses a file that its state says a lie of', async () => {
    await writeFile(join(folder.cwd, 'foxes.yaml'), file(2));
    await run('a', '--shard', '1/2');
    await run('b', '--shard', '2/2');
    const state = openState(join(folder.cwd, 'b'));
    state.setFact(makerFact, `${randomUUID()}.of-a-stranger`);
    state.close();
    expect((await say('merge', 'a', 'b', '--out', 'c')).code).toBe(0);

    const [row] = await rowsOf('b');
    const lying = openState(join(folder.cwd, 'b'));
    const record = lying.get(row?.['job'] ?? '') as JobRecord;
    const artifacts = record.artifacts.map((artifact) => ({ ...artifact, mime: 'image/webp' }));
    lying.commit({ records: [{ ...record, artifacts }], attempts: [] });
    lying.close();
    const lied = await say('merge', 'a', 'b', '--out', 'd');
    expect([lied.code, lied.err]).toEqual([2, expect.stringContaining('not as the state says')]);
  });

  it('refuses a folder that is not empty, or is inside a merged directory', async () => {
    await writeFile(join(folder.cwd, 'foxes.yaml'), file(2));
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
    await mkdir(join(folder.cwd, 'empty'));
    expect((await say('merge', 'a', 'b', '--out', 'empty')).code).toBe(0);
  });

  it.each([
    ['a changed image', /^images\/.*\.png$/, 'is missing, or not as the state says'],
    ['a reply of other bytes', /^replies\/.*\.jsonl$/, 'is not as the state says'],
  ])('makes nothing of %s', async (_, name, words) => {
    await writeFile(join(folder.cwd, 'foxes.yaml'), file(2));
    await run('a', '--shard', '1/2');
    await run('b', '--shard', '2/2');
    const names = await readdir(join(folder.cwd, 'b'), { recursive: true });
    const damaged = join(folder.cwd, 'b', names.find((one) => name.test(one)) ?? '');
    const bytes = await readFile(damaged);
    await writeFile(damaged, bytes.fill(0x20, 40, 60));
    const { code, err } = await say('merge', 'a', 'b', '--out', 'c');
    expect([code, err]).toEqual([2, expect.stringContaining(words)]);
    expect(err).toContain('promptpress verify b');
    expect((await readdir(folder.cwd)).filter((one) => one.startsWith('c'))).toEqual([]);
  });
});
