import type { PageDetail, PageQuery, PageResult, PageSummary } from '../../results/wire.ts';

/** What the page asks of results: the filters of the wire, and those that only this browser knows. */
export interface Query extends PageQuery {
  /** Only results of these jobs: those that were marked here. */
  readonly jobs?: ReadonlySet<string>;
}

/** Results that match a query, by their position among the matches. */
export interface Found {
  readonly total: number;
  /** The result at a position; absent while it is not known yet. */
  readonly result: (position: number) => PageResult | undefined;
  /** Says which positions are looked at, so that they are fetched. */
  readonly want: (first: number, last: number) => void;
  /** Where a result is among the matches; −1 where it is not, or where that is not known. */
  readonly positionOf: (at: number) => number;
  /** The cell of each match, where all of them are known. */
  readonly cellOf?: (position: number) => number;
}

/** Work that goes on behind what is shown. */
export interface Progress {
  readonly what: 'results' | 'texts';
  readonly done: number;
  readonly of: number;
}

/** Where the page gets its results from: files on the disk, or a run that is being watched. */
export interface ResultSource {
  /** Absent until it was read. */
  readonly summary: PageSummary | undefined;
  /** Absent until the first results are there. */
  readonly found: Found | undefined;
  readonly progress: Progress | undefined;
  /** What went wrong, in a sentence for the reader. */
  readonly problem: string | undefined;
  /** Whether a live source has lost its connection. */
  readonly lost: boolean;
  readonly ask: (query: Query) => void;
  readonly result: (at: number) => Promise<PageResult | undefined>;
  readonly detail: (at: number) => Promise<PageDetail | undefined>;
  /** Where the first result of a job is. */
  readonly placeOfJob: (job: string) => Promise<number | undefined>;
  /** All values of a variable that are known here, or none where only the summary knows some. */
  readonly valuesOf: (variable: number) => readonly string[] | undefined;
  readonly fileAddress: (file: string) => string;
  readonly thumbnailAddress: (thumbnail: string) => string;
  /** Calls back after each change of what is above; returns what ends that. */
  readonly subscribe: (changed: () => void) => () => void;
}
