import { parse, stringify } from 'lossless-json';

/** Deepest nesting of an answer: real ones have five levels. */
const maxDepth = 64;

// The longest integer that certainly fits into a double has 15 digits.
const bareLongInteger = /[:[,]\s*-?\d{16}/;

/**
 * Parses JSON without rounding: integers beyond 2^53 become bigints (gateway 3.4, task ids). Of equal keys the last one counts, as in
 * JSON.parse. Throws a SyntaxError for text that is not JSON or nests too deeply.
 */
export function parseJson(text: string): unknown {
  valuesIn(text);
  if (!bareLongInteger.test(text)) return JSON.parse(text);
  return parse(text, undefined, { parseNumber: readNumber, onDuplicateKey: ({ newValue }) => newValue });
}

/** An integer that a number cannot hold, kept as its digits. `writeJson` writes it unchanged. */
class LongInteger {
  readonly isLongInteger = true;
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }

  toString(): string {
    return this.source;
  }

  /** Returns the rounded number, for `JSON.stringify`. */
  toJSON(): number {
    return Number(this.source);
  }
}

const isLongInteger = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'isLongInteger' in value && value.isLongInteger === true;

/** Whether two values are long integers with the same digits. */
export const isSameInteger = (a: unknown, b: unknown): boolean =>
  isLongInteger(a) && isLongInteger(b) && String(a) === String(b);

const longIntegers = { test: isLongInteger, stringify: String };

// A number in text that JSON.stringify wrote, and that may have lost digits there.
const longNumber = /[:[,]-?(?:\d{16}|\d(?:\.\d+)?e\+)/;

/** Writes JSON text with all digits of long integers, those of pipelines too. */
export function writeJson(value: JsonValue): string {
  const text = JSON.stringify(value);
  return longNumber.test(text) ? (stringify(value, undefined, undefined, [longIntegers]) ?? text) : text;
}

type JsonValue = Readonly<Record<string, unknown>>;

/** Parses JSON as JSON.parse does, but keeps long integers. @throws SyntaxError */
export function parseWithLongIds(text: string): unknown {
  // The lossless parser assigns members, so that `__proto__` would become a prototype.
  if (!bareLongInteger.test(text) || /__proto__|\\u00[5-7]/i.test(text)) return JSON.parse(text);
  return parse(text, undefined, {
    parseNumber: (source) => {
      const number = readNumber(source);
      return typeof number === 'bigint' ? new LongInteger(source) : number;
    },
    onDuplicateKey: ({ newValue }) => newValue,
  });
}

/**
 * Parses JSON as `parseExact` does, into values that can be written as JSON again. Throws a SyntaxError for text that is not JSON,
 * nests too deeply, or has more than about `maxValues` values: each takes a few bytes of text, and many times that in memory.
 */
export function parseBounded(text: string, maxValues = 2_000_000): unknown {
  if (valuesIn(text) > maxValues) throw new SyntaxError(`JSON of more than ${maxValues} values`);
  return parseWithLongIds(text);
}

function readNumber(source: string): number | bigint {
  const number = Number(source);
  // An id has tens of digits; a longer run is not an id, and parsing it as a bigint takes quadratic time.
  const isLongInteger = /^-?\d{16,256}$/.test(source);
  return isLongInteger && !Number.isSafeInteger(number) ? BigInt(source) : number;
}

/** Returns an upper bound of the number of values in valid JSON. Throws a SyntaxError where it nests too deeply. */
export function valuesIn(text: string): number {
  let depth = 0;
  let values = 1;
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case 0x22: // "
        i = endOfString(text, i);
        break;
      case 0x5b: // [
      case 0x7b: // {
        if (++depth > maxDepth) throw new SyntaxError(`JSON nested more than ${maxDepth} levels deep`);
        values++;
        break;
      case 0x2c: // ,
        values++;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth--;
        break;
      default:
    }
  }
  return values;
}

/** Returns the index of the quotation mark that ends the string at `start`, or the length of the text if there is none. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    // An even number of backslashes escape each other.
    let before = end - 1;
    while (text.charCodeAt(before) === 0x5c) before--;
    if ((end - before) % 2 === 1) return end;
  }
  return text.length;
}

/** Reads the object or list at the start of a text and ignores the rest: some gateways join two answers. Undefined: there is none. */
export function firstValue(text: string): unknown {
  const start = text.length - text.trimStart().length;
  let depth = 0;
  for (let i = start; i < text.length; i++) {
    const character = text[i];
    if (character === '"') i = endOfString(text, i);
    else if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
    if (depth > 0 && i < text.length) continue;
    try {
      return i === start ? undefined : parseJson(text.slice(start, i + 1));
    } catch {
      return undefined;
    }
  }
  return undefined;
}

/** Returns the members of a JSON object, or undefined for any other value. */
export function members(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isLongInteger(value)
    ? (value as Readonly<Record<string, unknown>>)
    : undefined;
}

/** Reads an integer, also one that is written as text. */
export function readInteger(value: unknown): number | undefined {
  if (typeof value === 'string' && /^-?\d{1,9}$/.test(value.trim())) return Number(value);
  return Number.isSafeInteger(value) ? (value as number) : undefined;
}
