import type {
  OtherCells,
  PackedResults,
  PageDetail,
  PageResult,
  PageSort,
  PageSummary,
} from '../../results/wire.ts';
import { fold } from '../text/fold.ts';
import { escapePath } from '../text/names.ts';
import { Columns } from './columns.ts';
import { Listeners } from './listeners.ts';
import { Matcher } from './match.ts';
import type { Found, Progress, Query, ResultSource } from './source.ts';

/** The browser functions that {@link DiskSource} uses. */
export interface DiskPorts {
  /** Runs a script of the report. The script calls `promptpress.…` before the promise resolves. */
  readonly load: (address: string) => Promise<void>;
  /** Waits until the browser has parsed the page. */
  readonly parsed: () => Promise<void>;
  /** Lets the browser draw and handle events. */
  readonly pause: () => Promise<void>;
  /** Milliseconds of any clock. */
  readonly now: () => number;
}

/** Milliseconds of work between two pauses. */
const slice = 12;
/** Number of results between two readings of the clock. */
const step = 1024;
/** Number of results in the warm-up search. */
const practised = 20_000;

/** A source that reads the files of `promptpress report` and filters results in memory. */
export class DiskSource implements ResultSource {
  summary: PageSummary | undefined;
  found: Found | undefined;
  progress: Progress | undefined;
  problem: string | undefined;
  readonly lost = false;
  readonly #ports: DiskPorts;
  readonly #listeners = new Listeners();
  readonly subscribe = this.#listeners.subscribe;
  #columns: Columns | undefined;
  #details: Details | undefined;
  #query: Query = {};
  /** Number of the current query; older walks over the results stop when it changes. */
  #asked = 0;
  #loaded: Promise<void> | undefined;

  constructor(ports: DiskPorts) {
    this.#ports = ports;
  }

  /** Functions that the scripts of the report call as `promptpress.…`. */
  readonly callbacks = {
    summary: (summary: PageSummary): void => {
      this.summary = summary;
    },
    results: (_chunk: number, packed: PackedResults): void => {
      this.#columns?.add(packed);
    },
    details: (chunk: number, details: readonly PageDetail[]): void => {
      this.#details?.take(chunk, details);
    },
  };

  /** Reads all results and notifies subscribers after each file. */
  open(): Promise<void> {
    this.#loaded ??= this.#open();
    return this.#loaded;
  }

