import path from 'node:path';
import type { Diagnostic } from '../../src/pipeline/diagnostics/diagnostic.ts';
import type { FilePort } from '../../src/pipeline/files.ts';
import { type ParsedPipeline, parsePipeline } from '../../src/pipeline/parse.ts';
import { memoryListing } from './listing-port.ts';

/** Where the pipelines of tests stand. */
export const folder = path.resolve('/pipelines');

/** Files by their path from the pipeline; `null` is a folder, a path in `[ ]` is where a link leads. */
export type Files = Readonly<Record<string, string | Uint8Array | null | readonly [string]>>;

/** A file port over files in memory. */
export function filesOf(files: Files = {}): FilePort {
  const found = new Map(Object.entries(files).map(([name, file]) => [path.resolve(folder, name), file]));
  const port: Omit<FilePort, 'list'> = {
    root: folder,
    async *read(file) {
      const content = found.get(file);
      if (typeof content !== 'string' && !(content instanceof Uint8Array)) throw new Error(`no file ${file}`);
      yield Buffer.from(content);
    },
    async facts(file) {
      const content = found.get(file);
      if (content === undefined) return undefined;
      const isLink = Array.isArray(content);
      const realPath = isLink ? path.resolve(folder, String(content[0])) : file;
      const bytes = typeof content === 'string' || content instanceof Uint8Array ? content.length : 1;
      return { kind: content === null ? 'folder' : 'file', realPath, bytes };
    },
  };
  const links = [...found].filter(([, file]) => Array.isArray(file)).map(([name]) => name);
  return { ...port, list: memoryListing(port, () => found.keys(), new Set(links)) };
}

/** Parses a text as `t.yaml`. @param set axes that the user replaces, as `axis=value` */
export const parse = (
  text: string,
  files: Files = {},
  set: readonly string[] = [],
): Promise<ParsedPipeline> =>
  parsePipeline({ file: 't.yaml', folder, text, set: set.map(settingOf) }, filesOf(files));

const settingOf = (text: string) => {
  const at = text.indexOf('=');
  return { axis: text.slice(0, at), value: text.slice(at + 1) };
};

/** A diagnostic by what tests assert: `code line:column`. */
export const placed = ({ code, line, column }: Diagnostic): string => `${code} ${line}:${column}`;

/** Parses a text and gives its diagnostics as {@link placed}. */
export async function diagnose(text: string, files: Files = {}): Promise<readonly string[]> {
  return (await parse(text, files)).diagnostics.map(placed);
}

/** Takes the mark `⟦` out of a text; says where it stood. */
export function marked(text: string): { readonly text: string; readonly place: string } {
  const at = text.indexOf('⟦');
  if (at === -1 || text.includes('⟦', at + 1)) throw new Error('Internal error: a case has exactly one mark');
  const before = text.slice(0, at).split('\n');
  return { text: text.replace('⟦', ''), place: `${before.length}:${(before.at(-1) as string).length + 1}` };
}
