import { parse } from 'lossless-json';
import type { FilePort } from '../../files.ts';
import { isMapping, type Value, WrittenNumber } from '../../values/value.ts';
import { sectionLines, type TableLine, tableSections } from './chunks.ts';
import { OwnColumns } from './columns.ts';
import { TableError, tableLimits } from './error.ts';
import type { TableBatch, TableRow } from './table.ts';

/**
 * Reads one JSON object per line. Values may nest; numbers render as they are written, so that an id beyond 2^53
 * survives. Every row has the members of the first, in any order. Blank lines are skipped.
 */
export async function* jsonlBatches(
  files: FilePort,
  file: string,
): AsyncGenerator<TableBatch, void, undefined> {
  const own = new OwnColumns();
  for await (const section of tableSections(files, file, false)) {
    const rows: TableRow[] = [];
    for (const line of sectionLines(section)) {
      if (line.text.trim() === '') continue;
      const known = own.columns !== undefined;
      rows.push(jsonRow(line, own));
      if (!known && own.columns !== undefined) yield { columns: own.columns, rows: [] };
    }
    if (own.columns !== undefined) yield { columns: own.columns, rows };
  }
}

function jsonRow({ text, line }: TableLine, own: OwnColumns): TableRow {
  const value = parseLine(text, line);
  if (!isMapping(value)) {
    throw new TableError(
      'table.not-object',
      `Line ${line} is JSON, but not an object such as {"scene": "…"}.`,
      {
        line,
        sourceLine: text,
      },
    );
  }
  if (isDeeperThan(tableLimits.depth, value)) {
    throw new TableError('table.syntax', `Line ${line} is nested more than ${tableLimits.depth} deep.`, {
      line,
    });
  }
  own.check(Object.keys(value), line);
  return { line, values: value };
}

/** What reads a value later calls itself for each level. */
function isDeeperThan(most: number, value: Value): boolean {
  if (typeof value !== 'object' || value === null || value instanceof WrittenNumber) return false;
  return most === 0 || Object.values(value).some((member: Value) => isDeeperThan(most - 1, member));
}

function parseLine(text: string, line: number): Value {
  if (/__proto__|\\u005f/i.test(text)) refuseProto(text, line);
  try {
    return parse(text, null, {
      parseNumber: writtenNumber,
      onDuplicateKey({ key, position }) {
        throw new TableError(
          'table.duplicate-column',
          `On line ${line} the member "${key}" is there twice.`,
          {
            line,
            // The position of the name, after its quote.
            column: position,
            sourceLine: text,
          },
        );
      },
    }) as Value;
  } catch (error) {
    if (error instanceof TableError) throw error;
    if (error instanceof RangeError) {
      throw new TableError('table.syntax', `Line ${line} is nested too deeply.`, { line }, { cause: error });
    }
    if (!(error instanceof SyntaxError)) throw error;
    const at = /position (\d+)/.exec(error.message)?.[1];
    const column = at === undefined ? 1 : Math.min(Number(at), text.length) + 1;
    throw new TableError(
      'table.syntax',
      `Line ${line} is not valid JSON: ${error.message}.`,
      { line, column, sourceLine: text },
      { cause: error },
    );
  }
}

/** The parser assigns members, so that a member of this name would become the row's prototype. */
function refuseProto(text: string, line: number): void {
  let found = false;
  try {
    JSON.parse(text, (key, value: unknown) => {
      if (key === '__proto__') found = true;
      return value;
    });
  } catch {
    // Not JSON: the parser that follows says where.
  }
  if (found) {
    throw new TableError('table.column-name', `On line ${line} a member is named "__proto__"; rename it.`, {
      line,
      sourceLine: text,
    });
  }
}

function writtenNumber(source: string): number | WrittenNumber {
  const value = Number(source);
  return String(value) === source ? value : new WrittenNumber(source, value);
}
