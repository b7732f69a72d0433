import { createHash } from 'node:crypto';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { FilePort } from '../../pipeline/files.ts';
import type { Pipeline } from '../../pipeline/pipeline.ts';
import { inputFile, runFiles } from '../../report/facts/layout.ts';
import type { InputTable } from '../../report/facts/run.ts';
import { syncFolderAsync } from '../../state/files/folders.ts';
import { readFlags } from '../../state/files/plain-file.ts';
import { checkFile, checkFolder } from '../../state/files/plain-path.ts';
import { unfinishedName } from '../../state/files/unfinished.ts';
import type { StateReader } from '../../state/reader.ts';
import { usageError } from '../errors/cli-error.ts';

/** Largest table that is copied, in bytes; of larger ones only the hash is kept. */
export const largestCopy = 256 * 1024 * 1024;

/**
 * Copies the tables of a pipeline into the run directory and hashes them. A run plans from the copies, so that edits during the run have no
 * effect before the next one, and the manifest can be written again from the directory alone.
 *
 * @throws the error of the file system
 */
export async function keepInputs(
  pipeline: Pipeline,
  files: FilePort,
  directory: string,
): Promise<readonly InputTable[]> {
  const tables: InputTable[] = [];
  for (const axis of pipeline.matrix.axes) {
    if (axis.kind !== 'rows') continue;
    const { file } = axis;
    // A listing of files has its own size limit, and is only kept as a copy: folders change without an edit.
    const facts = axis.format === 'files' ? undefined : await files.facts(file);
    const copied = axis.format === 'files' || (facts !== undefined && facts.bytes <= largestCopy);
    const chunks = axis.format === 'files' ? files.list(file) : files.read(file);
    tables.push({ file, copied, ...(await take(chunks, directory, copied)) });
  }
  return tables;
}

/** Hashes and copies a table in one pass, so that the hash is that of the copy. */
async function take(
  chunks: AsyncIterable<Uint8Array>,
  directory: string,
  copied: boolean,
): Promise<{ sha256: string; bytes: number }> {
  const hash = createHash('sha256');
  let bytes = 0;
  if (!copied) {
    for await (const chunk of chunks) {
      hash.update(chunk);
      bytes += chunk.length;
    }
    return { sha256: hash.digest('hex'), bytes };
  }

  const folder = join(directory, runFiles.inputs);
  if (!checkFolder(folder)) {
    await mkdir(folder);
    await syncFolderAsync(directory);
  }
  const temporary = join(folder, unfinishedName('table'));
  const handle = await open(temporary, 'wx');
  try {
    for await (const chunk of chunks) {
      hash.update(chunk);
      bytes += chunk.length;
      await handle.writeFile(chunk);
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
  const sha256 = hash.digest('hex');
  const kept = join(folder, sha256);
  checkFile(kept);
  await rename(temporary, kept);
  await syncFolderAsync(folder);
  return { sha256, bytes };
}

/** Removes copies that the last run no longer uses. Call this after the new ones are recorded. */
export async function forgetOtherInputs(tables: readonly InputTable[], directory: string): Promise<void> {
  const used = new Set(tables.map(({ sha256 }) => sha256));
  const folder = join(directory, runFiles.inputs);
  if (!checkFolder(folder)) return;
  // Only files that `keepInputs` made.
  const ours = (await readdir(folder)).filter((name) => inputFile.test(name));
  for (const name of ours) if (!used.has(name)) await rm(join(folder, name), { force: true });
}

/**
 * Copies the kept tables of a run directory into another one.
 *
 * @throws CliError (exit 2) if a copy was changed; StateError, the error of the file system
 */
export async function copyInputs(tables: readonly InputTable[], from: string, to: string): Promise<void> {
  for (const { copied, sha256 } of tables) {
    if (!copied) continue;
    const kept = await take(readCopy(join(from, runFiles.inputs, sha256)), to, true);
    if (kept.sha256 !== sha256)
      throw usageError(
        `${join(from, runFiles.inputs, sha256)} is not the table that the run was planned from.`,
      );
  }
}

/** Reads a kept copy. @throws StateError if it is a link or not a file; the error of the file system */
async function* readCopy(file: string): AsyncGenerator<Uint8Array> {
  checkFolder(dirname(file));
  checkFile(file);
  const handle = await open(file, readFlags);
  yield* handle.createReadStream() as AsyncIterable<Uint8Array>;
}

/**
 * Returns file access with the tables as {@link keepInputs} copied them, whatever happened to the originals. A table that was too large to
 * copy is read from its original place.
 */
export function keptFiles(
  tables: readonly InputTable[],
  directory: string,
  files: FilePort,
  state: Pick<StateReader, 'table'> = {},
): FilePort {
  const copies = new Map(tables.filter(({ copied }) => copied).map((table) => [table.file, table]));
  const copyOf = ({ sha256 }: InputTable): AsyncIterable<Uint8Array> =>
    state.table?.(sha256) ?? readCopy(join(directory, runFiles.inputs, sha256));
  return {
    root: files.root,
    facts: async (file) => {
      const table = copies.get(file);
      if (table === undefined) return await files.facts(file);
      return { kind: 'file', realPath: file, bytes: table.bytes };
    },
    read: (file) => {
      const table = copies.get(file);
      return table === undefined ? files.read(file) : copyOf(table);
    },
    list: (listing) => {
      const table = copies.get(listing);
      return table === undefined ? files.list(listing) : copyOf(table);
    },
  };
}
