import { jsonlBatches } from './json/batches.ts';
import type { BatchReader } from './table.ts';

/** Reads the files of a listing as rows. @throws TableError */
export const listingBatches: BatchReader = (files, listing, bad) => {
  const list = (name: string): AsyncIterable<Uint8Array> => files.list(name);
  return jsonlBatches(
    { root: files.root, read: list, list, facts: (file) => files.facts(file) },
    listing,
    bad,
  );
};
