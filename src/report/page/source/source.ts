import type { OtherCells, PageDetail, PageQuery, PageResult, PageSummary } from '../../results/wire.ts';

/** A query for results: the filters of the wire, and those that only this browser knows. */
export interface Query extends PageQuery {
  /** Keys of jobs; only their results match. They are jobs marked in this browser. */
  readonly jobs?: ReadonlySet<string>;
}

/** The results that match a query, by position among the matches. */
export interface Found {
  readonly total: number;
  /** Returns the result at a position; undefined until it is loaded. */
  readonly result: (position: number) => PageResult | undefined;
  /** Reports which positions are visible, so that they are loaded. */
  readonly want: (first: number, last: number) => void;
  /** Returns the position of a result among the matches; −1 if it does not match or is unknown. */
  readonly positionOf: (at: number) => number;
  /** Returns the cell of a match; absent unless all matches are known. */
  readonly cellOf?: (position: number) => number;
}

/** Progress of work in the background. */
export interface Progress {
  readonly what: 'results' | 'texts';
  readonly done: number;
  readonly of: number;
}

/** A source of results for the page: files on the disk or a running server. */
export interface ResultSource {
  /** Absent until it is loaded. */
  readonly summary: PageSummary | undefined;
  /** Absent until the first results are loaded. */
  readonly found: Found | undefined;
  readonly progress: Progress | undefined;
  /** Description of the last error, in a sentence for the user. */
  readonly problem: string | undefined;
  /** Whether a live source has lost its connection. */
  readonly lost: boolean;
  readonly ask: (query: Query) => void;
  readonly result: (at: number) => Promise<PageResult | undefined>;
  readonly detail: (at: number) => Promise<PageDetail | undefined>;
  /** Finds what is linked with a result of another cell by a pick. */
  readonly otherCells: (result: PageResult) => Promise<OtherCells>;
  /** Finds the first result of a job. */
  readonly placeOfJob: (job: string) => Promise<number | undefined>;
  /** Returns all values of a variable; undefined if the source knows only those of the summary. */
  readonly valuesOf: (variable: number) => readonly string[] | undefined;
  readonly fileAddress: (file: string) => string;
  readonly thumbnailAddress: (thumbnail: string) => string;
  /** Calls back after each change of this source. Returns a function that ends the subscription. */
  readonly subscribe: (changed: () => void) => () => void;
}
