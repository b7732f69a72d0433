import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

/** One import of a source file, or one export from another file. */
export interface Import {
  /** The line where the statement begins, from 1. */
  readonly line: number;
  /** As written: `../plan/job.ts`, `node:path`. */
  readonly specifier: string;
  /** Whether the import is gone once the types are: `import type`, or `type` before each name. */
  readonly types: boolean;
}

/** One source file with its relative imports resolved. */
export interface SourceFile {
  /** Below the root of the tree: `plan/job.ts`. */
  readonly file: string;
  readonly lines: number;
  /** `to` is below the root of the tree; an import from outside of it begins with `../`. */
  readonly imports: readonly (Import & { readonly to: string })[];
}

export type SourceTree = readonly SourceFile[];

const statement = /^(?:import|export)\b([^'";]*)\bfrom '([^']+)'|^import '([^']+)'/gm;
const call = /^(?!\s*(?:\/?\*|\/\/)).*?\bimport\('([^']+)'\)/gm;
const typeNames = /^\s*(?:type\b|\{(?:\s*type\s[^,}]+,?)+\s*\})/;

/**
 * Every import of a source text in the repository's format (`npm run format`): `import … from`, `import '…'`, `export … from`
 * and `import('…')`, each of them also for types. `import('…')` counts as an import of values, wherever it stands.
 */
export function importsOf(code: string): readonly Import[] {
  const line = (index: number): number => code.slice(0, index).split('\n').length;
  const statements = [...code.matchAll(statement)].map((match) => ({
    line: line(match.index),
    specifier: match[2] ?? match[3] ?? '',
    types: typeNames.test(match[1] ?? ''),
  }));
  const calls = [...code.matchAll(call)].map((match) => ({
    line: line(match.index),
    specifier: match[1] ?? '',
    types: false,
  }));
  return [...statements, ...calls];
}

/** A tree from the texts of its files, by their path below the root. Styles and schemas are no code. */
export function treeOf(texts: Readonly<Record<string, string>>): SourceTree {
  return Object.entries(texts).map(([file, code]) => ({
    file,
    lines: code.split('\n').length - (code.endsWith('\n') ? 1 : 0),
    imports: importsOf(code)
      .filter(({ specifier }) => specifier.startsWith('.') && !/\.(?:css|json)$/.test(specifier))
      .map((one) => ({ ...one, to: posix.join(posix.dirname(file), one.specifier) })),
  }));
}

/** Every TypeScript file below a folder of the disk, declarations for other kinds of files aside. */
export function readTree(root: string): SourceTree {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => /\.tsx?$/.test(file) && !file.endsWith('.d.ts'))
    .sort();
  return treeOf(Object.fromEntries(files.map((file) => [file, readFileSync(join(root, file), 'utf8')])));
}

/** Every folder of a tree, with the names of its entries; a sub-folder's name ends in `/`. `''` is the root. */
export function foldersOf(tree: SourceTree): ReadonlyMap<string, ReadonlySet<string>> {
  const folders = new Map<string, Set<string>>();
  for (const { file } of tree) {
    const parts = file.split('/');
    for (const [depth, part] of parts.entries()) {
      const folder = parts.slice(0, depth).join('/');
      const entries = folders.get(folder) ?? new Set();
      folders.set(folder, entries.add(depth < parts.length - 1 ? `${part}/` : part));
    }
  }
  return folders;
}

/** Where two files part: the folder that holds both, and the entry of that folder that holds each. */
export function partingOf(
  from: string,
  to: string,
): { readonly folder: string; readonly from: string; readonly to: string } {
  const a = from.split('/');
  const b = to.split('/');
  let depth = 0;
  while (depth < a.length - 1 && depth < b.length - 1 && a[depth] === b[depth]) depth += 1;
  const entry = (parts: readonly string[]): string => `${parts[depth]}${depth < parts.length - 1 ? '/' : ''}`;
  return { folder: a.slice(0, depth).join('/'), from: entry(a), to: entry(b) };
}
