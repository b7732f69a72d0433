import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import type { Cell } from '../plan/cell.ts';
import type { JobRecord } from '../plan/job.ts';
import type { Plan } from '../plan/plan.ts';
import type { RecordLookup, Slot } from '../plan/slot.ts';
import { unfinishedName } from '../state/files/unfinished.ts';
import { KeySet } from './key-set.ts';
import type { RowText } from './row-text.ts';
import { cellRows, isFinal, type ListedJobs, listedSlots } from './rows.ts';

/** Thrown when rows that were made while a run began are no longer valid. */
export class OutOfDate extends Error {}

/** Size of the head of a chunk in bytes: its first cell, its last cell, the number of cells, and the size of the rows. */
const headLength = 32;

interface Piece {
  readonly from: number;
  to: number;
  cells: number;
}

/** Selects every step, for the manifest of a whole plan. */
const everyStep = { includes: () => true };

/**
 * Collects the rows of cells in which a run finds nothing to do, from the slots that the run has resolved anyway: the manifest at its end
 * then resolves only the other cells. The rows are kept in a temporary file without a name. If a job changes after its row was made, or
 * anything else invalidates a row, all rows are discarded and every cell is resolved again.
 *
 * Its memory is 16 to 32 bytes per job, and 11 to 22 more per job of the cells that are resolved again.
 */
export class SettledRows {
  /** The rows with their sums; the rows of the other cells are added at the end. */
  readonly text: RowText;
  readonly #plan: Plan;
  readonly #invocation: number;
  readonly #isOrdered: (key: string) => boolean;
  /** The cell of each job's first row, for all cells resolved so far, times 2; 1 more if that cell is settled. */
  readonly #first = new KeySet(true);
  /** Other jobs that settled cells depend on. */
  readonly #read = new KeySet();
  /** Number of jobs whose first row is in an unsettled cell. */
  #promised = 0;
  #found = 0;
  #last = 0;
  #piece: Piece | undefined;
  /** The temporary file. Undefined: the rows were discarded. */
  #descriptor: number | undefined;
  #end = 0;

  /**
   * @param file `manifest.csv`
   * @param invocation number of the run: a job that it settled may still change
   * @param isOrdered a job is to be made anew
   */
  constructor(
    plan: Plan,
    text: RowText,
    file: string,
    invocation: number,
    isOrdered: (key: string) => boolean,
  ) {
    this.#plan = plan;
    this.#invocation = invocation;
    this.#isOrdered = isOrdered;
    this.text = text;
    const name = unfinishedName(file);
    try {
      this.#descriptor = openSync(name, 'wx+', 0o600);
      rmSync(name);
    } catch {
      // For example, the disk is full: the code that writes the manifest reports that.
      this.close();
    }
  }

