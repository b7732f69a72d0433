import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { manifestColumns } from '../../manifest/columns.ts';
import { readFlags } from '../../state/files/plain-file.ts';

/** A row of a manifest that was written before. */
export interface OldRow {
  /** With its line end. */
  readonly text: string;
  readonly cell: number;
  readonly fields: readonly string[];
}

/** The manifest cannot be copied from. */
export class NotReusable extends Error {}

/** How much is read at a time. */
const stride = 1_048_576;

const cellColumn = manifestColumns.indexOf('cell');

/**
 * The rows of a manifest, one after another, below its header.
 *
 * @throws NotReusable where the text is not what promptpress writes, or has another header; the error of the file system
 */
export function* oldRows(file: string, header: string): Generator<OldRow> {
  let isFirst = true;
  for (const text of linesOf(file)) {
    if (isFirst) {
      if (text !== header) throw new NotReusable('The manifest has other columns.');
      isFirst = false;
      continue;
    }
    const fields = fieldsOf(text);
    const cell = Number(fields[cellColumn]);
    if (!Number.isSafeInteger(cell) || cell < 1) throw new NotReusable('A row of the manifest has no cell.');
    yield { text, cell, fields };
  }
}

/** Lines of RFC 4180 with their ends; a line break within quotes does not end one. */
function* linesOf(file: string): Generator<string> {
  const descriptor = openSync(file, readFlags);
  try {
    if (!fstatSync(descriptor).isFile()) throw new NotReusable('The manifest is no file.');
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    const buffer = Buffer.allocUnsafe(stride);
    let left = '';
    for (let read = -1; read !== 0; ) {
      read = readSync(descriptor, buffer, 0, stride, null);
      const text = left + decoder.decode(buffer.subarray(0, read), { stream: read > 0 });
      let from = 0;
      for (;;) {
        const end = lineEnd(text, from);
        if (end < 0) break;
        yield text.slice(from, end);
        from = end;
      }
      left = text.slice(from);
    }
    if (left !== '') throw new NotReusable('The last row of the manifest has no end.');
  } finally {
    closeSync(descriptor);
  }
}

/** Where the line that begins at `from` ends, behind its line end; -1 where it does not end in the text. */
function lineEnd(text: string, from: number): number {
  let quotes = 0;
  let counted = from;
  for (let at = from; ; ) {
    const end = text.indexOf('\r\n', at);
    if (end < 0) return -1;
    for (let quote = text.indexOf('"', counted); quote >= 0 && quote < end; ) {
      quotes += 1;
      counted = quote + 1;
      quote = text.indexOf('"', counted);
    }
    counted = Math.max(counted, end);
    if (quotes % 2 === 0) return end + 2;
    at = end + 2;
  }
}

/** The fields of a line; those in quotes without what quotes them. */
function fieldsOf(line: string): readonly string[] {
  const fields: string[] = [];
  const last = line.length - 2;
  for (let at = 0; at <= last; ) {
    if (line[at] !== '"') {
      const comma = line.indexOf(',', at);
      const end = comma < 0 || comma > last ? last : comma;
      fields.push(line.slice(at, end));
      at = end + 1;
      continue;
    }
    let end = line.indexOf('"', at + 1);
    while (end >= 0 && line[end + 1] === '"') end = line.indexOf('"', end + 2);
    if (end < 0) throw new NotReusable('A quote of the manifest does not end.');
    fields.push(line.slice(at + 1, end).replaceAll('""', '"'));
    at = end + 2;
  }
  return fields;
}
