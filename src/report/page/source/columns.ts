import type { PackedResults, PageResult, PageStatus, PageSummary } from '../../results/wire.ts';
import { fold } from '../text/fold.ts';

/** Distinct texts with their numbers. */
export class Dictionary {
  readonly values: string[] = [];
  readonly #numbers = new Map<string, number>();

  numberOf(value: string): number {
    const known = this.#numbers.get(value);
    if (known !== undefined) return known;
    this.#numbers.set(value, this.values.length);
    return this.values.push(value) - 1;
  }

  find(value: string): number | undefined {
    return this.#numbers.get(value);
  }
}

/**
 * Loaded results, stored in columns. Columns with few distinct values are typed arrays, which makes filtering 100,000 results fast.
 * Texts without a filter stay in their chunks.
 */
export class Columns {
  /** Number of loaded results, from the first on. */
  count = 0;
  readonly cell: Uint32Array;
  readonly step: Uint16Array;
  readonly status: Uint8Array;
  readonly branch: Uint32Array;
  readonly output: Uint32Array;
  readonly cost: Float64Array;
  readonly finishedAt: Float64Array;
  readonly seconds: Float64Array;
  /** Number of the prompt, from 1; 0 if there is none. */
  readonly prompt: Uint32Array;
  /** Number of the error, from 1; 0 if there is none. */
  readonly error: Uint32Array;
  readonly vars: readonly Uint32Array[];

  readonly branches = new Dictionary();
  readonly statuses = new Dictionary();
  readonly values: readonly Dictionary[];
  readonly errors: (readonly [code: string, message: string])[] = [];
  readonly foldedErrors: string[] = [];
  readonly prompts: string[] = [];
  readonly foldedPrompts: string[] = [];

  readonly #steps: readonly string[];
  readonly #chunks: PackedResults[] = [];
  readonly #errorNumbers = new Map<string, number>();
  /** Beginnings of the texts, folded, by chunk. */
  readonly #foldedTexts: (readonly string[])[] = [];
  readonly #perChunk: number;

  constructor(summary: PageSummary) {
    const { results, variables, steps, files } = summary;
    this.#steps = steps.map(({ name }) => name);
    this.#perChunk = Math.max(1, files?.resultsPerFile ?? results);
    this.cell = new Uint32Array(results);
    this.step = new Uint16Array(results);
    this.status = new Uint8Array(results);
    this.branch = new Uint32Array(results);
    this.output = new Uint32Array(results);
    this.cost = new Float64Array(results);
    this.finishedAt = new Float64Array(results);
    this.seconds = new Float64Array(results);
    this.prompt = new Uint32Array(results);
    this.error = new Uint32Array(results);
    this.vars = variables.map(() => new Uint32Array(results));
    this.values = variables.map(() => new Dictionary());
  }

  /** Adds the next chunk. @returns false for a chunk out of order or beyond the results of the summary */
  add(chunk: PackedResults): boolean {
    const { from, count } = chunk;
    if (from !== this.count || from + count > this.cell.length) return false;
    this.#chunks.push(chunk);
    this.#foldedTexts.push(chunk.text.map(fold));
    this.cell.set(chunk.cell, from);
    this.step.set(chunk.step, from);
    this.output.set(chunk.output, from);
    this.cost.set(chunk.cost, from);
    this.finishedAt.set(chunk.finishedAt, from);
    this.seconds.set(chunk.seconds, from);
    const translate = (
      to: { [at: number]: number },
      column: readonly number[],
      numbers: readonly number[],
    ) => {
      for (let n = 0; n < count; n += 1) to[from + n] = numbers[column[n] as number] ?? 0;
    };
    translate(
      this.branch,
      chunk.branch,
      chunk.branches.map((value) => this.branches.numberOf(value)),
    );
    translate(
      this.status,
      chunk.status,
      chunk.statuses.map((value) => this.statuses.numberOf(value)),
    );
    for (const [variable, { values, value }] of chunk.vars.entries()) {
      const [column, dictionary] = [this.vars[variable], this.values[variable]];
      if (column && dictionary)
        translate(
          column,
          value,
          values.map((each) => dictionary.numberOf(each)),
        );
    }
    const prompts = this.prompts.length + 1;
    for (const prompt of chunk.prompts) {
      this.prompts.push(prompt);
      this.foldedPrompts.push(fold(prompt));
    }
    const errors = chunk.errors.map(([code, message]) => this.#errorNumber(code, message));
    for (let n = 0; n < count; n += 1) {
      const [prompt = -1, error = -1] = [chunk.prompt[n], chunk.error[n]];
      this.prompt[from + n] = prompt < 0 ? 0 : prompts + prompt;
      this.error[from + n] = error < 0 ? 0 : (errors[error] ?? 0);
    }
    this.count += count;
    return true;
  }

  #errorNumber(code: string, message: string): number {
    const key = `${code} ${message}`;
    const known = this.#errorNumbers.get(key);
    if (known !== undefined) return known;
    const number = this.errors.push([code, message]);
    this.foldedErrors.push(fold(key));
    this.#errorNumbers.set(key, number);
    return number;
  }

