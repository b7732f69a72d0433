import type { Random } from '../../draw/canvas/random.ts';

/** A part of a pattern that texts can be made from. */
type Node =
  | { readonly kind: 'set'; readonly characters: readonly string[] }
  | { readonly kind: 'sequence'; readonly nodes: readonly Node[] }
  | { readonly kind: 'choice'; readonly choices: readonly Node[] }
  | { readonly kind: 'repeat'; readonly node: Node; readonly least: number; readonly most: number };

/** Most repetitions of one part. */
const mostRepeats = 2_000;

/** Parts of one text; repeats of repeats are cut off there. */
const mostParts = 20_000;

/** Longer patterns are not read. */
const longestPattern = 1_000;

const charactersBetween = (from: number, to: number): readonly string[] =>
  Array.from({ length: Math.min(to - from + 1, 200) }, (_, index) => String.fromCodePoint(from + index));

const printable = charactersBetween(0x20, 0x7e);
const digits = charactersBetween(0x30, 0x39);
const words = [...charactersBetween(0x61, 0x7a), ...charactersBetween(0x41, 0x5a), ...digits, '_'];
const nothing: Node = { kind: 'sequence', nodes: [] };

/**
 * A text that a regular expression matches, of `extra` repetitions beyond the least where it leaves them open. Anchors and
 * look-around are read over: whoever needs certainty tests the text. Undefined for a pattern that it cannot read.
 */
export function textMatching(source: string, random: Random, extra: number): string | undefined {
  if (source.length > longestPattern) return undefined;
  const reader = new PatternReader(source);
  const node = reader.read();
  return node === undefined ? undefined : write(node, random, extra, { parts: mostParts });
}

function write(node: Node, random: Random, extra: number, left: { parts: number }): string {
  left.parts -= 1;
  if (left.parts < 0) return '';
  switch (node.kind) {
    case 'set':
      return node.characters.length === 0 ? '' : random.pick(node.characters);
    case 'sequence':
      return node.nodes.map((one) => write(one, random, extra, left)).join('');
    case 'choice':
      return write(random.pick(node.choices), random, extra, left);
    case 'repeat': {
      const most = Math.min(node.most, node.least + extra, Math.max(node.least, mostRepeats));
      const count = Math.min(
        random.int(Math.min(node.least + Math.floor(extra / 2), most), most),
        mostRepeats,
      );
      let text = '';
      for (let made = 0; made < count && left.parts > 0; made += 1)
        text += write(node.node, random, extra, left);
      return text;
    }
  }
}

/** Reads the common part of ECMAScript's regular expressions. */
class PatternReader {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  read(): Node | undefined {
    const node = this.#choice();
    return this.#at === this.#source.length ? node : undefined;
  }

  #choice(): Node {
    const choices = [this.#sequence()];
    while (this.#take('|')) choices.push(this.#sequence());
    return choices.length === 1 ? (choices[0] ?? nothing) : { kind: 'choice', choices };
  }

  #sequence(): Node {
    const nodes: Node[] = [];
    while (this.#at < this.#source.length && !['|', ')'].includes(this.#peek())) {
      nodes.push(this.#quantified(this.#atom()));
    }
    return { kind: 'sequence', nodes };
  }

  #atom(): Node {
    const character = this.#next();
    switch (character) {
      case '^':
      case '$':
        return nothing;
      case '.':
        return { kind: 'set', characters: printable };
      case '(':
        return this.#group();
      case '[':
        return this.#class();
      case '\\':
        return { kind: 'set', characters: this.#escape() };
      default:
        return { kind: 'set', characters: [character] };
    }
  }

  #group(): Node {
    const [intro = ''] = /^\?(?:<?[=!]|:|<\w+>)/.exec(this.#source.slice(this.#at)) ?? [];
    this.#at += intro.length;
    const node = this.#choice();
    if (!this.#take(')')) this.#at = this.#source.length + 1;
    return /[=!]$/.test(intro) ? nothing : node;
  }

  #class(): Node {
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
    return {
      kind: 'set',
      characters: negated ? printable.filter((one) => !characters.has(one)) : [...characters],
    };
  }

  #classMember(): readonly string[] {
    const character = this.#next();
    return character === '\\' ? this.#escape() : [character];
  }

  #escape(): readonly string[] {
    const character = this.#next();
    switch (character) {
      case 'd':
        return digits;
      case 'D':
        return printable.filter((one) => !digits.includes(one));
      case 'w':
        return words;
      case 'W':
        return printable.filter((one) => !words.includes(one));
      case 's':
        return [' '];
      case 'S':
        return printable.slice(1);
      case 'b':
      case 'B':
        return [];
      case 'n':
        return ['\n'];
      case 't':
        return ['\t'];
      case 'r':
        return ['\r'];
      case 'p':
        return this.#property();
      case 'u':
      case 'x': {
        const length = character === 'u' ? 4 : 2;
        const [all, hex] =
          new RegExp(`^(?:([0-9a-f]{${length}}))`, 'i').exec(this.#source.slice(this.#at)) ?? [];
        if (all === undefined || hex === undefined) return [character];
        this.#at += all.length;
        return [String.fromCodePoint(Number.parseInt(hex, 16))];
      }
      default:
        return [character];
    }
  }

  /** Unicode properties by their commonest members. */
  #property(): readonly string[] {
    const [all = '', name = ''] = /^\{([^}]*)\}/.exec(this.#source.slice(this.#at)) ?? [];
    this.#at += all.length;
    if (/^(N|Nd)$/.test(name)) return digits;
    if (/^(Lu|Uppercase)/.test(name)) return charactersBetween(0x41, 0x5a);
    return charactersBetween(0x61, 0x7a);
  }

  #quantified(node: Node): Node {
    const rest = this.#source.slice(this.#at, this.#at + 24);
    const [all, sign, from, comma, to] = /^(?:([*+?])|\{(\d{1,6})(,?)(\d{0,6})\})\??/.exec(rest) ?? [];
    if (all === undefined) return node;
    this.#at += all.length;
    const open = Number.POSITIVE_INFINITY;
    if (sign !== undefined) {
      return { kind: 'repeat', node, least: sign === '+' ? 1 : 0, most: sign === '?' ? 1 : open };
    }
    const least = Number(from);
    const most = comma === '' ? least : to === '' ? open : Number(to);
    return { kind: 'repeat', node, least, most };
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

/** Steps that one match may take; a pattern is a client's, and no pattern may hold up the service. */
const mostSteps = 2 ** 26;

/** A repeated group may double the work with each character. */
const longestForGroups = 16;

/**
 * Whether a text matches a pattern of a schema; undefined for what is no regular expression. A test that would take too
 * long counts as a match.
 */
export function patternTest(source: string): ((text: string) => boolean) | undefined {
  if (source.length > longestPattern) return undefined;
  let pattern: RegExp;
  try {
    pattern = new RegExp(source, 'u');
  } catch {
    return undefined;
  }
  const steps = workOf(source);
  return (text) => steps(text.length) > mostSteps || pattern.test(text);
}

/** The most steps of a match in a text of this length: each open repeat may end anywhere, each choice go both ways. */
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

/** The patterns of a schema as Ajv wants to be given them, each with the bound of {@link patternTest}. */
export function schemaPattern(source: string): { test(text: string): boolean; toString(): string } {
  const test = patternTest(source);
  if (test === undefined)
    throw new SyntaxError(`${source.slice(0, longestPattern)} is no pattern that is read here.`);
  // Ajv distinguishes patterns by their texts.
  return { test, toString: () => `/${source}/u` };
}
schemaPattern.code = 'schemaPattern';
