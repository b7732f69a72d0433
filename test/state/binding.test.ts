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

const codeOf = (work: () => void): string => {
  try {
    work();
    return 'accepted';
  } catch (error) {
    if (error instanceof StateError) return error.code;
    throw error;
  }
};

describe('binding a run directory to its pipeline', () => {
  it('accepts the same file again, edited or not, and keeps its last text', () => {
    const { directory, file } = checkout();
    const state = memoryStore();
    bindDirectory(state, directory, { file, text: 'one' });
    bindDirectory(state, directory, { file, text: 'two' });
    expect(state.fact(pipelineFacts.text)).toBe('two');
  });

  it('refuses another file of the same name, and changes nothing', () => {
    const { directory, file, other } = checkout();
    const state = memoryStore();
    bindDirectory(state, directory, { file, text: 'one' });
    expect(codeOf(() => bindDirectory(state, directory, { file: other, text: 'two' }))).toBe('state.foreign');
    expect(codeOf(() => checkDirectory(state, directory, { file: other, text: 'two' }))).toBe(
      'state.foreign',
    );
    expect(state.fact(pipelineFacts.text)).toBe('one');
  });

  it('accepts a checkout that was moved as a whole, edited too', () => {
    const { root, directory, file } = checkout();
    const before = openState(directory);
    bindDirectory(before, directory, { file, text: 'one' });
    before.close();
    const moved = `${root}-moved`;
    renameSync(root, moved);
    const there = join(moved, 'runs', 'foxes');
    const state = openState(there);
    bindDirectory(state, there, { file: join(moved, 'foxes.yaml'), text: 'two' });
    expect(state.fact(pipelineFacts.path)).toBe(join(moved, 'foxes.yaml'));
    state.close();
  });

  it('accepts a run directory that was moved, and a file that was renamed but not edited', () => {
    const { root, directory, file, other } = checkout();
    const state = memoryStore();
    bindDirectory(state, directory, { file, text: 'one' });
    const elsewhere = join(root, 'elsewhere');
    mkdirSync(elsewhere);
    bindDirectory(state, elsewhere, { file, text: 'two' });
    bindDirectory(state, elsewhere, { file: other, text: 'two' });
    expect(state.fact(pipelineFacts.file)).toBe('../other/foxes.yaml');
  });

  it('sees through links', () => {
    const { root, directory, file } = checkout();
    const state = memoryStore();
    bindDirectory(state, directory, { file, text: 'one' });
    const link = join(freshFolder(), 'link');
    symlinkSync(root, link);
    bindDirectory(state, directory, { file: join(link, 'foxes.yaml'), text: 'two' });
    expect(state.fact(pipelineFacts.file)).toBe('../../foxes.yaml');
  });

  it('lets anything be asked of a directory that was never bound', () => {
    const { directory, file } = checkout();
    expect(codeOf(() => checkDirectory(memoryStore(), directory, { file, text: '' }))).toBe('accepted');
  });
});
