import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import type { Cell } from '../plan/cell.ts';
import type { JobRecord } from '../plan/job.ts';
import type { Plan } from '../plan/plan.ts';
import type { RecordLookup, Slot } from '../plan/slot.ts';
import { unfinishedName } from '../state/files/unfinished.ts';
import { KeySet } from './key-set.ts';
import type { RowText } from './row-text.ts';
import { cellRows, isFinal, type ListedJobs, listedSlots } from './rows.ts';

/** Rows that were made while a run began are not those that the state asks for now. */
export class OutOfDate extends Error {}

/** Bytes before the rows of a piece: its first cell, its last one, how many they are, and the bytes of the rows. */
const headLength = 32;

interface Piece {
  readonly from: number;
  to: number;
  cells: number;
}

/** What is listed of a whole plan. */
const everyStep = { includes: () => true };

/**
 * The rows of cells in which a run finds nothing to do, made from the very slots that the run has resolved to find that out: the manifest
 * at its end then resolves the other cells alone. They wait in a file without a name. A job that changes after its row was made, and
 * anything else that the rows cannot show, makes all of them out of date: then every cell is resolved again.
 *
 * Its memory is 30 to 70 bytes a job.
 */
export class SettledRows {
  /** What the rows add up to; those of the other cells are added at the end. */
  readonly text: RowText;
  readonly #plan: Plan;
  readonly #invocation: number;
  readonly #isOrdered: (key: string) => boolean;
  /** The cell of each job's first row, settled or not, as far as cells were resolved. */
  readonly #first = new KeySet(true);
  /** Jobs that settled cells depend on. */
  readonly #read = new KeySet();
  /** Jobs whose first row is in a cell that is not settled: seen before, and found there again. */
  #promised = 0;
  #found = 0;
  #last = 0;
  #piece: Piece | undefined;
  /** Undefined: the rows are out of date. */
  #descriptor: number | undefined;
  #end = 0;

  /**
   * @param file `manifest.csv`
   * @param invocation number of the run: a job that it has settled may still change
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
      // A disk without room, for example: who writes the manifest says so.
      this.close();
    }
  }

  /** {@link Plan.resolve}, for a run that resolves its cells in order the first time. */
  readonly resolve = (cell: Cell, lookup: RecordLookup): readonly Slot[] => {
    if (this.#descriptor === undefined || cell.number <= this.#last) return this.#plan.resolve(cell, lookup);
    this.#last = cell.number;
    const read: string[] = [];
    const noting: RecordLookup = (key) => {
      read.push(key);
      return lookup(key);
    };
    const slots = this.#plan.resolve(cell, noting);
    const { listed } = listedSlots(slots, everyStep, noting);
    if (cell.number > 0xffff_ffff) this.close();
    else if (slots.every((slot) => this.#isSettled(slot))) {
      for (const key of read) this.#read.add(key);
      const piece = (this.#piece ??= { from: cell.number, to: cell.number, cells: 0 });
      piece.to = cell.number;
      piece.cells += 1;
      for (const row of cellRows(cell, listed, this.#first)) this.text.add(row);
      if (this.text.isFull) this.#write();
    } else {
      this.#write();
      for (const { slot } of listed)
        if (slot.record !== undefined && this.#first.add(slot.record.key, cell.number)) this.#promised += 1;
    }
    return slots;
  };

  /** Jobs have changed. */
  note(records: readonly JobRecord[]): void {
    if (this.#descriptor !== undefined && records.some(({ key }) => this.#read.has(key))) this.close();
  }

  /** @throws OutOfDate for a job whose first row was taken to be in a later cell */
  readonly listedJobs: ListedJobs = {
    add: (key, cell) => {
      const first = this.#first.numberOf(key);
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
   * The manifest of the whole plan in order: rows as text, and between them groups of cells whose rows are to be made, with {@link listedJobs}
   * and before the next part is asked for.
   *
   * @param cells of the plan, all of them
   * @throws OutOfDate
   */
  async *parts(
    cells: AsyncIterable<Cell>,
    size: number,
  ): AsyncGenerator<{ readonly rows: Buffer } | { readonly cells: readonly Cell[] }> {
    this.#write();
    // Rows that were counted may not be in the file.
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

  /** From now on its rows are out of date. */
  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  #isSettled(slot: Slot): boolean {
    const { status, record } = slot;
    if ((status !== 'done' && status !== 'skipped') || !isFinal(slot)) return false;
    if (record === undefined) return true;
    const isOver = record.status === 'done' || record.status === 'failed';
    return isOver && record.invocation !== this.#invocation && !this.#isOrdered(record.key);
  }

  /** Writes the rows of the settled cells that were resolved last. */
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
