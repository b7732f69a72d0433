import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bindDirectory, checkDirectory, pipelineFacts } from '../../src/state/binding.ts';
import { openState } from '../../src/state/state.ts';
import { StateError } from '../../src/state/store.ts';
import { memoryStore } from '../rig/memory-store.ts';
import { freshFolder } from './places.ts';

/** A checkout with two pipelines of one name and the run directory of the first. */
function checkout(): { root: string; directory: string; file: string; other: string } {
  const root = join(freshFolder(), 'checkout');
  const directory = join(root, 'runs', 'foxes');
  mkdirSync(directory, { recursive: true });
  mkdirSync(join(root, 'other'));
  const file = join(root, 'foxes.yaml');
  const other = join(root, 'other', 'foxes.yaml');
  for (const path of [file, other]) writeFileSync(path, '');
  return { root, directory, file, other };
}

const codeOf = async (work: () => Promise<void>): Promise<string> => {
  try {
    await work();
    return 'accepted';
  } catch (error) {
    if (error instanceof StateError) return error.code;
    throw error;
  }
};

describe('binding a run directory to its pipeline', () => {
  it('accepts the same file again, edited or not, and keeps its latest text', async () => {
    const { directory, file } = checkout();
    const state = memoryStore();
    await bindDirectory(state, directory, { file, text: 'one' });
    await bindDirectory(state, directory, { file, text: 'two' });
    expect(state.fact(pipelineFacts.text)).toBe('two');
  });

  it('refuses another file of the same name, and changes nothing', async () => {
    const { directory, file, other } = checkout();
    const state = memoryStore();
    await bindDirectory(state, directory, { file, text: 'one' });
    expect(await codeOf(() => bindDirectory(state, directory, { file: other, text: 'two' }))).toBe(
      'state.foreign',
    );
    expect(await codeOf(() => checkDirectory(state.reader, directory, { file: other, text: 'two' }))).toBe(
      'state.foreign',
    );
    expect(state.fact(pipelineFacts.text)).toBe('one');
  });

  it('accepts a checkout that was moved as a whole, also edited', async () => {
    const { root, directory, file } = checkout();
    const before = openState(directory);
    await bindDirectory(before, directory, { file, text: 'one' });
    before.close();
    const moved = `${root}-moved`;
    renameSync(root, moved);
    const there = join(moved, 'runs', 'foxes');
    const state = openState(there);
    await bindDirectory(state, there, { file: join(moved, 'foxes.yaml'), text: 'two' });
    expect(state.fact(pipelineFacts.path)).toBe(join(moved, 'foxes.yaml'));
    state.close();
  });

  it('accepts a run directory that was moved, and a file that was renamed but not edited', async () => {
    const { root, directory, file, other } = checkout();
    const state = memoryStore();
    await bindDirectory(state, directory, { file, text: 'one' });
    const elsewhere = join(root, 'elsewhere');
    mkdirSync(elsewhere);
    await bindDirectory(state, elsewhere, { file, text: 'two' });
    await bindDirectory(state, elsewhere, { file: other, text: 'two' });
    expect(state.fact(pipelineFacts.file)).toBe('../other/foxes.yaml');
  });

  it('follows links', async () => {
    const { root, directory, file } = checkout();
    const state = memoryStore();
    await bindDirectory(state, directory, { file, text: 'one' });
    const link = join(freshFolder(), 'link');
    symlinkSync(root, link);
    await bindDirectory(state, directory, { file: join(link, 'foxes.yaml'), text: 'two' });
    expect(state.fact(pipelineFacts.file)).toBe('../../foxes.yaml');
  });

  it('accepts every pipeline for a directory that was never bound', async () => {
    const { directory, file } = checkout();
    expect(await codeOf(() => checkDirectory(memoryStore().reader, directory, { file, text: '' }))).toBe(
      'accepted',
    );
  });

  it('uses the real path of the directory behind a link', async () => {
    const { root, directory, file } = checkout();
    const state = memoryStore();
    const link = join(freshFolder(), 'link');
    symlinkSync(directory, link);
    await bindDirectory(state, link, { file, text: 'one' });
    expect(state.fact(pipelineFacts.file)).toBe('../../foxes.yaml');
    // The checkout moves as a whole: what counts is the place of the pipeline as seen from the directory.
    const moved = `${root}-moved`;
    renameSync(root, moved);
    await bindDirectory(state, join(moved, 'runs/foxes'), { file: join(moved, 'foxes.yaml'), text: 'two' });
    expect(state.fact(pipelineFacts.path)).toBe(join(moved, 'foxes.yaml'));
  });

  it('keeps the path and the text of the last run, and writes only changes', async () => {
    const { root, directory, file } = checkout();
    const store = memoryStore();
    const written: string[] = [];
    const state = {
      ...store,
      setFact: (name: string, value: string) => {
        written.push(name);
        store.setFact(name, value);
      },
    };
    const { file: place, path, text } = pipelineFacts;
    const bind = async (
      ...given: Parameters<typeof bindDirectory> extends [unknown, ...infer Rest] ? Rest : never
    ) => {
      written.length = 0;
      await bindDirectory(state, ...given);
      return written;
    };
    expect(await bind(directory, { file, text: 'one' })).toEqual([place, path, text]);
    expect(await bind(directory, { file, text: 'one' })).toEqual([]);
    expect(await bind(directory, { file, text: 'two' })).toEqual([text]);
    const renamed = join(root, 'owls.yaml');
    renameSync(file, renamed);
    expect(await bind(directory, { file: renamed, text: 'two' })).toEqual([place, path]);
    expect([place, path, text].map((name) => store.fact(name))).toEqual(['../../owls.yaml', renamed, 'two']);
  });

  it('compares only the text if the file is gone', async () => {
    const { root, directory, file } = checkout();
    const state = memoryStore();
    await bindDirectory(state, directory, { file, text: 'one' });
    const gone = join(root, 'gone', 'foxes.yaml');
    await checkDirectory(state.reader, directory, { file: gone, text: 'one' });
    await expect(checkDirectory(state.reader, directory, { file: gone, text: 'two' })).rejects.toMatchObject({
      code: 'state.foreign',
      message: `${directory} belongs to another pipeline: ${file}.`,
      hint: expect.stringContaining('--out') as string,
    });
    await bindDirectory(state, directory, { file: gone, text: 'one' });
    expect([state.fact(pipelineFacts.file), state.fact(pipelineFacts.path)]).toEqual([
      '../../gone/foxes.yaml',
      gone,
    ]);
  });

  it('uses the names of the facts in existing states', () => {
    expect(pipelineFacts).toEqual({ file: 'pipeline.file', path: 'pipeline.path', text: 'pipeline.text' });
  });
});
