import { wordsOf } from '../text/fold.ts';
import type { Columns } from './columns.ts';
import type { Query } from './source.ts';

/** Whether a result matches a query. `perhaps`: only its full text can decide. */
export type Match = 'yes' | 'no' | 'perhaps';

/** Marks a prompt or an error that was not searched yet. At most 30 words are searched, so no set of bits is −1. */
const unknown = -1;

/** Number of characters of a text in the results; a shorter text is complete. */
const wholeBelow = 240;

/** A query prepared for a walk over the columns. It must be prepared again when new chunks bring new values. */
export class Matcher {
  readonly words: readonly string[];
  readonly #columns: Columns;
  readonly #steps: Uint8Array | undefined;
  readonly #statuses: Uint8Array | undefined;
  readonly #errors: Uint8Array | undefined;
  readonly #vars: readonly (readonly [column: Uint32Array, wanted: Uint8Array])[];
  readonly #jobs: ReadonlySet<string> | undefined;
  /** Found words as bits, by prompt and then by error, so that a prompt shared by many results is searched once. */
  readonly #wordsOfPrompt: Int32Array;
  readonly #wordsOfError: Int32Array;

  constructor(columns: Columns, query: Query, steps: readonly string[], variables: readonly string[]) {
    const { search = '', vars = {}, errorCode } = query;
    this.#columns = columns;
    this.words = wordsOf(search);
    this.#steps = query.steps && wanted(steps, query.steps);
    this.#statuses = query.statuses && wanted(columns.statuses.values, query.statuses);
    this.#errors =
      errorCode === undefined
        ? undefined
        : Uint8Array.from([0, ...columns.errors.map(([code]) => (code === errorCode ? 1 : 0))]);
    this.#vars = Object.entries(vars).flatMap(([name, values]) => {
      const n = variables.indexOf(name);
      const [column, dictionary] = [columns.vars[n], columns.values[n]];
      return column && dictionary ? [[column, wanted(dictionary.values, values)] as const] : [];
    });
    this.#jobs = query.jobs;
    const searched = this.words.length > 0;
    this.#wordsOfPrompt = new Int32Array(searched ? columns.prompts.length + 1 : 0).fill(unknown);
    this.#wordsOfError = new Int32Array(searched ? columns.errors.length + 1 : 0).fill(unknown);
  }

  match(at: number): Match {
    const columns = this.#columns;
    if (this.#steps && !this.#steps[columns.step[at] as number]) return 'no';
    if (this.#statuses && !this.#statuses[columns.status[at] as number]) return 'no';
    if (this.#errors && !this.#errors[columns.error[at] as number]) return 'no';
    for (const [column, values] of this.#vars) if (!values[column[at] as number]) return 'no';
    if (this.#jobs && !this.#jobs.has(columns.jobOf(at))) return 'no';
    if (this.words.length === 0) return 'yes';
    const missing = this.#missing(at);
    if (missing === 0) return 'yes';
    const text = columns.foldedText(at);
    if (text === '') return 'no';
    if ((missing & ~this.#bitsOf(text)) === 0) return 'yes';
    return columns.textOf(at).length < wholeBelow ? 'no' : 'perhaps';
  }

  /** Whether a result matches, given its full text, folded. */
  matchText(at: number, folded: string): boolean {
    return (this.#missing(at) & ~this.#bitsOf(folded)) === 0;
  }

  /** Returns as bits the words that are neither in the prompt nor in the error. */
  #missing(at: number): number {
    const columns = this.#columns;
    let missing = 2 ** this.words.length - 1;
    const prompt = columns.prompt[at] as number;
    if (prompt > 0) missing &= ~this.#known(this.#wordsOfPrompt, prompt, columns.foldedPrompts);
    if (missing === 0) return 0;
    const error = columns.error[at] as number;
    if (error > 0) missing &= ~this.#known(this.#wordsOfError, error, columns.foldedErrors);
    return missing;
  }

  #known(found: Int32Array, number: number, texts: readonly string[]): number {
    const known = found[number] ?? unknown;
    if (known !== unknown) return known;
    const bits = this.#bitsOf(texts[number - 1] ?? '');
    found[number] = bits;
    return bits;
  }

  #bitsOf(text: string): number {
    let bits = 0;
    for (let n = 0; n < this.words.length; n += 1) if (text.includes(this.words[n] as string)) bits |= 1 << n;
    return bits;
  }
}

function wanted(all: readonly string[], some: readonly string[]): Uint8Array {
  const set = new Set(some);
  return Uint8Array.from(all, (value) => (set.has(value) ? 1 : 0));
}
