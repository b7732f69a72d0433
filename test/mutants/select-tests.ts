import { posix } from 'node:path';
import type { SourceFile, SourceTree } from '../structure/source-tree.ts';

/** Folders of `test` whose tests show what a whole run does: too slow to be repeated for each mutant. */
const whole = ['bench', 'e2e', 'expressions', 'fuzz', 'sim', 'structure'];

/**
 * The test files, below `test`, that mutants of `paths` are tried against: those that mirror a path (in its folder, below it, or
 * in a folder above it as a test of the whole), and those that import a file of it, directly or through the rigs of `test`.
 * The nearest come first. `paths` are files and folders below `src`.
 */
export function selectTests(tests: SourceTree, paths: readonly string[]): readonly string[] {
  const files = new Map(tests.map((one) => [one.file, one]));
  const distances = tests
    .filter(({ file }) => file.endsWith('.test.ts') && !whole.includes(file.split('/')[0] ?? ''))
    .map((one) => ({
      file: one.file,
      distance: Math.min(...paths.map((path) => distanceOf(one, path, files))),
    }));
  return distances
    .filter(({ distance }) => distance < Number.POSITIVE_INFINITY)
    .sort((a, b) => a.distance - b.distance)
    .map(({ file }) => file);
}

/** 0: the test of a file's own name; 1: in its folder or below; 2: above; 3: by an import. Infinite: the test is none of the path. */
function distanceOf(test: SourceFile, path: string, files: ReadonlyMap<string, SourceFile>): number {
  const folder = path.endsWith('.ts') ? posix.dirname(path) : path;
  const own = posix.dirname(test.file);
  if (test.file === path.replace(/\.ts$/, '.test.ts')) return 0;
  if (own === folder || own.startsWith(`${folder}/`)) return 1;
  if (folder.startsWith(`${own}/`)) return 2;
  return reaches(test, path, files) ? 3 : Number.POSITIVE_INFINITY;
}

/** Whether a file of `test` imports a source of the path, through other files of `test` if need be. */
function reaches(from: SourceFile, path: string, files: ReadonlyMap<string, SourceFile>): boolean {
  const source = `../src/${path}`;
  const seen = new Set<string>([from.file]);
  const next = [from];
  for (let one = next.pop(); one !== undefined; one = next.pop()) {
    for (const { to, types } of one.imports) {
      if (types) continue;
      if (to === source || to.startsWith(`${source}/`)) return true;
      const rig = files.get(to);
      if (rig === undefined || seen.has(to)) continue;
      seen.add(to);
      next.push(rig);
    }
  }
  return false;
}
