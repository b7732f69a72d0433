import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { manifestColumns } from '../../../manifest/columns.ts';
import { readFlags } from '../../../state/files/plain-file.ts';

/** The manifest cannot be copied from. */
export class NotReusable extends Error {}

/** How much is read at a time. */
const stride = 262_144;

const [quote, comma, carriageReturn, lineFeed, zero, nine] = [0x22, 0x2c, 0x0d, 0x0a, 0x30, 0x39];

const cellColumn = manifestColumns.indexOf('cell');

/**
 * The rows of a manifest that was written before, one at a time: the row at hand is read until `next` is called. Its bytes are passed over
 * once and only what is asked for becomes text, because there may be millions of them.
 */
export class OldRows {
  readonly #descriptor: number;
  #bytes: Buffer = Buffer.allocUnsafe(2 * stride);
  /** Where what was read ends. */
  #end = 0;
  #from = 0;
  /** Where the row at hand ends, with its line end. */
  #to = 0;
  /** Where its fields begin; one more, where another field would. */
  readonly #fields = new Int32Array(manifestColumns.length + 1);
  #cell = 0;

  /** @throws NotReusable where the text has another header; the error of the file system */
  constructor(file: string, header: string) {
    this.#descriptor = openSync(file, readFlags);
    try {
      if (!fstatSync(this.#descriptor).isFile()) throw new NotReusable('The manifest is no file.');
      if (!this.#advance() || this.row.toString() !== header)
        throw new NotReusable('The manifest has other columns.');
      this.next();
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** The cell of the row at hand; infinite behind the last row. */
  get cell(): number {
    return this.#cell;
  }

  /** Its bytes, with the line end; they are other ones after `next`. */
  get row(): Buffer {
    return this.#bytes.subarray(this.#from, this.#to);
  }

  /** @throws NotReusable where the text is not what promptpress writes; the error of the file system */
  next(): void {
    this.#cell = this.#advance() ? this.#number(cellColumn) : Number.POSITIVE_INFINITY;
  }

  isEmpty(column: number): boolean {
    return this.#endOf(column) === (this.#fields[column] as number);
  }

  /** A field of the row at hand, without what quotes it. */
  field(column: number): string {
    const from = this.#fields[column] as number;
    const to = this.#endOf(column);
    if (this.#bytes[from] !== quote) return this.#bytes.toString('utf8', from, to);
    return this.#bytes.toString('utf8', from + 1, to - 1).replaceAll('""', '"');
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  #endOf(column: number): number {
    return (this.#fields[column + 1] as number) - 1;
  }

  #number(column: number): number {
    let number = 0;
    const to = this.#endOf(column);
    for (let at = this.#fields[column] as number; at < to; at += 1) {
      const digit = this.#bytes[at] as number;
      if (digit < zero || digit > nine) throw new NotReusable('A row of the manifest has no cell.');
      number = 10 * number + digit - zero;
    }
    if (!Number.isSafeInteger(number) || number < 1)
      throw new NotReusable('A row of the manifest has no cell.');
    return number;
  }

  /** Goes to the next row. @returns false behind the last one */
  #advance(): boolean {
    this.#from = this.#to;
    while (!this.#split()) {
      const left = this.#end - this.#from;
      const room =
        left + stride <= this.#bytes.length ? this.#bytes : Buffer.allocUnsafe(2 * this.#bytes.length);
      this.#bytes.copy(room, 0, this.#from, this.#end);
      this.#bytes = room;
      this.#from = 0;
      this.#end = left;
      const read = readSync(this.#descriptor, this.#bytes, left, stride, null);
      if (read === 0 && left > 0) throw new NotReusable('The last row of the manifest has no end.');
      if (read === 0) return false;
      this.#end += read;
    }
    return true;
  }

  /** Finds the fields of the row that begins at `#from`. @returns false where what was read ends before the row does */
  #split(): boolean {
    const bytes = this.#bytes;
    const end = this.#end;
    const fields = this.#fields;
    const last = fields.length - 1;
    let column = 0;
    fields[0] = this.#from;
    for (let at = this.#from; ; at += 1) {
      if (at < end && bytes[at] === quote) {
        do {
          at += 1;
          while (at < end && bytes[at] !== quote) at += 1;
          at += 1;
        } while (at < end && bytes[at] === quote);
      } else while (at < end && bytes[at] !== comma && bytes[at] !== carriageReturn) at += 1;
      if (at + 1 >= end) return false;
      if (column < last) fields[(column += 1)] = at + 1;
      if (bytes[at] === comma) continue;
      if (bytes[at] !== carriageReturn || bytes[at + 1] !== lineFeed)
        throw new NotReusable('A field of the manifest does not end.');
      if (column < last) throw new NotReusable('A row of the manifest is too short.');
      this.#to = at + 2;
      return true;
    }
  }
}
