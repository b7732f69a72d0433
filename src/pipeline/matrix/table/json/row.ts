import { parse } from 'lossless-json';
import { isMapping, type Value, WrittenNumber } from '../../../values/value.ts';
import type { OwnColumns } from '../columns.ts';
import { TableError, type TablePlace, tableLimits } from '../error.ts';
import type { TableRow } from '../table.ts';

/** The text of one row and its position in the table; lines and columns count from 1. */
export interface RowText {
  readonly text: string;
  readonly line: number;
  readonly column: number;
}

/** Parses a row that is a JSON object. @throws TableError */
export function jsonRow(row: RowText, own: OwnColumns): TableRow {
  const { line } = row;
  const value = parseRow(row);
  if (!isMapping(value)) {
    const message = `Line ${line} is JSON, but not an object such as {"scene": "…"}.`;
    const hint = 'For a list of objects, use the ending .json.';
    const place = placeIn(row, 0);
    throw new TableError('table.not-object', message, Array.isArray(value) ? { ...place, hint } : place);
  }
  if (isDeeperThan(tableLimits.depth, value)) {
    throw new TableError('table.syntax', `Line ${line} is nested more than ${tableLimits.depth} deep.`, line);
  }
  return own.row(value, line, placeIn(row, 0).sourceLine);
}

/** Returns the position in the table of an offset into a row's text. */
function placeIn(
  { text, line, column }: RowText,
  offset: number,
): TablePlace & { readonly sourceLine: string } {
  const before = text.slice(0, offset).split('\n');
  const start = offset - (before.at(-1) as string).length;
  const end = text.indexOf('\n', start);
  const shown = text.slice(start, end < 0 ? undefined : Math.min(end, start + 1000)).slice(0, 1000);
  // Other rows may precede the row on its first line.
  const indent = before.length === 1 ? column - 1 : 0;
  return {
    line: line + before.length - 1,
    column: offset - start + indent + 1,
    sourceLine: `${' '.repeat(Math.min(indent, 1000))}${shown}`,
  };
}

/** Whether a value nests deeper than `most`. Later readers of the value call themselves once per level. */
function isDeeperThan(most: number, value: Value): boolean {
  if (typeof value !== 'object' || value === null || value instanceof WrittenNumber) return false;
  return most === 0 || Object.values(value).some((member: Value) => isDeeperThan(most - 1, member));
}

function parseRow(row: RowText): Value {
  const { text, line } = row;
  if (/__proto__|\\u005f/i.test(text)) refuseProto(row);
  try {
    return parse(text, null, {
      parseNumber: writtenNumber,
      onDuplicateKey({ key, position }) {
        // The position of the name, after its quote.
        const place = placeIn(row, Math.max(0, position - 1));
        const message = `On line ${place.line} the member "${key}" occurs twice.`;
        throw new TableError('table.duplicate-column', message, place);
      },
    }) as Value;
  } catch (error) {
    if (error instanceof TableError) throw error;
    if (error instanceof RangeError) {
      throw new TableError('table.syntax', `Line ${line} is nested too deeply.`, line, { cause: error });
    }
    if (!(error instanceof SyntaxError)) throw error;
    const at = /position (\d+)/.exec(error.message)?.[1];
    const place = placeIn(row, at === undefined ? 0 : Math.min(Number(at), text.length));
    const reason = error.message.replace(/ at position \d+$/, '');
    const isComma = at !== undefined && text.slice(Number(at)).trim() === ',';
    const message = isComma
      ? `Line ${place.line} has a comma after its object.`
      : `Line ${place.line} is not valid JSON: ${reason}.`;
    const hint = isComma
      ? 'Remove the comma: each line is a separate object.'
      : 'Put names and texts in double quotes, and a comma between two members, but none after the last.';
    throw new TableError('table.syntax', message, { ...place, hint }, { cause: error });
  }
}

/** Refuses a member named `__proto__`: the parser assigns members, so it would become the row's prototype. */
function refuseProto(row: RowText): void {
  const { text, line } = row;
  let found = false;
  try {
    JSON.parse(text, (key, value: unknown) => {
      if (key === '__proto__') found = true;
      return value;
    });
  } catch {
    // The text is not JSON; the parser reports the position.
  }
  if (found) {
    const message = `On line ${line} a member is named "__proto__"; rename it.`;
    throw new TableError('table.column-name', message, placeIn(row, 0));
  }
}

function writtenNumber(source: string): number | WrittenNumber {
  const value = Number(source);
  return String(value) === source ? value : new WrittenNumber(source, value);
}
