/** The JSON of a text. */
export interface JsonReading {
  readonly value: unknown;
  /** The text that is JSON: the whole, what stands in its one fence, or what a lenient reading made of it. */
  readonly text: string;
  /** What a lenient reading passed over or mended, in words. Absent: the text is JSON, alone or in one fence. */
  readonly passed?: readonly string[];
}

/**
 * Reads a text that was asked for as JSON. A text that is JSON, alone or in one fence, reads as it always did. A lenient reading takes
 * the one value that stands in it: after thinking, among sentences, with trailing commas, raw control characters in strings, a byte
 * order mark. It closes no bracket and takes nothing that the model wrote as thinking.
 *
 * @param fits tells the value that was asked for from others; where it is the only value, it is read even if it does not fit
 * @returns undefined where there is none, or more than one that fits
 */
export function readJson(
  said: string,
  isLenient: boolean,
  fits: (value: unknown) => boolean,
): JsonReading | undefined {
  const inner = fenced(said);
  for (const text of inner === undefined ? [said] : [said, inner]) {
    const value = parsed(text);
    if (value !== undefined) return { value: value.json, text };
  }
  return isLenient ? readLeniently(said, fits) : undefined;
}

function parsed(text: string): { readonly json: unknown } | undefined {
  try {
    return { json: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

const opening = /^```(?:json)?[ \t]*\r?\n/i;
const closing = '```';

/** The content of a text that is one fence; the search for the fence starts at both ends of the text. */
function fenced(text: string): string | undefined {
  const block = text.trim();
  const start = opening.exec(block)?.[0].length;
  if (start === undefined || !block.endsWith(closing) || block.length < start + closing.length)
    return undefined;
  let end = block.length - closing.length;
  const drop = (character: string): boolean => {
    const isThere = end > start && block[end - 1] === character;
    if (isThere) end -= 1;
    return isThere;
  };
  while (drop(' ') || drop('\t'));
  drop('\n');
  drop('\r');
  return block.slice(start, end);
}

/** Says in {@link JsonReading.passed} that the value stood among other words. */
export const textAround = 'text around it';

/** A text with more values, or mentions of thinking, than this is no answer with some words around it. */
const mostValues = 100;

function readLeniently(said: string, fits: (value: unknown) => boolean): JsonReading | undefined {
  const text = said.replace(/^\uFEFF/, '');
  const passed = text === said ? [] : ['a byte order mark'];
  const found = valuesIn(text);
  if (found === undefined) return undefined;
  const { values, thinking, start } = found;
  if (thinking) passed.push('thinking');
  const rest = text.slice(start);
  // A number, a word or a text stands alone: in a sentence it is no value.
  const bare = values.length === 0 ? mended((fenced(rest) ?? rest).trim()) : undefined;
  if (bare !== undefined)
    return {
      ...bare,
      passed: [...passed, ...(fenced(rest) === undefined ? [] : ['a code fence']), ...bare.mends],
    };
  const fitting = values.filter(({ value }) => fits(value));
  const one = fitting.length === 0 && values.length === 1 ? values[0] : fitting[0];
  if (one === undefined || fitting.length > 1) return undefined;
  const around = [text.slice(start, one.start), text.slice(one.end)].map((words) => words.trim());
  if (around.some((words) => words.includes(closing))) passed.push('a code fence');
  if (around.some((words) => words.replace(/^```\w*|```\w*$/g, '').trim() !== '')) passed.push(textAround);
  return { value: one.value, text: one.text, passed: [...passed, ...one.mends] };
}

interface Mended {
  readonly value: unknown;
  readonly text: string;
  readonly mends: readonly string[];
}

/**
 * The objects and lists that stand in a text outside thinking, in order, none of them within another. Undefined where a bracket is
 * never closed: the text may be cut.
 */
function valuesIn(text: string):
  | {
      readonly values: readonly (Mended & { readonly start: number; readonly end: number })[];
      readonly thinking: boolean;
      /** Where the thinking ends. */
      readonly start: number;
    }
  | undefined {
  let values: (Mended & { readonly start: number; readonly end: number })[] = [];
  let start = 0;
  let seen = 0;
  // Sticky, so that brackets and tags are found one after the other, and never within a value.
  const marks = /[{[]|<(\/?)think(?:ing)?>/gi;
  for (let mark = marks.exec(text); mark !== null; mark = marks.exec(text)) {
    if (++seen > mostValues) return undefined;
    const [tag, slash] = mark;
    if (tag.startsWith('<')) {
      if (slash === '') {
        const end = closingTag(text, marks.lastIndex);
        if (end === undefined) return undefined;
        marks.lastIndex = end;
        // Thinking behind a value says nothing about it.
        if (values.length > 0) continue;
      } else values = [];
      // A tag that only closes: the request had opened it.
      start = marks.lastIndex;
      continue;
    }
    const end = endOfValue(text, mark.index);
    if (end === undefined) {
      // In thinking whose beginning the request had written, brackets need not be closed.
      const close = closingTag(text, marks.lastIndex);
      if (close === undefined) return undefined;
      [values, start, marks.lastIndex] = [[], close, close];
      continue;
    }
    const value = mended(text.slice(mark.index, end));
    if (value !== undefined) values.push({ ...value, start: mark.index, end });
    // What is in brackets and is no JSON holds no answer either.
    marks.lastIndex = end;
  }
  return { values, thinking: start > 0, start };
}

/** Where the next tag ends that closes thinking; undefined: there is none. */
function closingTag(text: string, from: number): number | undefined {
  const tag = /<\/think(?:ing)?>/gi;
  tag.lastIndex = from;
  return tag.exec(text) === null ? undefined : tag.lastIndex;
}

/** Where the bracket at `start` is closed; undefined: nowhere. */
function endOfValue(text: string, start: number): number | undefined {
  const open: string[] = [];
  for (let i = start; i < text.length; i++) {
    const character = text[i] as string;
    if (character === '"') {
      i = endOfText(text, i);
    } else if (character === '{' || character === '[') {
      open.push(character === '{' ? '}' : ']');
    } else if (character === '}' || character === ']') {
      if (open.pop() !== character) return undefined;
      if (open.length === 0) return i + 1;
    }
  }
  return undefined;
}

/** The quotation mark that closes the one at `start`, or the end of the text. */
function endOfText(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    if (text[i] === '\\') i += 1;
    else if (text[i] === '"') return i;
  }
  return text.length;
}

/** A value as it stands; else without trailing commas, and with raw control characters in its strings escaped. */
function mended(text: string): Mended | undefined {
  const strict = parsed(text);
  if (strict !== undefined) return { value: strict.json, text, mends: [] };
  const pieces: string[] = [];
  const mends = new Set<string>();
  let before = '';
  for (let i = 0; i < text.length; i++) {
    const character = text[i] as string;
    if (character === '"') {
      const end = endOfText(text, i) + 1;
      const written = text.slice(i, end);
      const escaped = written.replace(controls, escape);
      if (escaped !== written) mends.add('raw control characters');
      pieces.push(escaped);
      i = end - 1;
    } else if (character === ',' && !/[[{,]/.test(before) && /[\]}]/.test(nextOf(text, i))) {
      mends.add('trailing commas');
      continue;
    } else pieces.push(character);
    if (character.trim() !== '') before = character;
  }
  const json = pieces.join('');
  const value = parsed(json);
  return value === undefined ? undefined : { value: value.json, text: json, mends: [...mends] };
}

/** What follows a place, blanks aside; empty at the end. */
function nextOf(text: string, place: number): string {
  let next = place + 1;
  while (/\s/.test(text[next] ?? '')) next += 1;
  return text[next] ?? '';
}

// JSON takes none of them in a string (RFC 8259 7).
const controls = /[^ -\u{10ffff}]/gu;

const escape = (character: string): string =>
  `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;