  async #open(): Promise<void> {
    const { load, pause } = this.#ports;
    try {
      // The summary may be in the page, behind this script.
      await this.#ports.parsed();
      if (!this.summary) await load('data/summary.js');
    } catch {
      return this.#fail('data/summary.js is missing. Write the report again with `promptpress report`.');
    }
    const { summary } = this;
    if (summary?.version !== 1)
      return this.#fail(
        'This data was written by another version. Write the report again with `promptpress report`.',
      );
    const columns = new Columns(summary);
    this.#columns = columns;
    this.#details = new Details(summary.files?.detailsPerFile ?? 500, (chunk) =>
      load(dataFile('details', chunk)),
    );
    const { results } = summary;
    const chunks = Math.ceil(results / (summary.files?.resultsPerFile ?? Math.max(1, results)));
    if (results === 0) this.ask(this.#query);
    for (let chunk = 0; chunk < chunks; chunk += 1) {
      const before = columns.count;
      try {
        await load(dataFile('results', chunk));
      } catch {
        // The check below reports this error too, together with a file that contains no results.
      }
      if (columns.count === before) {
        this.#fail(
          `${dataFile('results', chunk)} is missing or damaged. Write the report again with \`promptpress report\`.`,
        );
        break;
      }
      this.progress = { what: 'results', done: columns.count, of: results };
      // Runs the query on the first chunk, and then whenever the number of results has doubled.
      if (chunk === 0 || columns.count >= 2 * this.#walked) this.ask(this.#query);
      this.#listeners.call();
      await pause();
    }
    this.progress = undefined;
    this.ask(this.#query);
    await this.#practise(columns, summary);
  }

  /** Searches some results for nothing, so that the JavaScript engine has optimised the code before the user's first search. */
  async #practise(columns: Columns, summary: PageSummary): Promise<void> {
    const matcher = matcherOf(columns, { search: '\u0001 \u0002' }, summary);
    for (let at = 0; at < Math.min(columns.count, practised); at += 1) {
      if (at % step === 0) await this.#ports.pause();
      matcher.match(at);
    }
  }

  #walked = 0;

  #fail(problem: string): void {
    this.problem = problem;
    this.#listeners.call();
  }

  ask(query: Query): void {
    this.#query = query;
    this.#asked += 1;
    void this.#walk(this.#asked);
  }

  async #walk(asked: number): Promise<void> {
    const [columns, { summary }] = [this.#columns, this];
    if (!columns || !summary) return;
    const { pause, now } = this.#ports;
    const matcher = matcherOf(columns, this.#query, summary);
    const until = columns.count;
    this.#walked = until;
    const matches: number[] = [];
    const candidates: number[] = [];
    let since = now();
    for (let at = 0; at < until; at += 1) {
      const match = matcher.match(at);
      if (match === 'yes') matches.push(at);
      else if (match === 'perhaps') candidates.push(at);
      if (at % step === 0 && now() - since > slice) {
        await pause();
        if (asked !== this.#asked) return;
        since = now();
      }
    }
    this.#publish(columns, Uint32Array.from(matches));
    if (candidates.length > 0 && until === summary.results)
      await this.#walkTexts(asked, columns, matcher, matches, candidates);
  }

  #publish(columns: Columns, ats: Uint32Array): void {
    this.found = diskFound(columns, inOrder(ats, this.#query.sort ?? 'plan', columns));
    this.#listeners.call();
  }

  /** Searches the full texts of candidates whose beginnings do not decide, one file of details at a time. */
  async #walkTexts(
    asked: number,
    columns: Columns,
    matcher: Matcher,
    matches: readonly number[],
    candidates: readonly number[],
  ): Promise<void> {
    const [details, { pause, now }] = [this.#details as Details, this.#ports];
    const all = new Set(matches);
    let [shown, since] = [now(), now()];
    for (let done = 0; done < candidates.length; ) {
      const chunk = details.chunkOf(candidates[done] as number);
      const texts = new Map((await details.chunk(chunk).catch(() => [])).map(({ at, text }) => [at, text]));
      for (; done < candidates.length && details.chunkOf(candidates[done] as number) === chunk; done += 1) {
        const at = candidates[done] as number;
        if (matcher.matchText(at, fold(texts.get(at) ?? ''))) all.add(at);
        if (now() - since > slice) {
          await pause();
          since = now();
        }
        if (asked !== this.#asked) return;
      }
      if (asked !== this.#asked) return;
      const end = done === candidates.length;
      this.progress = end ? undefined : { what: 'texts', done, of: candidates.length };
      if (end || now() - shown > 200) {
        this.#publish(columns, Uint32Array.from(all).sort());
        shown = now();
      } else this.#listeners.call();
    }
  }

  async result(at: number): Promise<PageResult | undefined> {
    if (at >= (this.#columns?.count ?? 0)) await this.open();
    return this.#columns?.result(at);
  }

  async detail(at: number): Promise<PageDetail | undefined> {
    return await this.#details?.detail(at);
  }

  async otherCells(result: PageResult): Promise<OtherCells> {
    await this.open();
    return this.#columns?.otherCells(result) ?? { above: null, below: [] };
  }

  async placeOfJob(job: string): Promise<number | undefined> {
    await this.open();
    return this.#columns?.findJob(job);
  }

  valuesOf(variable: number): readonly string[] | undefined {
    const values = this.#columns?.values[variable];
    return values && [...values];
  }

  fileAddress(file: string): string {
    return `${this.summary?.files?.runDirectory ?? '../'}${escapePath(file)}`;
  }

  thumbnailAddress(thumbnail: string): string {
    return `thumbnails/${escapePath(thumbnail)}`;
  }
}

const matcherOf = (columns: Columns, query: Query, { steps, variables }: PageSummary): Matcher =>
  new Matcher(
    columns,
    query,
    steps.map(({ name }) => name),
    variables.map(({ name }) => name),
  );

const dataFile = (kind: 'results' | 'details', chunk: number): string =>
  `data/${kind}-${String(chunk).padStart(5, '0')}.js`;

const kept = 6;

/** A cache of the details of results. It loads a chunk when one of its results is opened. */
class Details {
  readonly #load: (chunk: number) => Promise<void>;
  readonly #perChunk: number;
  readonly #chunks = new Map<number, readonly PageDetail[]>();
  readonly #loading = new Map<number, Promise<void>>();

  constructor(perChunk: number, load: (chunk: number) => Promise<void>) {
    this.#perChunk = perChunk;
    this.#load = load;
  }

  chunkOf(at: number): number {
    return Math.floor(at / this.#perChunk);
  }

  /** Stores the details from a chunk's script in the cache. */
  take(chunk: number, details: readonly PageDetail[]): void {
    this.#chunks.delete(chunk);
    this.#chunks.set(chunk, details);
    for (const oldest of this.#chunks.keys()) {
      if (this.#chunks.size <= kept) break;
      this.#chunks.delete(oldest);
    }
  }

  /** Returns the details of a chunk; empty if the file cannot be read. */
  async chunk(chunk: number): Promise<readonly PageDetail[]> {
    const known = this.#chunks.get(chunk);
    if (known) {
      this.take(chunk, known);
      return known;
    }
    const loading = this.#loading.get(chunk) ?? this.#load(chunk);
    this.#loading.set(chunk, loading);
    try {
      await loading;
    } finally {
      this.#loading.delete(chunk);
    }
    return this.#chunks.get(chunk) ?? [];
  }

  async detail(at: number): Promise<PageDetail | undefined> {
    const chunk = this.chunkOf(at);
    return (await this.chunk(chunk))[at - chunk * this.#perChunk];
  }
}

function diskFound(columns: Columns, ats: Uint32Array): Found {
  return {
    total: ats.length,
    result: (position) => {
      const at = ats[position];
      return at === undefined ? undefined : columns.result(at);
    },
    want: () => undefined,
    positionOf: (at) => ats.indexOf(at),
    cellOf: (position) => {
      const at = ats[position] as number;
      const { cell, from } = columns.chunkOf(at);
      return cell[at - from] as number;
    },
  };
}

const figureOf = { newest: 'finishedAt', cost: 'cost', duration: 'seconds' } as const;

/**
 * Sorts matches, which come in plan order: largest first, those without a figure last. It is a stable radix sort by the bits of the
 * figures, whose order is that of numbers from 0 on: 100,000 figures take a few milliseconds, much less than by comparison.
 */
export function inOrder(ats: Uint32Array, sort: PageSort, columns: Columns): Uint32Array {
  if (sort === 'plan') return ats;
  const { length } = ats;
  const numbers = new Float64Array(length);
  let order = new Uint32Array(length);
  for (let n = 0; n < length; n += 1) {
    const at = ats[n] as number;
    const chunk = columns.chunkOf(at);
    numbers[n] = Math.max(0, chunk[figureOf[sort]][at - chunk.from] as number);
    order[n] = n;
  }
  const digits = new Uint16Array(numbers.buffer);
  let next = new Uint32Array(length);
  for (let digit = 0; digit < 4; digit += 1) {
    const starts = new Uint32Array(0x1_00_01);
    for (let n = 0; n < length; n += 1) {
      const bucket = 0xff_ff - (digits[4 * n + digit] as number) + 1;
      starts[bucket] = (starts[bucket] as number) + 1;
    }
    for (let bucket = 1; bucket < starts.length; bucket += 1)
      starts[bucket] = (starts[bucket] as number) + (starts[bucket - 1] as number);
    for (let rank = 0; rank < length; rank += 1) {
      const n = order[rank] as number;
      const bucket = 0xff_ff - (digits[4 * n + digit] as number);
      const place = starts[bucket] as number;
      starts[bucket] = place + 1;
      next[place] = n;
    }
    [order, next] = [next, order];
  }
  for (let rank = 0; rank < length; rank += 1) next[rank] = ats[order[rank] as number] as number;
  return next;
}
