import { isUtf8 } from 'node:buffer';
import type { FilePort } from '../../files.ts';
import { TableError, tableLimits } from './error.ts';

const newline = 0x0a;
const quote = 0x22;
const pieceBytes = 64 * 1024;

interface RecordEnd {
  /** Offset of the line end that ends the last whole record; -1 if there is none. */
  readonly at: number;
  /** Whether the piece ends inside quotes. */
  readonly inside: boolean;
}

/** Whole records of a table, as valid UTF-8. */
export interface TableSection {
  readonly bytes: Buffer;
  /** Line of the table on which the section begins. */
  readonly line: number;
  /** Set if the section is only the beginning of a record that is too long. */
  readonly cut?: true;
}

/**
 * Cuts a table into sections that end at the end of a record, so that each can be parsed separately and memory stays constant. With
 * `quoted`, a line end inside double quotes does not end a record (RFC 4180).
 *
 * @throws TableError `table.unreadable` | `table.encoding` | `table.too-long`
 */
export async function* tableSections(
  files: FilePort,
  file: string,
  quoted: boolean,
): AsyncGenerator<TableSection, void, undefined> {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  let insideQuotes = false;
  let line = 1;
  for await (const piece of pieces(files, file)) {
    const end: RecordEnd = quoted
      ? lastRecordEnd(piece, insideQuotes)
      : { at: piece.lastIndexOf(newline), inside: false };
    insideQuotes = end.inside;
    if (end.at < 0) {
      pending.push(piece);
      pendingBytes += piece.length;
    } else {
      const bytes = Buffer.concat([...pending, piece.subarray(0, end.at + 1)]);
      yield { bytes: checkUtf8(bytes, line), line };
      line += countLines(bytes);
      pending = [piece.subarray(end.at + 1)];
      pendingBytes = piece.length - end.at - 1;
    }
    if (pendingBytes > tableLimits.recordBytes) {
      // In a quoted table a stray quote swallows everything after it; the parser can report its position.
      if (quoted) yield { bytes: checkUtf8(Buffer.concat(pending), line), line, cut: true };
      throw tooLong(line);
    }
  }
  if (pendingBytes > 0) yield { bytes: checkUtf8(Buffer.concat(pending), line), line };
}

/** Returns the error for a record longer than {@link tableLimits} allows. */
export function tooLong(line: number): TableError {
  const message = `The record that begins on line ${line} is longer than ${tableLimits.recordBytes} bytes; the file may have another format than its ending says.`;
  return new TableError('table.too-long', message, line);
}

/** Reads a file in small chunks of bounded size, without its byte order mark. */
export async function* pieces(files: FilePort, file: string): AsyncGenerator<Buffer, void, undefined> {
  let head: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of chunks(files, file)) {
    let bytes: Buffer = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    if (head !== undefined) {
      head = Buffer.concat([head, bytes]);
      if (head.length < 3) continue;
      bytes = withoutMark(head);
      head = undefined;
    }
    for (let from = 0; from < bytes.length; from += pieceBytes) yield bytes.subarray(from, from + pieceBytes);
  }
  if (head !== undefined && head.length > 0) yield withoutMark(head);
}

async function* chunks(files: FilePort, file: string): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* files.read(file);
  } catch (error) {
    if (error instanceof TableError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new TableError('table.unreadable', `The table cannot be read: ${reason}.`, 1, { cause: error });
  }
}

function withoutMark(bytes: Buffer): Buffer {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return bytes.subarray(3);
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)) {
    throw new TableError('table.encoding', 'The table is UTF-16; save it as UTF-8.', 1);
  }
  return bytes;
}

/** Returns the bytes unchanged if they are UTF-8. @throws TableError `table.encoding` with the wrong line */
export function checkUtf8(bytes: Buffer, line: number): Buffer {
  if (isUtf8(bytes)) return bytes;
  let from = 0;
  let at = line;
  while (from < bytes.length) {
    const end = bytes.indexOf(newline, from);
    const stop = end < 0 ? bytes.length : end + 1;
    // A line end is never part of a longer character, so one of the lines must be wrong.
    if (!isUtf8(bytes.subarray(from, stop))) break;
    from = stop;
    at++;
  }
  throw new TableError('table.encoding', `Line ${at} is not UTF-8; save the table as UTF-8.`, at);
}

function countLines(bytes: Buffer): number {
  let lines = 0;
  for (let at = bytes.indexOf(newline); at >= 0; at = bytes.indexOf(newline, at + 1)) lines++;
  return lines;
}

/** Finds the last line end outside quotes. A doubled quote leaves and enters the quotes, which has the same effect. */
function lastRecordEnd(piece: Buffer, startsInside: boolean): RecordEnd {
  let inside = startsInside;
  const quotes: number[] = [];
  for (let at = piece.indexOf(quote); at >= 0; at = piece.indexOf(quote, at + 1)) {
    quotes.push(at);
    inside = !inside;
  }
  let gapInside = inside;
  let stop = piece.length;
  for (let gap = quotes.length; gap >= 0; gap--) {
    const start = gap === 0 ? 0 : (quotes[gap - 1] as number) + 1;
    if (!gapInside) {
      const at = piece.subarray(start, stop).lastIndexOf(newline);
      if (at >= 0) return { at: start + at, inside };
    }
    gapInside = !gapInside;
    stop = start - 1;
  }
  return { at: -1, inside };
}

/** A line of a table without its line end. */
export interface TableLine {
  readonly text: string;
  readonly line: number;
}

/** Yields the lines of a section that are not blank. @throws TableError `table.too-long` */
export function* sectionLines(section: TableSection): Generator<TableLine, void, undefined> {
  const { bytes } = section;
  let { line } = section;
  for (let from = 0; from < bytes.length; line++) {
    const end = bytes.indexOf(0x0a, from);
    const next = end < 0 ? bytes.length : end + 1;
    let stop = end < 0 ? bytes.length : end;
    if (stop > from && bytes[stop - 1] === 0x0d) stop--;
    if (stop - from > tableLimits.recordBytes) throw tooLong(line);
    // Each line is copied: a slice would keep the text of the whole section in memory.
    if (stop > from) yield { text: bytes.toString('utf8', from, stop), line };
    from = next;
  }
}
