import { CsvError, parse } from 'csv-parse/sync';
import { type TableSection, tableSections, tooLong } from './chunks.ts';
import { checkColumns, checkSeparator, textRow } from './columns.ts';
import { TableError } from './error.ts';
import type { BatchReader } from './table.ts';

interface CsvRecord {
  readonly fields: readonly string[];
  /** Line on which the record begins. */
  readonly line: number;
}

const common = {
  record_delimiter: ['\r\n', '\n'],
  relax_column_count: true,
};

/**
 * Reads RFC 4180 with `,` between fields: quoted fields may hold line ends, a quote is doubled, lines end with LF
 * or CRLF, blank lines are skipped, every value is text exactly as it stands.
 */
export const csvBatches: BatchReader = async function* (files, file, bad) {
  let columns: readonly string[] | undefined;
  for await (const section of tableSections(files, file, true)) {
    let holdsHeader = false;
    if (columns === undefined) {
      const header = firstRecord(section);
      if (header === undefined) continue;
      checkSeparator(header.fields, header.line, lineText(section, header.line), 'csv');
      columns = checkColumns(header.fields, header.line);
      holdsHeader = true;
      yield { columns, rows: [] };
    }
    const names = columns;
    const records = names.length === 1 ? singleField(section) : manyFields(section);
    const rows = (holdsHeader ? records.slice(1) : records).flatMap(({ fields, line }) => {
      const sourceLine = (): string => lineText(section, line);
      return (
        bad.row(() =>
          textRow(names, fields, line, { hint: () => hintFor(fields, names.length), sourceLine }),
        ) ?? []
      );
    });
    yield { columns, rows };
  }
};

const hint = 'A field with a comma in it is put in double quotes: "a fox, in snow".';

/** Suggests the row that was probably meant: a comma followed by a space belongs to a sentence. */
function hintFor(fields: readonly string[], columns: number): string {
  if (fields.length < columns)
    return 'Write a comma for each missing field, even if it is empty, or remove the row.';
  const joined: string[] = [];
  for (const field of fields) {
    if (joined.length > 0 && /^ \S/.test(field)) joined.push(`${joined.pop() ?? ''},${field}`);
    else joined.push(field);
  }
  const row = joined.map((field) => (field.includes(',') ? `"${field}"` : field)).join(',');
  if (
    joined.length !== columns ||
    row.includes('""') ||
    fields.some((field) => field.includes('"')) ||
    row.length > 120
  )
    return hint;
  return `A field with a comma in it is put in double quotes: ${row}.`;
}

function lineText({ bytes, line: first }: TableSection, line: number): string {
  let from = 0;
  for (let at = first; at < line; at++) from = bytes.indexOf(0x0a, from) + 1;
  const end = bytes.indexOf(0x0a, from);
  return bytes
    .subarray(from, Math.min(end < 0 ? bytes.length : end, from + 1000))
    .toString('utf8')
    .replace(/\r$/, '');
}

/** Parses the header only, so that an error in a later row does not hide it. */
function firstRecord(section: TableSection): CsvRecord | undefined {
  const [first] = parseSection(section, () => withLines(section, { to: 1 }));
  return first;
}

/** Parses records of two columns or more, in which an empty field is a blank line. Three times as fast as {@link singleField}. */
function manyFields(section: TableSection): CsvRecord[] {
  return parseSection(section, () => {
    const records: CsvRecord[] = [];
    let line = section.line;
    for (const fields of parse(section.bytes, common)) {
      if (fields.length !== 1 || fields[0] !== '') records.push({ fields, line });
      line += 1 + lineEnds(fields);
    }
    return records;
  });
}

/** Parses records of one column: `""` is an empty value, a blank line is skipped, and only the parser can distinguish them. */
function singleField(section: TableSection): CsvRecord[] {
  return parseSection(section, () => withLines(section, {}));
}

function withLines(section: TableSection, more: { to?: number }): CsvRecord[] {
  const parsed = parse(section.bytes, {
    ...common,
    ...more,
    info: true,
    skip_empty_lines: true,
  }) as unknown as {
    record: string[];
    info: { lines: number };
  }[];
  return parsed.map(({ record, info }) => ({
    fields: record,
    line: section.line + info.lines - 1 - lineEnds(record),
  }));
}

function lineEnds(fields: readonly string[]): number {
  let count = 0;
  for (const field of fields) {
    for (let at = field.indexOf('\n'); at >= 0; at = field.indexOf('\n', at + 1)) count++;
  }
  return count;
}

function parseSection<T>(section: TableSection, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    if (section.cut && error.code === 'CSV_QUOTE_NOT_CLOSED') throw tooLong(section.line);
    const line = errorLine(section, error);
    throw new TableError('table.syntax', csvError(error.code, line), line, { cause: error });
  }
}

function errorLine(section: TableSection, error: CsvError): number {
  const { lines, records } = error as { lines?: unknown; records?: unknown };
  if (error.code === 'CSV_QUOTE_NOT_CLOSED' && typeof records === 'number') {
    // The parser noticed only at the very end; the endless record begins after the last complete one.
    const last = records === 0 ? undefined : withLines(section, { to: records }).at(-1);
    return last === undefined ? section.line : last.line + 1 + lineEnds(last.fields);
  }
  return section.line + (typeof lines === 'number' ? lines - 1 : 0);
}

function csvError(code: string, line: number): string {
  switch (code) {
    case 'CSV_QUOTE_NOT_CLOSED':
      return `The record that begins on line ${line} has a quoted field that is never closed.`;
    case 'CSV_INVALID_CLOSING_QUOTE':
      return `On line ${line} there is text between a closing quote and the next comma; double each quote inside a quoted field.`;
    case 'INVALID_OPENING_QUOTE':
      return `On line ${line} there is a quote inside a field that is not quoted; quote the field and double the quote.`;
    default:
      return `Line ${line} is not valid CSV.`;
  }
}