  /** Like {@link Plan.resolve}, for a run that resolves its cells in order for the first time. */
  readonly resolve: Plan['resolve'] = (cell, lookup, isOwn) => {
    if (this.#descriptor === undefined || cell.number <= this.#last)
      return this.#plan.resolve(cell, lookup, isOwn);
    this.#last = cell.number;
    const read: string[] = [];
    const noting: RecordLookup = (key) => {
      read.push(key);
      return lookup(key);
    };
    const slots = this.#plan.resolve(cell, noting);
    const { listed } = listedSlots(slots, everyStep, noting);
    if (cell.number > 0x7fff_ffff) this.close();
    else if (slots.every((slot) => this.#isSettled(slot))) {
      const piece = (this.#piece ??= { from: cell.number, to: cell.number, cells: 0 });
      piece.to = cell.number;
      piece.cells += 1;
      const listedJobs: ListedJobs = { add: (key, number) => this.#first.add(key, 2 * number + 1) };
      for (const row of cellRows(cell, listed, listedJobs)) this.text.add(row);
      for (const key of read) if (!this.#isShown(key)) this.#read.add(key);
      if (this.text.isFull) this.#write();
    } else {
      this.#write();
      for (const { slot } of listed)
        if (slot.record !== undefined && this.#first.add(slot.record.key, 2 * cell.number))
          this.#promised += 1;
    }
    return slots;
  };

  /** Discards the rows if one of them shows a changed job. */
  note(records: readonly JobRecord[]): void {
    if (this.#descriptor === undefined) return;
    if (records.some(({ key }) => this.#isShown(key) || this.#read.has(key))) this.close();
  }

  /** Jobs that already have a row. @throws OutOfDate for a job whose first row was assumed to be in a later cell */
  readonly listedJobs: ListedJobs = {
    add: (key, cell) => {
      const number = this.#first.numberOf(key);
      const first = number === undefined ? undefined : Math.floor(number / 2);
      if (first !== undefined && first > cell) throw new OutOfDate();
      if (first !== undefined && first < cell) return false;
      const isNew = this.#others.add(key);
      if (isNew && first === cell) this.#found += 1;
      return isNew;
    },
  };

  /** Jobs whose first row is in a cell that is not settled. */
  readonly #others = new KeySet();

  /**
   * Yields the manifest of the whole plan in order: text of rows, and between them groups of cells whose rows the caller must make, with
   * {@link listedJobs}, before it asks for the next part.
   *
   * @param cells all cells of the plan
   * @throws OutOfDate
   */
  async *parts(
    cells: AsyncIterable<Cell>,
    size: number,
  ): AsyncGenerator<{ readonly rows: Buffer } | { readonly cells: readonly Cell[] }> {
    this.#write();
    // The file may lack rows that were counted.
    if (this.#descriptor === undefined) throw new OutOfDate();
    let at = 0;
    const next = (): (Piece & { readonly rows: Buffer }) | undefined => {
      if (at >= this.#end) return undefined;
      const head = this.#readAt(at, headLength);
      const [from = 0, to = 0, count = 0, length = 0] = [0, 8, 16, 24].map((place) =>
        head.readDoubleLE(place),
      );
      const rows = this.#readAt(at + headLength, length);
      at += headLength + length;
      return { from, to, cells: count, rows };
    };
    let piece = next();
    let others: Cell[] = [];
    for await (const cell of cells) {
      if (piece !== undefined && cell.number >= piece.from) {
        if (others.length > 0) yield { cells: others };
        others = [];
        if (cell.number === piece.from) yield { rows: piece.rows };
        piece.cells -= 1;
        if (cell.number < piece.to) continue;
        if (cell.number > piece.to || piece.cells !== 0) throw new OutOfDate();
        piece = next();
        continue;
      }
      others.push(cell);
      if (others.length < size) continue;
      yield { cells: others };
      others = [];
    }
    if (others.length > 0) yield { cells: others };
    if (piece !== undefined || this.#found !== this.#promised) throw new OutOfDate();
  }

  /** Discards the rows. */
  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  /** Whether the first row of a job is in a settled cell. */
  #isShown(key: string): boolean {
    return (this.#first.numberOf(key) ?? 0) % 2 === 1;
  }

  #isSettled(slot: Slot): boolean {
    const { status, record } = slot;
    if ((status !== 'done' && status !== 'skipped') || !isFinal(slot)) return false;
    if (record === undefined) return true;
    const isOver = record.status === 'done' || record.status === 'failed';
    return isOver && record.invocation !== this.#invocation && !this.#isOrdered(record.key);
  }

  /** Writes the rows of the last group of settled cells. */
  #write(): void {
    if (this.#piece === undefined || this.#descriptor === undefined) return;
    const { from, to, cells } = this.#piece;
    this.#piece = undefined;
    const rows = Buffer.from(this.text.take());
    const head = Buffer.alloc(headLength);
    for (const [place, value] of [from, to, cells, rows.length].entries())
      head.writeDoubleLE(value, 8 * place);
    try {
      for (const bytes of [head, rows])
        for (let at = 0; at < bytes.length; ) {
          const written = writeSync(this.#descriptor, bytes, at, bytes.length - at, this.#end);
          at += written;
          this.#end += written;
        }
    } catch {
      this.close();
    }
  }

  #readAt(at: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length);
    for (let done = 0; done < length; ) {
      const read =
        this.#descriptor === undefined
          ? 0
          : readSync(this.#descriptor, bytes, done, length - done, at + done);
      if (read === 0) throw new OutOfDate();
      done += read;
    }
    return bytes;
  }
}
