import { createHash } from 'node:crypto';
import type { Selection } from '../plan/cell.ts';
import type { Plan } from '../plan/plan.ts';
import { cellsAtOnce } from '../plan/resolve/load-records.ts';
import type { ManifestTotals } from '../results/row-ledger.ts';
import { isFullDisk } from '../state/files/disk-errors.ts';
import type { StateReader } from '../state/reader.ts';
import { type ManifestForm, type RowSums, RowText } from './row-text.ts';
import { manifestGroups, rowsOfCells } from './rows.ts';
import { OutOfDate, type SettledRows } from './settled-rows.ts';
import { byteOrderMark } from './spreadsheet.ts';
import { writeWhole } from './whole-file.ts';

/**
 * Writes `manifest.csv` completely or not at all, and returns its totals.
 *
 * UTF-8 without a byte order mark, exactly as RFC 4180 says: lines end in CRLF, fields with a comma, a quote or a line break are quoted.
 * The bytes depend only on the plan, the selection, the state, `escapeFormulas` and `forSpreadsheet`.
 *
 * @throws the error of the file system (`code` ENOSPC, EACCES, …), StateError, and the signal's reason when aborted.
 */
export const writeManifest = async (options: ManifestOptions): Promise<ManifestTotals> =>
  (await writeRunManifest(options)).totals;

export interface ManifestOptions extends ManifestForm {
  readonly plan: Plan;
  readonly selection: Selection;
  readonly reader: Pick<StateReader, 'many' | 'rootKeys'>;
  /** Path of the manifest, `<run directory>/manifest.csv`; `file_name` is relative to its folder. */
  readonly file: string;
  readonly signal?: AbortSignal;
}

/** The facts of a written manifest. */
export interface WrittenManifest extends RowSums {
  /** SHA-256 of its bytes, hexadecimal. */
  readonly sha256: string;
}

/**
 * Writes the manifest like {@link writeManifest}, using the rows that were made while the run began if they are still valid.
 *
 * @param options.settled rows of the whole plan, in the same form
 */
export async function writeRunManifest(
  options: ManifestOptions & { readonly settled?: SettledRows | undefined },
): Promise<WrittenManifest> {
  const { plan, file, settled } = options;
  const write = async (
    chunks: AsyncIterable<string | Uint8Array>,
    text: RowText,
  ): Promise<WrittenManifest> => {
    const hash = createHash('sha256');
    await writeWhole(
      file,
      (async function* () {
        for await (const chunk of chunks) {
          hash.update(chunk);
          yield chunk;
        }
      })(),
    );
    return { ...text.result(), sha256: hash.digest('hex') };
  };
  if (settled !== undefined)
    try {
      return await write(mergedText(options, settled), settled.text);
    } catch (error) {
      // Its temporary file may take the disk space that the manifest needs.
      settled.close();
      if (!(error instanceof OutOfDate) && !isFullDisk(error)) throw error;
    }
  const text = new RowText(plan.matrix.variables, options);
  return await write(manifestText(options, text), text);
}

/** Yields the text of a manifest in chunks, as {@link writeManifest} writes it. */
export const manifestChunks = (options: Omit<ManifestOptions, 'file'>): AsyncGenerator<string> =>
  manifestText(options, new RowText(options.plan.matrix.variables, options));

async function* manifestText(
  { plan, selection, reader, forSpreadsheet, signal }: Omit<ManifestOptions, 'file'>,
  text: RowText,
): AsyncGenerator<string> {
  if (forSpreadsheet) yield byteOrderMark;
  yield text.header;
  for await (const rows of manifestGroups(plan, selection, reader, signal))
    for (const row of rows) {
      text.add(row);
      if (!text.isFull) continue;
      signal?.throwIfAborted();
      yield text.take();
    }
  yield text.take();
}

async function* mergedText(
  { plan, reader, signal }: ManifestOptions,
  settled: SettledRows,
): AsyncGenerator<string | Uint8Array> {
  const { text, listedJobs } = settled;
  yield text.header;
  let hasOthers = false;
  for await (const part of settled.parts(plan.matrix.cells({}, signal), cellsAtOnce(plan))) {
    signal?.throwIfAborted();
    if ('rows' in part) yield part.rows;
    else {
      hasOthers = true;
      for await (const row of rowsOfCells(plan, part.cells, reader, listedJobs)) text.add(row);
      yield text.take();
    }
  }
  if (hasOthers) refuseSameFiles(text);
}

/** Throws OutOfDate if files are identical: which of them are named depends on the order in which all rows are seen. */
function refuseSameFiles(text: RowText): void {
  if (text.result().totals.sameFiles !== undefined) throw new OutOfDate();
}
