import { parse, stringify } from 'lossless-json';
import { isLongInteger, isLongSource, type Value, WrittenNumber } from './value.ts';

/** Matches numbers that may lose digits when they are read or written; few texts contain any. */
const longNumber = /[:[,]\s*-?(?:\d{16}|\d(?:\.\d+)?e\+)|^-?\d{16}/;

const longIntegers = { test: isLongInteger, stringify: String };

/** Writes JSON with long integers, which JavaScript's numbers cannot hold, as they were written. */
export function exactJson(value: unknown, space?: number): string {
  const text = JSON.stringify(value, undefined, space);
  return longNumber.test(text) ? (stringify(value, undefined, space, [longIntegers]) ?? text) : text;
}

/**
 * Parses JSON like JSON.parse, except that integers too long for a number become written numbers.
 *
 * @throws SyntaxError
 */
export function parseExact(text: string): unknown {
  // The lossless parser assigns members, so a member of this name would become a prototype.
  if (!longNumber.test(text) || /__proto__|\\u00[5-7]/i.test(text)) return JSON.parse(text);
  return parse(text, null, { parseNumber: exactNumber, onDuplicateKey: ({ newValue }) => newValue });
}

function exactNumber(source: string): number | WrittenNumber {
  const value = Number(source);
  return isLongSource(source, value) ? new WrittenNumber(source, value) : value;
}

/** Replaces other representations of long integers by written numbers; returns the value itself if there are none. */
export function withWrittenNumbers<T>(value: T): T {
  return holdsLongInteger(value) ? (replaced(value as Value) as T) : value;
}

/** Whether a value contains a long integer. Few do, and this check copies nothing. */
function holdsLongInteger(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || value instanceof WrittenNumber) return false;
  if (Array.isArray(value)) return value.some(holdsLongInteger);
  if (isLongInteger(value)) return true;
  for (const name in value)
    if (holdsLongInteger((value as Readonly<Record<string, unknown>>)[name])) return true;
  return false;
}

function replaced(value: Value): Value {
  if (typeof value !== 'object' || value === null || value instanceof WrittenNumber) return value;
  if (isLongInteger(value)) return exactNumber(String(value));
  if (Array.isArray(value)) return (value as readonly Value[]).map(replaced);
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, replaced(item)]));
}
