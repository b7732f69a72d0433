import { checkUtf8, pieces, sectionLines, type TableSection, tableSections, tooLong } from '../chunks.ts';
import { OwnColumns } from '../columns.ts';
import { type BadRows, TableError, tableLimits } from '../error.ts';
import type { BatchReader, TableBatch, TableRow } from '../table.ts';
import { jsonRow, type RowText } from './row.ts';

/**
 * Reads a JSON list of objects of any length, with one object in memory at a time. Numbers render as written. The first row names the
 * columns; a column missing from a later row is null.
 */
export const jsonBatches: BatchReader = async function* (files, file, bad) {
  const own = new OwnColumns();
  const items = new Items();
  for await (const piece of pieces(files, file)) yield* batchesOf(items.read(piece), own, bad);
  items.end();
};

/**
 * Reads one JSON object per line. Values may nest; numbers render as written, so that an id above 2^53 stays exact. Columns work as in a
 * JSON list. Blank lines are skipped.
 */
export const jsonlBatches: BatchReader = async function* (files, file, bad) {
  const own = new OwnColumns();
  for await (const section of tableSections(files, file, false)) yield* batchesOf(linesOf(section), own, bad);
};

function* linesOf(section: TableSection): Generator<RowText, void, undefined> {
  for (const line of sectionLines(section)) if (line.text.trim() !== '') yield { ...line, column: 1 };
}

/** Yields one batch as soon as the columns are known, and one with all rows. */
function* batchesOf(texts: Iterable<RowText>, own: OwnColumns, bad: BadRows): Generator<TableBatch> {
  const rows: TableRow[] = [];
  for (const text of texts) {
    const isKnown = own.columns !== undefined;
    const row = bad.row(() => jsonRow(text, own));
    if (row !== undefined) rows.push(row);
    if (!isKnown && own.columns !== undefined) yield { columns: own.columns, rows: [] };
  }
  if (own.columns !== undefined) yield { columns: own.columns, rows };
}

const form = '[{ … }, { … }]';
const noComma = 'Write no comma before the first or after the last object.';

const code = (char: string): number => char.charCodeAt(0);
const [open, close, comma, quote, backslash] = ['[', ']', ',', '"', '\\'].map(code);
const [openBrace, closeBrace, newline] = ['{', '}', '\n'].map(code);
const blanks = new Set([' ', '\t', '\r', '\n'].map(code));

/** State of the scanner: before the list, before an item, in an item, or after the list. */
type Place = 'before' | 'start' | 'next' | 'item' | 'behind';

/** Splits the bytes of a JSON list into the texts of its items. The items themselves are checked by their parser. */
class Items {
  #place: Place = 'before';
  #line = 1;
  /** Bytes read of the current line. */
  #column = 0;
  #depth = 0;
  #quoted = false;
  #escaped = false;
  #held: Buffer[] = [];
  #heldBytes = 0;
  #start: { readonly line: number; readonly column: number } = { line: 1, column: 1 };

  *read(piece: Buffer): Generator<RowText, void, undefined> {
    let from = 0;
    for (let at = 0; at < piece.length; at++) {
      const byte = piece[at] as number;
      if (this.#place === 'item') {
        if (this.#endsItem(byte)) {
          yield this.#item(piece.subarray(from, at));
          this.#place = byte === comma ? 'next' : 'behind';
        }
      } else if (!blanks.has(byte)) {
        if (this.#begins(byte)) from = at;
      }
      this.#column++;
      if (byte === newline) {
        this.#line++;
        this.#column = 0;
      }
    }
    if (this.#place !== 'item') return;
    this.#held.push(Buffer.from(piece.subarray(from)));
    this.#heldBytes += piece.length - from;
    if (this.#heldBytes > tableLimits.recordBytes) throw tooLong(this.#start.line);
  }

  /** Checks that the list is complete. @throws TableError if the text ended too early */
  end(): void {
    if (this.#place === 'behind') return;
    if (this.#place === 'before') throw new TableError('table.empty', 'The table is empty.', 1);
    throw this.#error('The list is never closed.', 'End it with ].');
  }

  /** Handles a byte between items that is not blank; true if an item begins with it. */
  #begins(byte: number): boolean {
    switch (this.#place) {
      case 'before':
        if (byte !== open) throw this.#noList(byte);
        this.#place = 'start';
        return false;
      case 'behind':
        throw this.#error('There is text after the end of the list.', `A table is one list: ${form}.`);
      default:
        if (byte === close && this.#place === 'start') {
          this.#place = 'behind';
          return false;
        }
        if (byte === comma || byte === close) throw this.#error('An object is missing here.', noComma);
        this.#begin(byte);
        return true;
    }
  }

  #noList(byte: number): TableError {
    const rule = `A table is a list of objects: ${form}.`;
    const around = 'Remove the object around the list; name a file with an object on each line .jsonl.';
    const hint = byte === openBrace ? `${rule} ${around}` : rule;
    const message = 'The table is not a JSON list of objects.';
    return new TableError('table.not-object', message, { line: this.#line, hint });
  }

  #begin(byte: number): void {
    this.#place = 'item';
    this.#start = { line: this.#line, column: this.#column + 1 };
    this.#depth = 0;
    this.#quoted = false;
    this.#escaped = false;
    this.#endsItem(byte);
  }

  /** Handles a byte of an item; true for the comma or bracket after it. */
  #endsItem(byte: number): boolean {
    if (this.#quoted) {
      if (this.#escaped) this.#escaped = false;
      else if (byte === backslash) this.#escaped = true;
      else if (byte === quote) this.#quoted = false;
      return false;
    }
    if (this.#depth === 0 && (byte === comma || byte === close)) return true;
    if (byte === quote) this.#quoted = true;
    else if (byte === open || byte === openBrace) this.#depth++;
    else if (byte === close || byte === closeBrace) this.#depth--;
    return false;
  }

  #item(rest: Buffer): RowText {
    const bytes = Buffer.concat([...this.#held, rest]);
    this.#held = [];
    this.#heldBytes = 0;
    const { line, column } = this.#start;
    if (bytes.length > tableLimits.recordBytes) throw tooLong(line);
    return { text: checkUtf8(bytes, line).toString('utf8').trimEnd(), line, column };
  }

  #error(message: string, hint: string): TableError {
    return new TableError('table.syntax', `Line ${this.#line}: ${message}`, {
      line: this.#line,
      column: this.#column + 1,
      hint,
    });
  }
}
