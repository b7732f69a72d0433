import { wordsOf } from '../text/fold.ts';
import type { Chunk, Columns } from './columns.ts';
import type { Query } from './source.ts';

/** Whether a result matches a query. `perhaps`: only its full text can decide. */
export type Match = 'yes' | 'no' | 'perhaps';

/** Marks a text that was not searched yet. At most 30 words are searched, so no set of bits is −1. */
const unknown = -1;

/** Number of characters of a text in the results; a shorter text is complete. */
const wholeBelow = 240;

interface Prepared {
  readonly chunk: Chunk;
  /** Columns of numbers, each with the wanted numbers marked. */
  readonly filters: readonly { readonly column: readonly number[]; readonly wanted: Uint8Array }[];
  /** Columns with their texts, and the words found in each text as bits, so that a shared text is searched once. */
  readonly searched: readonly {
    readonly column: readonly number[];
    readonly texts: readonly string[];
    readonly found: Int32Array;
  }[];
}

/** A query that results are matched with. */
export class Matcher {
  readonly words: readonly string[];
  readonly #columns: Columns;
  readonly #query: Query;
  readonly #steps: readonly string[];
  readonly #variables: readonly string[];
  readonly #prepared = new Map<Chunk, Prepared>();
  /** The one used last, because results come mostly in order. */
  #last: Prepared | undefined;

  constructor(columns: Columns, query: Query, steps: readonly string[], variables: readonly string[]) {
    this.#columns = columns;
    this.#query = query;
    this.#steps = steps;
    this.#variables = variables;
    this.words = wordsOf(query.search ?? '');
  }

  match(at: number): Match {
    const prepared = this.#of(at);
    const { chunk, filters } = prepared;
    const n = at - chunk.from;
    for (const { column, wanted } of filters) if (!wanted[column[n] as number]) return 'no';
    const { jobs } = this.#query;
    if (jobs && !jobs.has(chunk.job[n] ?? '')) return 'no';
    if (this.words.length === 0) return 'yes';
    const missing = this.#missing(prepared, n);
    if (missing === 0) return 'yes';
    const text = chunk.foldedTexts[n] ?? '';
    if ((missing & ~this.#bitsOf(text)) === 0) return 'yes';
    return (chunk.text[n] ?? '').length < wholeBelow ? 'no' : 'perhaps';
  }

  /** Whether a result matches, given its full text, folded. */
  matchText(at: number, folded: string): boolean {
    const prepared = this.#of(at);
    return (this.#missing(prepared, at - prepared.chunk.from) & ~this.#bitsOf(folded)) === 0;
  }

  /** Returns as bits the words that are neither in the prompt, nor in the error, nor in the pick. */
  #missing({ searched, chunk }: Prepared, n: number): number {
    let missing = 2 ** this.words.length - 1;
    for (const { column, texts, found } of searched) {
      if (missing === 0) return 0;
      const number = column[n] as number;
      if (number < 0) continue;
      if (found[number] === unknown) found[number] = this.#bitsOf(texts[number] ?? '');
      missing &= ~(found[number] as number);
    }
    return missing & ~this.#bitsOf(chunk.foldedPicks[n] ?? '');
  }

  #bitsOf(text: string): number {
    let bits = 0;
    for (let n = 0; n < this.words.length; n += 1) if (text.includes(this.words[n] as string)) bits |= 1 << n;
    return bits;
  }

  #of(at: number): Prepared {
    const last = this.#last?.chunk;
    if (this.#last && last && at >= last.from && at < last.from + last.count) return this.#last;
    const chunk = this.#columns.chunkOf(at);
    const prepared = this.#prepared.get(chunk) ?? this.#prepare(chunk);
    this.#prepared.set(chunk, prepared);
    this.#last = prepared;
    return prepared;
  }

  #prepare(chunk: Chunk): Prepared {
    const { steps, statuses, errorCode, vars = {} } = this.#query;
    const isCode = errorCode === undefined ? undefined : [errorCode];
    const filters = [
      [chunk.step, this.#steps, steps] as const,
      [chunk.status, chunk.statuses, statuses] as const,
      [chunk.error, chunk.errors.map(([code]) => code), isCode] as const,
      ...Object.entries(vars).map(([name, some]) => {
        const { value = [], values = [] } = chunk.vars[this.#variables.indexOf(name)] ?? {};
        return [value, values, value.length > 0 ? some : undefined] as const;
      }),
    ];
    const textsOf = (column: readonly number[], texts: readonly string[]): Prepared['searched'][number] => ({
      column,
      texts,
      found: new Int32Array(this.words.length === 0 ? 0 : texts.length).fill(unknown),
    });
    return {
      chunk,
      filters: filters.flatMap(([column, all, some]) =>
        some ? [{ column, wanted: wanted(all, some) }] : [],
      ),
      searched: [textsOf(chunk.prompt, chunk.foldedPrompts), textsOf(chunk.error, chunk.foldedErrors)],
    };
  }
}

function wanted(all: readonly string[], some: readonly string[]): Uint8Array {
  const set = new Set(some);
  return Uint8Array.from(all, (value) => (set.has(value) ? 1 : 0));
}
