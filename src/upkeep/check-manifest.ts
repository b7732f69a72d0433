import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { type ManifestOptions, manifestChunks } from '../manifest/write.ts';
import { checkFile } from '../state/files/plain-path.ts';
import type { Finding } from './finding.ts';

/** The manifest's name in a run directory, for messages. */
const name = 'manifest.csv';

/**
 * Compares the manifest with the rows of the state, in memory that does not grow with it.
 *
 * @param isExpected a run has ended: it has written one
 * @throws StateError, TableError; the error of the file system
 */
export async function checkManifest(
  directory: string,
  options: Omit<ManifestOptions, 'file'>,
  isExpected: boolean,
): Promise<Extract<Finding, { readonly kind: 'manifest' }> | undefined> {
  const file = join(directory, name);
  if (!checkFile(file)) return isExpected ? { kind: 'manifest', file: name, why: 'missing' } : undefined;
  for (const escapeFormulas of [false, true]) {
    if (await isSame(createReadStream(file), manifestChunks({ ...options, escapeFormulas })))
      return undefined;
  }
  return { kind: 'manifest', file: name, why: (await endsWithRow(file)) ? 'other' : 'torn' };
}

/** Whether two streams of bytes and texts hold the same. Ends with the first difference. */
async function isSame(bytes: AsyncIterable<Buffer>, texts: AsyncIterable<string>): Promise<boolean> {
  const pieces = bytes[Symbol.asyncIterator]();
  let held = Buffer.alloc(0);
  try {
    for await (const text of texts) {
      const expected = Buffer.from(text);
      while (held.length < expected.length) {
        const next = await pieces.next();
        if (next.done === true) return false;
        held = Buffer.concat([held, next.value]);
      }
      if (!held.subarray(0, expected.length).equals(expected)) return false;
      held = held.subarray(expected.length);
    }
    return held.length === 0 && (await pieces.next()).done === true;
  } finally {
    await pieces.return?.();
  }
}

async function endsWithRow(file: string): Promise<boolean> {
  let last = Buffer.alloc(0);
  for await (const piece of createReadStream(file) as AsyncIterable<Buffer>)
    last = Buffer.concat([last.subarray(-2), piece.subarray(-2)]).subarray(-2);
  return last.equals(Buffer.from('\r\n'));
}
