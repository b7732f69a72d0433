import type { DiagnosticDraft } from '../diagnostics/diagnostic.ts';
import { selectorLimits } from './limits.ts';

/**
 * Patterns for customIds: a safe part of JavaScript's regular expressions, matched anywhere in the customId.
 *
 * Allowed: text, `.`, classes `[…]`, `\d \w \s \D \W \S \b \B` and escaped punctuation, `^`, `$`, groups `(…)` and
 * `(?:…)`, `|`, and after a single character or class `?`, `*`, `+`, `{n}`, `{n,}`, `{n,m}`. Refused: a repeated
 * group, back references, look-around. With at most {@link patternRepeats} open repeats and
 * {@link patternChoices} choices the work of a match is at most 2^choices × length^(repeats + 1), and a customId is
 * at most {@link patternSubject} long, so that no pattern of a pipeline and no customId of a service can hang a run.
 */

/** `*`, `+`, `{n,}` and `{n,m}` in one pattern. */
const patternRepeats = 2;

/** `?` and `|` in one pattern. */
const patternChoices = 4;

/** Longer customIds are matched by no pattern; Discord's limit is 100. */
export const patternSubject = 256;

const repeatBound = 100;

type PatternError = readonly [code: string, message: string, at: number, length: number, hint?: string];

const count = /\{(\d+)(?:(,)(\d*))?\}/y;

class PatternCheck {
  readonly #source: string;
  #at = 0;
  #repeats = 0;
  #choices = 0;

  constructor(source: string) {
    this.#source = source;
  }

  /** What a match can take, as the power of the subject's length and a factor. */
  get work(): { readonly power: number; readonly factor: number } {
    return { power: this.#repeats + 1, factor: 2 ** this.#choices };
  }

  run(): PatternError | undefined {
    /** Whether what was just read is one character or class, and may be repeated. */
    let single = false;
    while (this.#at < this.#source.length) {
      const at = this.#at;
      const char = this.#source[at] as string;
      if ('*+?{'.includes(char)) {
        const error = this.#quantifier(char, single);
        if (error !== undefined) return error;
        single = false;
        continue;
      }
      single = !'(|)^$'.includes(char);
      if (char === '\\') {
        const next = this.#source[at + 1];
        if (next === undefined) return ['path.bad-pattern', 'The pattern ends in a backslash.', at, 1];
        if (/[a-zA-Z0-9]/.test(next) && !'dwsDWSbB'.includes(next)) {
          return ['path.unsafe-pattern', `"\\${next}" is not available in patterns.`, at, 2];
        }
        single = !'bB'.includes(next);
        this.#at += 2;
      } else if (char === '[') {
        const error = this.#class();
        if (error !== undefined) return error;
      } else if (char === '(') {
        if (this.#source[at + 1] === '?' && this.#source[at + 2] !== ':') {
          return ['path.unsafe-pattern', 'Only ( ) and (?: ) are available as groups.', at, 3];
        }
        this.#at += this.#source[at + 1] === '?' ? 3 : 1;
      } else {
        if (char === '|') this.#choices += 1;
        this.#at += 1;
      }
      const error = this.#tooMany(at);
      if (error !== undefined) return error;
    }
    return undefined;
  }

  #class(): PatternError | undefined {
    const begin = this.#at;
    this.#at += this.#source[begin + 1] === '^' ? 2 : 1;
    while (this.#at < this.#source.length && this.#source[this.#at] !== ']') {
      this.#at += this.#source[this.#at] === '\\' ? 2 : 1;
    }
    if (this.#at >= this.#source.length) {
      return ['path.bad-pattern', 'This "[" is never closed with "]".', begin, 1];
    }
    this.#at += 1;
    return undefined;
  }

  #quantifier(char: string, single: boolean): PatternError | undefined {
    const at = this.#at;
    count.lastIndex = at;
    const match = char === '{' ? count.exec(this.#source) : null;
    if (char === '{' && match === null) {
      return [
        'path.bad-pattern',
        'A "{" in a pattern counts, as in {2}.',
        at,
        1,
        'The character itself is "\\{".',
      ];
    }
    const length = match?.[0].length ?? 1;
    if (!single) {
      return [
        'path.unsafe-pattern',
        `Only a single character or class can be repeated, and nothing stands before this "${char}" that is one.`,
        at,
        length,
        'Write a repeated group out.',
      ];
    }
    if (Number(match?.[1] ?? 0) > repeatBound || Number(match?.[3] ?? 0) > repeatBound) {
      return ['path.unsafe-pattern', `A pattern may count to ${repeatBound}.`, at, length];
    }
    if (char === '?') this.#choices += 1;
    else if (match === null || match[2] !== undefined) this.#repeats += 1;
    this.#at += length;
    // A lazy quantifier finds the same buttons.
    if (this.#source[this.#at] === '?') this.#at += 1;
    return this.#tooMany(at);
  }

  #tooMany(at: number): PatternError | undefined {
    if (this.#repeats > patternRepeats) {
      return [
        'path.unsafe-pattern',
        `A pattern may have ${patternRepeats} open repeats (* + {n,}), not more.`,
        at,
        1,
      ];
    }
    if (this.#choices > patternChoices) {
      return [
        'path.unsafe-pattern',
        `A pattern may have ${patternChoices} choices (? and |), not more.`,
        at,
        1,
      ];
    }
    return undefined;
  }
}

/** What is wrong with a pattern; offsets count from its first character. */
export function patternDiagnostic(source: string): DiagnosticDraft | undefined {
  const whole = { offset: 0, length: source.length };
  if (source === '') return { code: 'path.empty', message: 'The pattern is empty.', ...whole };
  if (source.length > selectorLimits.pattern) {
    const message = `A pattern may have ${selectorLimits.pattern} characters, and this has ${source.length}.`;
    return { code: 'path.too-long', message, ...whole };
  }
  const found = new PatternCheck(source).run();
  if (found !== undefined) {
    const [code, message, offset, length, hint] = found;
    // The pattern may end where more was expected.
    const marked = Math.min(length, source.length - offset);
    return { code, message, offset, length: marked, ...(hint === undefined ? {} : { hint }) };
  }
  try {
    compilePattern(source);
    return undefined;
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^.*: (?=[^:]*$)/s, '') : String(error);
    return { code: 'path.bad-pattern', message: `The pattern is not valid: ${reason}.`, ...whole };
  }
}

/** The regular expression of a pattern that {@link patternDiagnostic} accepts. */
export const compilePattern = (source: string): RegExp => new RegExp(source, 'u');

/**
 * The most steps that a match against a subject of this length can take, for a pattern that {@link patternDiagnostic}
 * accepts.
 */
export function patternWork(source: string): (length: number) => number {
  const check = new PatternCheck(source);
  check.run();
  const { power, factor } = check.work;
  return (length) => factor * (length + 1) ** power;
}
