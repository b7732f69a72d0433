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

/** Tables up to this size are copied; of larger ones only the hash is kept. */
export const largestCopy = 256 * 1024 * 1024;

/**
 * Copies the tables of a pipeline into the run directory by content, and hashes them: a run plans from the copies, so
 * that editing a table while it runs changes nothing before the next run, and the manifest can be written again
 * from the directory alone.
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
    // A listing is bounded by its own limits, and is only kept as a copy: folders change without being edited.
    const facts = axis.format === 'files' ? undefined : await files.facts(file);
    const copied = axis.format === 'files' || (facts !== undefined && facts.bytes <= largestCopy);
    const chunks = axis.format === 'files' ? files.list(file) : files.read(file);
    tables.push({ file, copied, ...(await take(chunks, directory, copied)) });
  }
  return tables;
}

/** Hashes a table, and copies it in the same pass: the hash is that of the copy. */
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

/** Removes the copies that the last run no longer uses; called once the new ones are on record. */
export async function forgetOtherInputs(tables: readonly InputTable[], directory: string): Promise<void> {
  const used = new Set(tables.map(({ sha256 }) => sha256));
  const folder = join(directory, runFiles.inputs);
  if (!checkFolder(folder)) return;
  // Only what `keepInputs` made.
  const ours = (await readdir(folder)).filter((name) => inputFile.test(name));
  for (const name of ours) if (!used.has(name)) await rm(join(folder, name), { force: true });
}

/**
 * Copies the kept tables of a run directory into another one.
 *
 * @throws CliError (exit 2) where a copy is not what was kept; StateError, the error of the file system
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

/** @throws StateError where the copy is a link or no file; the error of the file system */
async function* readCopy(file: string): AsyncGenerator<Uint8Array> {
  checkFolder(dirname(file));
  checkFile(file);
  const handle = await open(file, readFlags);
  yield* handle.createReadStream() as AsyncIterable<Uint8Array>;
}

/**
 * A pipeline's files with its tables as they were when {@link keepInputs} took them, whatever has become of the
 * originals. A table too large to be copied is read where it lies.
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
