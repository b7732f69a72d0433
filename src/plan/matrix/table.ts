import { createHash } from 'node:crypto';
import type { FilePort } from '../../pipeline/files.ts';
import { TableError } from '../../pipeline/matrix/table/error.ts';
import { tableBatches } from '../../pipeline/matrix/table/read.ts';
import { type TableFormat, type TableRow } from '../../pipeline/matrix/table/table.ts';
import type { Axis } from '../../pipeline/pipeline.ts';

/** The values of a table row. */
export type RowValues = TableRow['values'];

/** The result of the first pass over a table. */
export interface MatrixTable {
  /** Absolute path. */
  readonly file: string;
  /** Path as the pipeline gives it. */
  readonly declared: string;
  readonly format: TableFormat;
  readonly columns: readonly string[];
  readonly rows: number;
  /** SHA-256 of the file's bytes, in hexadecimal. */
  readonly sha256: string;
  readonly fingerprint: Fingerprint;
  /** All rows of a small table; absent for a large one, which is read again instead. */
  readonly kept: readonly RowValues[] | undefined;
}

/** Bytes of the largest table that is kept in memory. */
const keptBytes = 1024 * 1024;
/** The same of a table with reduced columns: the rows of a group are needed together. */
const keptReducedBytes = 16 * 1024 * 1024;

/**
 * Reads a whole table once: counts its rows, hashes its bytes, passes each row to `onRow`.
 *
 * @param isReduced some columns are reduced: a larger table is kept
 * @throws TableError
 */
export async function scanTable(
  files: FilePort,
  axis: Extract<Axis, { kind: 'rows' }>,
  onRow: (values: RowValues) => void,
  signal?: AbortSignal,
  isReduced = false,
): Promise<MatrixTable> {
  const maxKept = isReduced ? keptReducedBytes : keptBytes;
  const fingerprint = new Fingerprint();
  let kept: RowValues[] | undefined = [];
  let rows = 0;
  let columns: readonly string[] = [];
  for await (const batch of tableBatches(fingerprint.recording(files), axis.file, axis.format)) {
    signal?.throwIfAborted();
    ({ columns } = batch);
    if (rows === 0 && batch.rows.length === 0) checkColumns(axis, columns);
    rows += batch.rows.length;
    if (fingerprint.bytes > maxKept) kept = undefined;
    for (const { values } of batch.rows) {
      onRow(values);
      kept?.push(values);
    }
  }
  const { file, declared, format } = axis;
  return { file, declared, format, columns, rows, sha256: fingerprint.sha256(), fingerprint, kept };
}

/** Yields the rows of a table in batches, from memory or by reading it again. @throws TableError */
export async function* rowsOf(
  { kept, fingerprint, file, format }: MatrixTable,
  files: FilePort,
): AsyncGenerator<readonly RowValues[], void, undefined> {
  if (kept !== undefined) return yield kept;
  for await (const { rows } of tableBatches(fingerprint.checking(files), file, format))
    yield rows.map(({ values }) => values);
}

function checkColumns(axis: Extract<Axis, { kind: 'rows' }>, columns: readonly string[]): void {
  const known = new Set(axis.columns);
  if (columns.length === known.size && columns.every((name) => known.has(name))) return;
  throw new TableError(
    'table.changed',
    `The table has the columns ${columns.join(', ')}; before, it had ${axis.columns.join(', ')}.`,
    { line: 1 },
  );
}

const blockBytes = 64 * 1024;
/** Bytes of a block's digest: half a SHA-256 is enough to recognise an edited block. */
const digestBytes = 16;

/**
 * Digests of a file's blocks when it was first read, so that a later reading detects a change before any later data is used, and not at
 * the end. Takes 16 bytes per 64 KiB.
 */
export class Fingerprint {
  readonly #whole = createHash('sha256');
  #digests = Buffer.alloc(digestBytes * 16);
  #blocks = 0;
  #bytes = 0;
  #sha256: string | undefined;

  get bytes(): number {
    return this.#bytes;
  }

  /** Returns the SHA-256 of the whole file; only after it was read to the end. */
  sha256(): string {
    this.#sha256 ??= this.#whole.digest('hex');
    return this.#sha256;
  }

  /** Wraps files so that the content of one file is recorded while it is read or listed once. */
  recording(files: FilePort): FilePort {
    return through(files, (chunks) => this.#record(chunks));
  }

  /** Wraps files so that reads and listings are compared with the recorded content; a difference is `table.changed`. */
  checking(files: FilePort): FilePort {
    return through(files, (chunks) => this.#check(chunks));
  }

  async *#record(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const block of blocksOf(chunks)) {
      this.#whole.update(block);
      this.#bytes += block.length;
      const at = this.#blocks * digestBytes;
      if (at === this.#digests.length) this.#digests = Buffer.concat([this.#digests], at * 2);
      digestOf(block).copy(this.#digests, at);
      this.#blocks++;
      yield block;
    }
  }

  async *#check(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
    let index = 0;
    for await (const block of blocksOf(chunks)) {
      const at = index * digestBytes;
      const same =
        index < this.#blocks && digestOf(block).equals(this.#digests.subarray(at, at + digestBytes));
      if (!same) throw changed();
      index++;
      yield block;
    }
    if (index !== this.#blocks) throw changed();
  }
}

function changed(): TableError {
  return new TableError(
    'table.changed',
    'The table was changed while it was in use; do not change it during a run, and start again.',
    { line: 1 },
  );
}

const digestOf = (block: Uint8Array): Buffer =>
  createHash('sha256').update(block).digest().subarray(0, digestBytes);

function through(
  files: FilePort,
  passed: (chunks: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>,
): FilePort {
  return {
    root: files.root,
    read: (file) => passed(files.read(file)),
    list: (listing) => passed(files.list(listing)),
    facts: (file) => files.facts(file),
  };
}

/** Splits chunks into blocks of equal size (the last may be shorter), whatever the sizes of the chunks. */
async function* blocksOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  let block = new Uint8Array(blockBytes);
  let filled = 0;
  for await (const chunk of chunks) {
    for (let from = 0; from < chunk.length; ) {
      const part = chunk.subarray(from, from + blockBytes - filled);
      block.set(part, filled);
      filled += part.length;
      from += part.length;
      if (filled === blockBytes) {
        yield block;
        // A yielded block belongs to its reader.
        block = new Uint8Array(blockBytes);
        filled = 0;
      }
    }
  }
  if (filled > 0) yield block.subarray(0, filled);
}
