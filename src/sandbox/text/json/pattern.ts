import type { Random } from '../../draw/canvas/random.ts';

/** Writes a text that matches a part of a pattern. */
type Part = (writing: Writing) => string;

/** The state of a text that is written: its repetitions beyond the least, and the number of parts that it may still have. */
interface Writing {
  readonly random: Random;
  readonly extra: number;
  left: number;
}

const maxRepeats = 2_000;

/** Largest number of parts of one text, a bound for nested repeats. */
const maxParts = 20_000;

const longestPattern = 1_000;

const charactersBetween = (from: number, to: number): readonly string[] =>
  Array.from({ length: Math.min(to - from + 1, 200) }, (_, index) => String.fromCodePoint(from + index));

const printable = charactersBetween(0x20, 0x7e);
const digits = charactersBetween(0x30, 0x39);
const words = [...charactersBetween(0x61, 0x7a), ...charactersBetween(0x41, 0x5a), ...digits, '_'];
const without = (characters: readonly string[]): readonly string[] =>
  printable.filter((one) => !characters.includes(one));
const escapes = new Map<string, readonly string[]>([
  ['d', digits],
  ['D', without(digits)],
  ['w', words],
  ['W', without(words)],
  ['s', [' ']],
  ['S', printable.slice(1)],
  ['b', []],
  ['B', []],
  ['n', ['\n']],
  ['t', ['\t']],
  ['r', ['\r']],
]);

const bounded =
  (write: Part): Part =>
  (writing) => {
    writing.left -= 1;
    return writing.left < 0 ? '' : write(writing);
  };
const setOf = (characters: readonly string[]): Part =>
  bounded(({ random }) => (characters.length === 0 ? '' : random.pick(characters)));
const sequenceOf = (parts: readonly Part[]): Part =>
  bounded((writing) => parts.map((part) => part(writing)).join(''));
const choiceOf = (choices: readonly Part[]): Part =>
  bounded((writing) => writing.random.pick(choices)(writing));
const nothing = sequenceOf([]);

function repeated(part: Part, least: number, limit: number): Part {
  return bounded((writing) => {
    const { random, extra } = writing;
    const most = Math.min(limit, least + extra, Math.max(least, maxRepeats));
    const count = Math.min(random.int(Math.min(least + Math.floor(extra / 2), most), most), maxRepeats);
    let text = '';
    for (let made = 0; made < count && writing.left > 0; made += 1) text += part(writing);
    return text;
  });
}

/**
 * Writes a text for a regular expression, with at most `extra` repetitions beyond the least. Anchors and look-around are ignored, so the
 * text may not match. Returns undefined for a pattern that it cannot read.
 */
export function textMatching(source: string, random: Random, extra: number): string | undefined {
  if (source.length > longestPattern) return undefined;
  return new PatternReader(source).read()?.({ random, extra, left: maxParts });
}

/** Reads the common part of ECMAScript's regular expressions. */
class PatternReader {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  read(): Part | undefined {
    const node = this.#choice();
    return this.#at === this.#source.length ? node : undefined;
  }

  #choice(): Part {
    const choices = [this.#sequence()];
    while (this.#take('|')) choices.push(this.#sequence());
    return choices.length === 1 ? (choices[0] ?? nothing) : choiceOf(choices);
  }

  #sequence(): Part {
    const parts: Part[] = [];
    while (this.#at < this.#source.length && !['|', ')'].includes(this.#peek())) {
      parts.push(this.#quantified(this.#atom()));
    }
    return sequenceOf(parts);
  }

  #atom(): Part {
    const character = this.#next();
    switch (character) {
      case '^':
      case '$':
        return nothing;
      case '.':
        return setOf(printable);
      case '(':
        return this.#group();
      case '[':
        return this.#class();
      case '\\':
        return setOf(this.#escape());
      default:
        return setOf([character]);
    }
  }

  #group(): Part {
    const [intro = ''] = /^\?(?:<?[=!]|:|<\w+>)/.exec(this.#source.slice(this.#at)) ?? [];
    this.#at += intro.length;
    const node = this.#choice();
    if (!this.#take(')')) this.#at = this.#source.length + 1;
    return /[=!]$/.test(intro) ? nothing : node;
  }

  #class(): Part {
    const negated = this.#take('^');
    const characters = new Set<string>();
    while (this.#at < this.#source.length && this.#peek() !== ']') {
      const first = this.#classMember();
      const [low] = first;
      if (first.length === 1 && low !== undefined && this.#peek() === '-' && this.#peek(1) !== ']') {
        this.#at += 1;
        const [high = low] = this.#classMember();
        for (const one of charactersBetween(low.codePointAt(0) ?? 0, high.codePointAt(0) ?? 0))
          characters.add(one);
      } else {
        for (const one of first) characters.add(one);
      }
    }
    this.#at += 1;
    return setOf(negated ? without([...characters]) : [...characters]);
  }

  #classMember(): readonly string[] {
    const character = this.#next();
    return character === '\\' ? this.#escape() : [character];
  }

