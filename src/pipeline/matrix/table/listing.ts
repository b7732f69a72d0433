import type { FilePort } from '../../files.ts';
import type { BadRows } from './error.ts';
import { jsonlBatches } from './json/lines.ts';
import type { TableBatch } from './table.ts';

/** Reads a listing: its files are the rows. @throws TableError */
export const listingBatches = (
  files: FilePort,
  listing: string,
  bad: BadRows,
): AsyncGenerator<TableBatch, void, undefined> =>
  jsonlBatches(
    {
      root: files.root,
      read: (name) => files.list(name),
      list: (name) => files.list(name),
      facts: (file) => files.facts(file),
    },
    listing,
    bad,
  );
