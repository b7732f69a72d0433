import { stepKinds } from '../../src/pipeline/kinds.ts';
import { foldersOf, type SourceTree } from './source-tree.ts';

/** An exception from a bound: the number that holds instead, and why. */
export interface Exception {
  readonly most: number;
  readonly because: string;
}

export type Exceptions = Readonly<Record<string, Exception>>;

/** Folders of `src` that may have more than 20 entries (files and sub-folders). */
export const fullFolders: Exceptions = {};

/** Files of `src` that may have more than 400 lines. */
export const longSources: Exceptions = {
  'pipeline/schema/pipeline-file.generated.ts': {
    most: 2_000,
    because: 'written by npm run generate from schemas/pipeline.schema.json; nobody edits it',
  },
  'report/facts/json-outputs.generated.ts': {
    most: 2_000,
    because: 'written by npm run generate from the schemas of JSON outputs; nobody edits it',
  },
};

/** Files of `test` that may have more than 600 lines. */
export const longTests: Exceptions = {};

/** Folders with more entries than the bound allows, and exceptions that nothing needs. */
export function overfullFolders(tree: SourceTree, most: number, exceptions: Exceptions): readonly string[] {
  const sizes = [...foldersOf(tree)].map(([folder, entries]): [string, number] => [
    folder || '.',
    entries.size,
  ]);
  return overBound(sizes, 'entries', most, exceptions);
}

/** Files with more lines than the bound allows, and exceptions that nothing needs. */
export function overlongFiles(tree: SourceTree, most: number, exceptions: Exceptions): readonly string[] {
  const sizes = tree.map(({ file, lines }): [string, number] => [file, lines]);
  return overBound(sizes, 'lines', most, exceptions);
}

function overBound(
  sizes: readonly (readonly [string, number])[],
  unit: string,
  most: number,
  exceptions: Exceptions,
): readonly string[] {
  const over = sizes.flatMap(([name, size]) => {
    const bound = exceptions[name]?.most ?? most;
    return size > bound ? [`${name} has ${size} ${unit}, at most ${bound}`] : [];
  });
  const needed = new Set(sizes.filter(([, size]) => size > most).map(([name]) => name));
  const unneeded = Object.keys(exceptions).filter((name) => !needed.has(name));
  return [...over, ...unneeded.map((name) => `${name} needs no exception`)];
}

/** A comparison with the name of a step kind. What media a file holds is another thing that may be called `video`. */
const comparison = new RegExp(`(?:(?<!media )[!=]== |case )'(?:${stepKinds.join('|')})'`, 'g');

/**
 * Where code asks for a step kind by its name: what a kind is stands in the tables of kinds, so that a new one needs no search. The sandbox
 * plays another program.
 *
 * @param read the text of a file
 */
export const comparisonsOfKinds = (tree: SourceTree, read: (file: string) => string): readonly string[] =>
  tree
    .filter(({ file }) => !file.startsWith('sandbox/'))
    .flatMap(({ file }) => (read(file).match(comparison) ?? []).map((found) => `${file}: ${found}`));