  #escape(): readonly string[] {
    const character = this.#next();
    if (character === 'p') return this.#property();
    const length = { u: 4, x: 2 }[character];
    if (length === undefined) return escapes.get(character) ?? [character];
    const hex = this.#source.slice(this.#at, this.#at + length);
    if (!/^[0-9a-f]+$/i.test(hex) || hex.length < length) return [character];
    this.#at += length;
    return [String.fromCodePoint(Number.parseInt(hex, 16))];
  }

  /** Returns common members of a Unicode property. */
  #property(): readonly string[] {
    const [all = '', name = ''] = /^\{([^}]*)\}/.exec(this.#source.slice(this.#at)) ?? [];
    this.#at += all.length;
    if (/^(N|Nd)$/.test(name)) return digits;
    if (/^(Lu|Uppercase)/.test(name)) return charactersBetween(0x41, 0x5a);
    return charactersBetween(0x61, 0x7a);
  }

  #quantified(part: Part): Part {
    const rest = this.#source.slice(this.#at, this.#at + 24);
    const [all, sign, from, comma, to] = /^(?:([*+?])|\{(\d{1,6})(,?)(\d{0,6})\})\??/.exec(rest) ?? [];
    if (all === undefined) return part;
    this.#at += all.length;
    const open = Number.POSITIVE_INFINITY;
    if (sign !== undefined) return repeated(part, sign === '+' ? 1 : 0, sign === '?' ? 1 : open);
    const least = Number(from);
    const most = comma === '' ? least : to === '' ? open : Number(to);
    return repeated(part, least, most);
  }

  #peek(ahead = 0): string {
    return this.#source.charAt(this.#at + ahead);
  }

  #next(): string {
    const character = String.fromCodePoint(this.#source.codePointAt(this.#at) ?? 0);
    this.#at += character.length;
    return character;
  }

  #take(character: string): boolean {
    if (this.#peek() !== character) return false;
    this.#at += 1;
    return true;
  }
}

/** Largest number of steps of one match, because patterns come from clients and must not block the service. */
const maxSteps = 2 ** 26;

/** Longest text that is matched with a repeated group, which may double the steps with each character. */
const longestForGroups = 16;

/** Returns a test for a pattern of a schema, or undefined for an invalid one. A text that would take too many steps passes. */
export function patternTest(source: string): ((text: string) => boolean) | undefined {
  if (source.length > longestPattern) return undefined;
  let pattern: RegExp;
  try {
    pattern = new RegExp(source, 'u');
  } catch {
    return undefined;
  }
  const steps = workOf(source);
  return (text) => steps(text.length) > maxSteps || pattern.test(text);
}

/** Returns an upper bound of a match's steps by the text's length: each repeat may end anywhere, each choice is tried twice. */
function workOf(source: string): (length: number) => number {
  const plain = source.replaceAll(/\\[^]/gu, 'e').replaceAll(/\[[^[\]]*\]/gu, 'c');
  const groups = /\)(?:[*+]|\{)/u.test(plain);
  const repeats = plain.match(/[*+]|\{\d*,\d*\}/gu)?.length ?? 0;
  const choices = plain.match(/\||(?<!\()\?/gu)?.length ?? 0;
  return (length) =>
    groups && length > longestForGroups
      ? Number.POSITIVE_INFINITY
      : 2 ** choices * (length + 1) ** (repeats + 1);
}

/** Wraps a pattern of a schema for Ajv, with the bound of {@link patternTest}. @throws SyntaxError for an invalid pattern */
export function schemaPattern(source: string): { test(text: string): boolean; toString(): string } {
  const test = patternTest(source);
  if (test === undefined)
    throw new SyntaxError(`${source.slice(0, longestPattern)} is not a pattern that the sandbox can read.`);
  // Ajv compares patterns by their texts.
  return { test, toString: () => `/${source}/u` };
}
schemaPattern.code = 'schemaPattern';
