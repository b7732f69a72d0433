/** A text parsed as JSON. */
export interface JsonReading {
  readonly value: unknown;
  /** The JSON text itself: the whole text, the content of its only code fence, or the part that the lenient reader extracted. */
  readonly text: string;
  /** Names of what the lenient reader skipped or repaired. Absent where the text is JSON, alone or in one code fence. */
  readonly passed?: readonly string[];
}

/**
 * Parses a text that was requested as JSON. Strictly, the text is JSON, alone or in one code fence. The lenient reader extracts the only
 * value in it: after thinking, among sentences, with trailing commas, raw control characters in strings, or a byte order mark. It never
 * adds a missing bracket, and ignores whatever the model marked as thinking.
 *
 * @param fits whether a value is the requested one; a value that is the only one is returned in any case
 * @returns undefined where the text has no value, or several that fit
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

/** Content of a text that is one code fence. The search starts at both ends of the text. */
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

/** The word in {@link JsonReading.passed} for other text around the value. */
export const textAround = 'text around it';

/** Limit on JSON values and thinking marks in a text; a text with more is not read as an answer with some words around it. */
const maxValues = 100;

function readLeniently(said: string, fits: (value: unknown) => boolean): JsonReading | undefined {
  const text = said.replace(/^\uFEFF/, '');
  const passed = text === said ? [] : ['a byte order mark'];
  const found = valuesIn(text);
  if (found === undefined) return undefined;
  const { values, thinking, start } = found;
  if (thinking) passed.push('thinking');
  const rest = text.slice(start);
  // A number, word or string counts only where it is the whole text, not within a sentence.
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
 * The top-level objects and lists of a text outside thinking, in order. Undefined where a bracket is never closed: the text may be
 * truncated.
 */
function valuesIn(text: string):
  | {
      readonly values: readonly (Mended & { readonly start: number; readonly end: number })[];
      readonly thinking: boolean;
      /** Offset of the end of the thinking. */
      readonly start: number;
    }
  | undefined {
  let values: (Mended & { readonly start: number; readonly end: number })[] = [];
  let start = 0;
  let seen = 0;
  // Sticky, so that brackets and tags are found one after another, and never inside a value.
  const marks = /[{[]|<(\/?)think(?:ing)?>/gi;
  for (let mark = marks.exec(text); mark !== null; mark = marks.exec(text)) {
    if (++seen > maxValues) return undefined;
    const [tag, slash] = mark;
    if (tag.startsWith('<')) {
      if (slash === '') {
        const end = closingTag(text, marks.lastIndex);
        if (end === undefined) return undefined;
        marks.lastIndex = end;
        // Thinking after a value does not change the value.
        if (values.length > 0) continue;
      } else values = [];
      // Only a closing tag: the request contained the opening tag.
      start = marks.lastIndex;
      continue;
    }
    const end = endOfValue(text, mark.index);
    if (end === undefined) {
      // Where the request contained the opening tag of the thinking, brackets in the thinking need not be closed.
      const close = closingTag(text, marks.lastIndex);
      if (close === undefined) return undefined;
      [values, start, marks.lastIndex] = [[], close, close];
      continue;
    }
    const value = mended(text.slice(mark.index, end));
    if (value !== undefined) values.push({ ...value, start: mark.index, end });
    // Text in brackets that is not JSON cannot contain the answer.
    marks.lastIndex = end;
  }
  return { values, thinking: start > 0, start };
}

/** Offset after the next closing tag of thinking; undefined where there is none. */
function closingTag(text: string, from: number): number | undefined {
  const tag = /<\/think(?:ing)?>/gi;
  tag.lastIndex = from;
  return tag.exec(text) === null ? undefined : tag.lastIndex;
}

/** Offset after the bracket that closes the one at `start`; undefined where none does. */
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

function endOfText(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    if (text[i] === '\\') i += 1;
    else if (text[i] === '"') return i;
  }
  return text.length;
}

/** Parses a value as it is; if that fails, without trailing commas and with raw control characters in its strings escaped. */
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

/** The next character after an offset that is not white space; empty at the end. */
function nextOf(text: string, place: number): string {
  let next = place + 1;
  while (/\s/.test(text[next] ?? '')) next += 1;
  return text[next] ?? '';
}

// Control characters, which JSON does not allow in a string (RFC 8259 7).
const controls = /[^ -\u{10ffff}]/gu;

const escape = (character: string): string =>
  `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;
