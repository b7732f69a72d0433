import type { OtherCells, PageDetail, PageFound, PageResult, PageSummary } from '../../results/wire.ts';
import { escapePath } from '../text/names.ts';
import { Listeners } from './listeners.ts';
import type { Found, Progress, Query, ResultSource } from './source.ts';

/** The browser functions that {@link LiveSource} uses. */
export interface LivePorts {
  /** Fetches the JSON at an address of `serve`; rejects on failure. */
  readonly json: (address: string) => Promise<unknown>;
  /** Listens to server-sent events; reconnects by itself. */
  readonly events: (address: string, on: LiveEvents) => void;
  /** Calls back after some milliseconds. */
  readonly later: (milliseconds: number, call: () => void) => void;
}

export interface LiveEvents {
  readonly changed: (summary: PageSummary) => void;
  readonly open: () => void;
  readonly lost: () => void;
}

/** Number of results in one request. */
const page = 120;
/** Milliseconds before a failed request is sent again. */
const again = 2000;
/** Shortest time in milliseconds between a response and the same request again. */
const soonest = 500;
/** Largest number of jobs in a query. Queries are part of an address, which servers limit to 16 kB. */
export const maxJobs = 300;
/** Number of pages in the cache. */
const kept = 24;

/** A source that requests the visible results from `promptpress serve`. */
export class LiveSource implements ResultSource {
  summary: PageSummary | undefined;
  found: Found | undefined;
  problem: string | undefined;
  lost = false;
  readonly #ports: LivePorts;
  readonly #listeners = new Listeners();
  readonly subscribe = this.#listeners.subscribe;
  #query: Query = {};
  #asked = 0;
  /** Cached results by page number; the page used last is at the end. */
  #pages = new Map<number, readonly PageResult[]>();
  /** Pages that changed on the server; they are shown until they are loaded again. */
  #stale = new Set<number>();
  readonly #loading = new Set<number>();
  #wanted: readonly [first: number, last: number] = [0, 0];

  constructor(ports: LivePorts) {
    this.#ports = ports;
  }

  /** Progress of the server while it reads its results. */
  get progress(): Progress | undefined {
    const { indexed = 0, results = 0 } = this.summary ?? {};
    return indexed < results ? { what: 'results', done: indexed, of: results } : undefined;
  }

  async open(): Promise<void> {
    await this.#readSummary();
    this.ask(this.#query);
    this.#ports.events('api/events', {
      changed: (summary) => {
        this.summary = summary;
        this.problem = undefined;
        // Includes pages being loaded, because the server may have read them before the change.
        this.#stale = new Set([...this.#pages.keys(), ...this.#loading]);
        this.#fetchWanted();
        this.#listeners.call();
      },
      open: () => {
        this.lost = false;
        this.#listeners.call();
      },
      lost: () => {
        this.lost = true;
        this.#listeners.call();
      },
    });
  }

  async #readSummary(): Promise<void> {
    try {
      const summary = (await this.#ports.json('api/summary')) as PageSummary;
      // An event may have brought a newer summary.
      this.summary ??= summary;
      this.problem = undefined;
    } catch {
      this.problem =
        'The results cannot be read. Is `promptpress serve` still running? Open the address that it prints.';
      this.#ports.later(again, () => void this.#readSummary());
    }
    this.#listeners.call();
  }

  ask(query: Query): void {
    this.#query = query;
    this.#asked += 1;
    this.#pages = new Map();
    this.#stale.clear();
    this.#loading.clear();
    this.#wanted = [0, 0];
    this.#fetchWanted();
  }

  #address(offset: number, limit: number, query: Query): string {
    const { jobs, ...rest } = query;
    const asked = jobs ? { ...rest, jobs: [...jobs].slice(0, maxJobs) } : rest;
    return `api/results?q=${encodeURIComponent(JSON.stringify(asked))}&offset=${offset}&limit=${limit}`;
  }

  #fetchWanted(): void {
    const [first, last] = this.#wanted;
    for (let number = Math.floor(first / page); number <= Math.floor(last / page); number += 1)
      if (!this.#loading.has(number) && (!this.#pages.has(number) || this.#stale.has(number)))
        void this.#fetch(number);
  }

  async #fetch(number: number): Promise<void> {
    const asked = this.#asked;
    this.#loading.add(number);
    this.#stale.delete(number);
    try {
      const found = (await this.#ports.json(this.#address(number * page, page, this.#query))) as PageFound;
      if (asked !== this.#asked) return;
      this.#pages.delete(number);
      this.#pages.set(number, found.results);
      for (const oldest of this.#pages.keys()) {
        if (this.#pages.size <= kept) break;
        this.#pages.delete(oldest);
      }
      this.found = this.#found(found.total);
      this.lost = false;
      this.#loading.delete(number);
      if (found.again !== undefined) this.#fetchLater(number, Math.max(soonest, found.again));
      this.#listeners.call();
      if (this.#stale.has(number)) this.#fetchWanted();
    } catch {
      if (asked !== this.#asked) return;
      this.#stale.add(number);
      this.lost = true;
      this.#listeners.call();
      this.#ports.later(again, () => {
        if (asked !== this.#asked) return;
        this.#loading.delete(number);
        this.#fetchWanted();
      });
    }
  }

  /** Loads a page again after some milliseconds, if it is still visible. */
  #fetchLater(number: number, milliseconds: number): void {
    const asked = this.#asked;
    this.#ports.later(milliseconds, () => {
      if (asked !== this.#asked) return;
      this.#stale.add(number);
      this.#fetchWanted();
    });
  }

  #found(total: number): Found {
    const pages = this.#pages;
    return {
      total,
      result: (position) => pages.get(Math.floor(position / page))?.[position % page],
      want: (first, last) => {
        this.#wanted = [first, Math.min(last, Math.max(0, total - 1))];
        this.#fetchWanted();
      },
      positionOf: (at) => {
        for (const [number, results] of pages) {
          const place = results.findIndex((result) => result.at === at);
          if (place >= 0) return number * page + place;
        }
        return -1;
      },
    };
  }

  async result(at: number): Promise<PageResult | undefined> {
    for (const results of this.#pages.values()) {
      const known = results.find((result) => result.at === at);
      if (known) return known;
    }
    const found = (await this.#ports.json(this.#address(at, 1, {}))) as PageFound;
    return found.results[0];
  }

  async detail(at: number): Promise<PageDetail | undefined> {
    return (await this.#ports.json(`api/detail/${at}`)) as PageDetail;
  }

  async otherCells({ at }: PageResult): Promise<OtherCells> {
    return (await this.#ports.json(`api/other-cells/${at}`)) as OtherCells;
  }

  async placeOfJob(job: string): Promise<number | undefined> {
    const at = await this.#ports.json(`api/of-job/${encodeURIComponent(job)}`);
    return typeof at === 'number' ? at : undefined;
  }

  valuesOf(): undefined {
    return undefined;
  }

  fileAddress(file: string): string {
    return `files/${escapePath(file)}`;
  }

  thumbnailAddress(thumbnail: string): string {
    return `thumbnails/${escapePath(thumbnail)}`;
  }
}