  /** Returns the chunk of a result and the position of the result in it. */
  #placeOf(at: number): readonly [chunk: PackedResults | undefined, place: number] {
    const number = Math.floor(at / this.#perChunk);
    return [this.#chunks[number], at - number * this.#perChunk];
  }

  /** Returns the beginning of a result's text, folded for searching. */
  foldedText(at: number): string {
    const number = Math.floor(at / this.#perChunk);
    return this.#foldedTexts[number]?.[at - number * this.#perChunk] ?? '';
  }

  /** Returns the beginning of a result's text. */
  textOf(at: number): string {
    const [chunk, place] = this.#placeOf(at);
    return chunk?.text[place] ?? '';
  }

  jobOf(at: number): string {
    const [chunk, place] = this.#placeOf(at);
    return chunk?.job[place] ?? '';
  }

  /** Finds the first result of a job by its key. */
  findJob(job: string): number | undefined {
    for (const { from, job: jobs } of this.#chunks) {
      const place = jobs.indexOf(job);
      if (place >= 0) return from + place;
    }
    return undefined;
  }

  /** Returns a result in the shape that the page shows. */
  result(at: number): PageResult | undefined {
    const [chunk, place] = this.#placeOf(at);
    if (!chunk || at >= this.count) return undefined;
    const error = this.errors[(this.error[at] as number) - 1];
    const prompt = this.prompts[(this.prompt[at] as number) - 1];
    const [cost, finishedAt, output] = [this.cost[at] as number, this.finishedAt[at], this.output[at]];
    const text = (name: 'job' | 'file' | 'thumbnail' | 'text' | 'media') => chunk[name][place] || undefined;
    const [job, file, thumbnail, media] = [text('job'), text('file'), text('thumbnail'), text('media')];
    const [width, height, head] = [chunk.width[place], chunk.height[place], text('text')];
    return {
      at,
      cell: this.cell[at] as number,
      step: this.#steps[this.step[at] as number] ?? '',
      branch: this.branches.values[this.branch[at] as number] ?? '',
      status: (this.statuses.values[this.status[at] as number] ?? 'pending') as PageStatus,
      kind: chunk.kinds[chunk.kind[place] as number] ?? '',
      vars: this.vars.map((column, n) => this.values[n]?.values[column[at] as number] ?? ''),
      ...(output ? { output } : {}),
      ...(job ? { job } : {}),
      ...(media ? { media: media as NonNullable<PageResult['media']> } : {}),
      ...(file ? { file } : {}),
      ...(thumbnail ? { thumbnail } : {}),
      ...(width ? { width } : {}),
      ...(height ? { height } : {}),
      ...(prompt === undefined ? {} : { prompt }),
      ...(head ? { text: head } : {}),
      ...(error ? { errorCode: error[0], errorMessage: error[1] } : {}),
      ...(cost >= 0 ? { cost } : {}),
      ...(finishedAt ? { finishedAt } : {}),
      ...(this.seconds[at] ? { seconds: this.seconds[at] } : {}),
    };
  }
}
