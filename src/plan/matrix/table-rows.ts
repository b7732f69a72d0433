import type { FilePort } from '../../pipeline/files.ts';
import { tableBatches } from '../../pipeline/matrix/table/read.ts';
import { type TableBatch } from '../../pipeline/matrix/table/table.ts';
import type { MatrixTable, RowValues } from './table.ts';

/** Most rows of one window of cells, which are held in memory; a second limit is in bytes of the file. */
const windowRows = 4096;
const windowBytes = 4 * 1024 * 1024;

/**
 * Reads the rows of a table by index while cells are enumerated. A small table is in memory. A large one is read along with the cells; if
 * the cells of a window jump back and forth, their rows are fetched in one pass.
 */
export class RowReader {
  readonly #table: MatrixTable;
  readonly #files: FilePort;
  #fetched = new Map<number, RowValues>();
  #reading: AsyncGenerator<TableBatch, void, undefined> | undefined;
  #batch: TableBatch['rows'] = [];
  /** Index of the first row of the batch. */
  #first = 0;
  #position = 0;

  constructor(table: MatrixTable, files: FilePort) {
    this.#table = table;
    this.#files = table.fingerprint.checking(files);
  }

  /** Number of cells in advance for which {@link prepare} must be called; undefined for a table in memory, which needs no call. */
  get window(): number | undefined {
    if (this.#table.kept !== undefined) return undefined;
    const average = this.#table.fingerprint.bytes / Math.max(1, this.#table.rows);
    return Math.max(16, Math.min(windowRows, Math.floor(windowBytes / average)));
  }

  /** Announces the rows that the next cells need, in their order. @throws TableError */
  async prepare(wanted: readonly number[]): Promise<void> {
    if (this.#table.kept !== undefined) return;
    const missing = wanted.filter((index) => !this.#fetched.has(index));
    if (missing.length > 0 && turnsBack(missing, this.#position) < 2) {
      // Sequential reading is at most one pass; rows fetched for an earlier window can be used.
      const still = new Set(wanted);
      for (const index of this.#fetched.keys()) if (!still.has(index)) this.#fetched.delete(index);
      return;
    }
    const next = new Map<number, RowValues>();
    for (const index of wanted) {
      const values = this.#fetched.get(index);
      if (values !== undefined) next.set(index, values);
    }
    this.#fetched = next;
    if (missing.length > 0) await this.#fetch([...new Set(missing)].sort((a, b) => a - b));
  }

  /** Returns a row if it is in memory, as it is after {@link read} until the next call. */
  peek(index: number): RowValues | undefined {
    if (this.#table.kept !== undefined) return this.#table.kept[index];
    return this.#fetched.get(index) ?? this.#batch[index - this.#first]?.values;
  }

  /** Returns a row, reading on or from the beginning again if it is not in memory. @throws TableError */
  async read(index: number): Promise<RowValues> {
    const atHand = this.peek(index);
    if (atHand !== undefined) return atHand;
    if (this.#reading === undefined || index < this.#first) await this.#restart();
    while (index >= this.#first + this.#batch.length) await this.#advance();
    this.#position = index;
    return (this.#batch[index - this.#first] as TableBatch['rows'][number]).values;
  }

  async close(): Promise<void> {
    const reading = this.#reading;
    this.#reading = undefined;
    this.#batch = [];
    await reading?.return();
  }

  async #fetch(ascending: readonly number[]): Promise<void> {
    for (const index of ascending) this.#fetched.set(index, await this.read(index));
  }

  async #restart(): Promise<void> {
    await this.close();
    this.#reading = tableBatches(this.#files, this.#table.file, this.#table.format);
    this.#first = 0;
  }

  async #advance(): Promise<void> {
    const next = await (this.#reading as AsyncGenerator<TableBatch, void, undefined>).next();
    if (next.done === true) throw new Error('Internal error: an unchanged table has fewer rows than before');
    this.#first += this.#batch.length;
    this.#batch = next.value.rows;
  }
}

/** Counts how often a sequential reader would have to start again. */
function turnsBack(wanted: readonly number[], from: number): number {
  let turns = 0;
  let at = from;
  for (const index of wanted) {
    if (index < at) turns++;
    at = index;
  }
  return turns;
}
