import type { OtherCells, PackedResults, PageResult, PageStatus, PageSummary } from '../../results/wire.ts';
import { fold } from '../text/fold.ts';
import { pickNames, pickOf } from '../text/names.ts';

/** A file of results, with its texts folded for searching. */
export interface Chunk extends PackedResults {
  readonly foldedPrompts: readonly string[];
  readonly foldedErrors: readonly string[];
  readonly foldedPicks: readonly string[];
  /** Beginnings of the texts. */
  readonly foldedTexts: readonly string[];
}

/** Loaded results. They stay in the columns of their chunks, which makes filtering 100,000 results fast. */
export class Columns {
  /** Number of loaded results, from the first on. */
  count = 0;
  /** All values of each variable. */
  readonly values: readonly Set<string>[];
  readonly #steps: readonly string[];
  readonly #chunks: Chunk[] = [];
  readonly #perChunk: number;
  readonly #results: number;

  constructor({ results, variables, steps, files }: PageSummary) {
    this.#steps = steps.map(({ name }) => name);
    this.#perChunk = Math.max(1, files?.resultsPerFile ?? results);
    this.#results = results;
    this.values = variables.map(() => new Set());
  }

  /** Adds the next chunk. @returns false for a chunk out of order or beyond the results of the summary */
  add(chunk: PackedResults): boolean {
    const { from, count, prompts, errors, picked, text, vars } = chunk;
    if (from !== this.count || from + count > this.#results) return false;
    this.#chunks.push({
      ...chunk,
      foldedPrompts: prompts.map(fold),
      foldedErrors: errors.map(([code, message]) => fold(`${code} ${message}`)),
      foldedPicks: picked.map((name) => fold(pickOf({ picked: name || undefined }))),
      foldedTexts: text.map(fold),
    });
    for (const [n, { values }] of vars.entries()) for (const value of values) this.values[n]?.add(value);
    this.count += count;
    return true;
  }

  chunkOf(at: number): Chunk {
    return this.#chunks[Math.floor(at / this.#perChunk)] as Chunk;
  }

  /** Finds the first result of a job by its key. */
  findJob(job: string): number | undefined {
    for (const { from, job: jobs } of this.#chunks) {
      const place = jobs.indexOf(job);
      if (place >= 0) return from + place;
    }
    return undefined;
  }

  /** See {@link OtherCells}. */
  otherCells(result: PageResult): OtherCells {
    const own = pickNames(result);
    const above: number[] = [];
    const below: number[] = [];
    for (const { from, count, picked, job, madeFrom } of this.#chunks)
      for (let n = 0; n < count; n += 1) {
        const names = pickNames({ picked: picked[n], job: job[n] });
        if (result.madeFrom !== undefined && names.includes(result.madeFrom)) above.push(from + n);
        if (own.includes(madeFrom[n] ?? '')) below.push(from + n);
      }
    return { above: above[0] ?? null, below };
  }

  /** Returns a result in the shape that the page shows. */
  result(at: number): PageResult | undefined {
    if (at >= this.count) return undefined;
    const chunk = this.chunkOf(at);
    const n = at - chunk.from;
    const [errorCode, errorMessage] = chunk.errors[chunk.error[n] as number] ?? [];
    const cost = chunk.cost[n] ?? -1;
    const members: { readonly [Name in keyof PageResult]: PageResult[Name] | undefined } = {
      at,
      cell: chunk.cell[n],
      step: this.#steps[chunk.step[n] as number] ?? '',
      branch: chunk.branches[chunk.branch[n] as number] ?? '',
      status: chunk.statuses[chunk.status[n] as number] ?? ('pending' satisfies PageStatus),
      kind: chunk.kinds[chunk.kind[n] as number] ?? '',
      vars: chunk.vars.map(({ values, value }) => values[value[n] as number] ?? ''),
      output: chunk.output[n] || undefined,
      frame: chunk.frame[n] || undefined,
      picked: chunk.picked[n] || undefined,
      madeFrom: chunk.madeFrom[n] || undefined,
      job: chunk.job[n] || undefined,
      media: (chunk.media[n] || undefined) as PageResult['media'],
      file: chunk.file[n] || undefined,
      thumbnail: chunk.thumbnail[n] || undefined,
      width: chunk.width[n] || undefined,
      height: chunk.height[n] || undefined,
      prompt: chunk.prompts[chunk.prompt[n] as number],
      text: chunk.text[n] || undefined,
      errorCode,
      errorMessage,
      cost: cost < 0 ? undefined : cost,
      finishedAt: chunk.finishedAt[n] || undefined,
      seconds: chunk.seconds[n] || undefined,
    };
    const known = Object.entries(members).filter(([, value]) => value !== undefined);
    return Object.fromEntries(known) as unknown as PageResult;
  }
}
