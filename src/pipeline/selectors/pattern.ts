import { type DiagnosticDraft, draft } from '../diagnostics/diagnostic.ts';
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

/** Most uses of `*`, `+`, `{n,}` and `{n,m}` in one pattern. */
const patternRepeats = 2;

/** Most uses of `?` and `|` in one pattern. */
const patternChoices = 4;

/** Length of the longest customId that a pattern can match; Discord's limit is 100. */
export const patternSubject = 256;

const repeatBound = 100;

const count = /\{(\d+)(?:(,)(\d*))?\}/y;

class PatternCheck {
  readonly #source: string;
  #at = 0;
  #repeats = 0;
  #choices = 0;

  constructor(source: string) {
    this.#source = source;
  }

  /** The most work of a match, as a power of the subject's length and a factor. */
  get work(): { readonly power: number; readonly factor: number } {
    return { power: this.#repeats + 1, factor: 2 ** this.#choices };
  }

  run(): DiagnosticDraft | undefined {
    /** Whether the previous item is one character or class, which may be repeated. */
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
        if (next === undefined) return draft('path.bad-pattern', 'The pattern ends in a backslash.', at, 1);
        if (/[a-zA-Z0-9]/.test(next) && !'dwsDWSbB'.includes(next)) {
          return draft('path.unsafe-pattern', `"\\${next}" is not available in patterns.`, at, 2);
        }
        single = !'bB'.includes(next);
        this.#at += 2;
      } else if (char === '[') {
        const error = this.#class();
        if (error !== undefined) return error;
      } else if (char === '(') {
        if (this.#source[at + 1] === '?' && this.#source[at + 2] !== ':') {
          return draft('path.unsafe-pattern', 'Only ( ) and (?: ) are available as groups.', at, 3);
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

  #class(): DiagnosticDraft | undefined {
    const begin = this.#at;
    this.#at += this.#source[begin + 1] === '^' ? 2 : 1;
    while (this.#at < this.#source.length && this.#source[this.#at] !== ']') {
      this.#at += this.#source[this.#at] === '\\' ? 2 : 1;
    }
    if (this.#at >= this.#source.length) {
      return draft('path.bad-pattern', 'This "[" is never closed with "]".', begin, 1);
    }
    this.#at += 1;
    return undefined;
  }

  #quantifier(char: string, single: boolean): DiagnosticDraft | undefined {
    const at = this.#at;
    count.lastIndex = at;
    const match = char === '{' ? count.exec(this.#source) : null;
    if (char === '{' && match === null) {
      const message = 'A "{" in a pattern begins a count, as in {2}.';
      return draft('path.bad-pattern', message, at, 1, 'For the character itself, write "\\{".');
    }
    const length = match?.[0].length ?? 1;
    if (!single) {
      const message = `Only a single character or class can be repeated, but there is none before this "${char}".`;
      return draft('path.unsafe-pattern', message, at, length, 'Write a repeated group out.');
    }
    if (Number(match?.[1] ?? 0) > repeatBound || Number(match?.[3] ?? 0) > repeatBound) {
      return draft('path.unsafe-pattern', `A pattern may count to at most ${repeatBound}.`, at, length);
    }
    if (char === '?') this.#choices += 1;
    else if (match === null || match[2] !== undefined) this.#repeats += 1;
    this.#at += length;
    // A lazy quantifier finds the same buttons.
    if (this.#source[this.#at] === '?') this.#at += 1;
    return this.#tooMany(at);
  }

  #tooMany(at: number): DiagnosticDraft | undefined {
    const most =
      this.#repeats > patternRepeats
        ? `${patternRepeats} open repeats (* + {n,})`
        : this.#choices > patternChoices
          ? `${patternChoices} choices (? and |)`
          : undefined;
    return most && draft('path.unsafe-pattern', `A pattern may have at most ${most}.`, at, 1);
  }
}

/** Returns the error in a pattern, if any; offsets count from its first character. */
export function patternDiagnostic(source: string): DiagnosticDraft | undefined {
  const { length } = source;
  if (source === '') return draft('path.empty', 'The pattern is empty.', 0, 0);
  if (source.length > selectorLimits.pattern) {
    const message = `A pattern may have at most ${selectorLimits.pattern} characters, but this one has ${length}.`;
    return draft('path.too-long', message, 0, length);
  }
  const found = new PatternCheck(source).run();
  // The pattern may end too early.
  if (found !== undefined) return { ...found, length: Math.min(found.length, length - found.offset) };
  try {
    compilePattern(source);
    return undefined;
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^.*: (?=[^:]*$)/s, '') : String(error);
    return draft('path.bad-pattern', `The pattern is not valid: ${reason}.`, 0, length);
  }
}

/** Compiles a pattern that {@link patternDiagnostic} accepts. */
export const compilePattern = (source: string): RegExp => new RegExp(source, 'u');

/** Returns the largest number of steps of a match, by the subject's length, for a pattern that {@link patternDiagnostic} accepts. */
export function patternWork(source: string): (length: number) => number {
  const check = new PatternCheck(source);
  check.run();
  const { power, factor } = check.work;
  return (length) => factor * (length + 1) ** power;
}
