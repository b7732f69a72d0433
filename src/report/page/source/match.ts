import { wordsOf } from '../text/fold.ts';
import type { Columns } from './columns.ts';
import type { Query } from './source.ts';

/** Whether a result matches a query, as far as is known without the whole of its text. */
export type Match = 'yes' | 'no' | 'perhaps';

/** Says that a prompt or an error has not been searched; there are fewer than 32 words, so no bits are this number. */
const unknown = -1;

/** The beginnings of texts that a summary of a result holds have this many characters; a shorter one is the whole text. */
const wholeBelow = 240;

/** A query made ready for a walk over the columns. Values that come with later chunks need it made anew. */
export class Matcher {
  readonly words: readonly string[];
  readonly #columns: Columns;
  readonly #steps: Uint8Array | undefined;
  readonly #statuses: Uint8Array | undefined;
  readonly #errors: Uint8Array | undefined;
  readonly #vars: readonly (readonly [column: Uint32Array, wanted: Uint8Array])[];
  readonly #jobs: ReadonlySet<string> | undefined;
  /** By prompt, then by error: the words that are in it, as bits. Prompts that many results share are searched once. */
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

  /** Whether a result that may match does, given the whole of its text, folded. */
  matchText(at: number, folded: string): boolean {
    return (this.#missing(at) & ~this.#bitsOf(folded)) === 0;
  }

  /** The words that are neither in the prompt nor in the error, as bits. */
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
