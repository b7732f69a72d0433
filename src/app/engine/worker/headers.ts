import { basename, join, resolve } from 'node:path';
import type { FilePort } from '../../../pipeline/files.ts';
import { listingName, listingText } from '../../../pipeline/matrix/table/glob.ts';
import type { SpecTable } from '../spec.ts';

/**
 * The files of a pipeline where its tables are not at hand: each table is its header, with a row of which nothing is used. A pipeline is read
 * and checked with it as if the tables were there, and its cells come from elsewhere. What images it names, its coordinator has checked: they may
 * not be at hand either.
 *
 * @param folder of the pipeline
 */
export function withoutTables(files: FilePort, tables: readonly SpecTable[], folder: string): FilePort {
  const stubs = new Map(tables.map((table) => [fileOf(table, folder), Buffer.from(stubOf(table))]));
  async function* read(file: string): AsyncGenerator<Uint8Array> {
    const stub = stubs.get(file);
    if (stub === undefined) yield* files.read(file);
    else yield stub;
  }
  async function* list(listing: string): AsyncGenerator<Uint8Array> {
    const stub = stubs.get(listing);
    if (stub === undefined) yield* files.list(listing);
    else yield stub;
  }
  return {
    root: files.root,
    read,
    list,
    facts: async (file) => {
      const bytes = stubs.get(file)?.length ?? 1;
      return { kind: 'file', realPath: join(files.root, basename(file)), bytes };
    },
  };
}

const fileOf = ({ format, declared }: SpecTable, folder: string): string =>
  format === 'files' ? listingName(folder, declared) : resolve(folder, declared);

/** A table of these columns with one row. */
function stubOf({ format, columns }: SpecTable): string {
  // By hand: an object of JavaScript has another order where names are numbers.
  const row = `{${columns.map((name) => `${JSON.stringify(name)}: null`).join(', ')}}`;
  switch (format) {
    case 'csv':
      return `${columns.map((name) => `"${name.replaceAll('"', '""')}"`).join(',')}\n${columns.map(() => 'x').join(',')}\n`;
    case 'tsv':
      return `${columns.join('\t')}\n${columns.map(() => 'x').join('\t')}\n`;
    case 'jsonl':
      return `${row}\n`;
    case 'json':
    case 'yaml':
      return `[${row}]\n`;
    case 'files':
      return listingText(['x']);
  }
}
