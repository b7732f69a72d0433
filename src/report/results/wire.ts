import type { CountedStatus } from '../../plan/slot.ts';
import type { HowFar } from '../facts/json-outputs.generated.ts';

/**
 * The data that the page reads, as JSON. The files of `report` and the responses of `serve` have the same shapes, so that the page shows
 * finished and active runs alike. The page imports only these types.
 */

/** Version of these shapes. The page refuses data of another version. */
export type WireVersion = 1;

/** Facts about a run that the page needs before it loads results. */
export interface PageSummary {
  readonly version: WireVersion;
  /** Name of the pipeline. */
  readonly name: string;
  readonly description?: string;
  /** Whether the run is a rehearsal in the sandbox. */
  readonly sandbox: boolean;
  /** Name and version of the program: `promptpress 1.2.3`. */
  readonly madeBy: string;
  /** Time of this summary, Unix ms. */
  readonly at: number;
  /** Whether a run is active. */
  readonly live: boolean;
  /** Progress of the active or last run, in slots; absent while its plan is not ready. */
  readonly planned?: HowFar;
  /** Status of the workers of a run on an engine; only under `serve`. */
  readonly workersStatus?: PageWorkers;
  /** Number of results, which are the rows of the manifest in its order. */
  readonly results: number;
  /** Number of results that can be requested; smaller than {@link results} while an index is being built. */
  readonly indexed: number;
  /** Steps in file order. */
  readonly steps: readonly PageStep[];
  /** Number of results by status; statuses without results are absent. */
  readonly statuses: Readonly<Partial<Record<PageStatus, number>>>;
  /** Variables in the order of the manifest's columns. */
  readonly variables: readonly PageVariable[];
  readonly totals: PageTotals;
  /** Failures by reason, most frequent first. */
  readonly failures: readonly FailureGroup[];
  readonly charts: PageCharts;
  /** How `report` splits its data into files; absent under `serve`. */
  readonly files?: PageFiles;
}

export interface PageWorkers {
  /** Number of workers alive. */
  readonly workers: number;
  /** Number of slices without a worker. */
  readonly waiting: number;
}

export interface PageStep {
  readonly name: string;
  /** Kind of the step: `imagine`, `click`, `generate`, …. A step with a path also has results of the kind `click`. */
  readonly kind: string;
  /** Branches as in the manifest's column `branch`, in plan order; for a wildcard the ones found. */
  readonly branches: readonly string[];
  readonly results: number;
}

export interface PageVariable {
  readonly name: string;
  /** Number of distinct values in all cells with results, counted up to {@link countedValues}. */
  readonly distinct: number;
  /** The first {@link listedValues} values as the manifest shows them, in order of occurrence, each with its number of results. */
  readonly values: readonly (readonly [value: string, results: number])[];
}

/** Largest number of values listed for a variable; a variable with more is filtered by searching for a value. */
export const listedValues = 200;

/** Distinct values of a variable are counted up to this number. */
export const countedValues = 100_000;

/** Status of a result; failures that the pipeline accepts, and what they block, are `accepted`. */
export type PageStatus = CountedStatus;

export interface PageTotals {
  readonly submissions: number;
  /** Cost in the currency of the pipeline's prices; absent if no price is known. */
  readonly cost?: number;
  /** Additional cost of submissions and calls without a response. */
  readonly possibleCost?: number;
  readonly budget?: { readonly cost?: number; readonly submits?: number; readonly tokens?: number };
  readonly tokens: number;
  /** Size of all files, in bytes. */
  readonly bytes: number;
  /** A sentence about files of different jobs with equal bytes; absent if there are none. */
  readonly sameFiles?: string;
}

/** Failures with the same reason. */
export interface FailureGroup {
  readonly code: string;
  /** Set if the pipeline accepts this code. */
  readonly accepted?: true;
  /** Common part of the error messages. */
  readonly message: string;
  /** What the user can do about them. */
  readonly advice: string;
  /** Commands to copy; often none. */
  readonly commands: readonly string[];
  readonly results: number;
  /** Indices of the first of these results, see {@link PageResult.at}. */
  readonly examples: readonly number[];
  /** Number of failures by step. */
  readonly steps: Readonly<Record<string, number>>;
}

/** A result as shown and filtered in the grid. */
export interface PageResult {
  /** Index among all results, from 0: the row of the manifest, without the header. */
  readonly at: number;
  readonly cell: number;
  readonly step: string;
  /** Buttons that led to the result; empty for the result of the step itself. */
  readonly branch: string;
  /** Number of the output, from 1; absent if the slot has no outputs. */
  readonly output?: number;
  /** Number of the frame of its grid, from 1; absent if it is no frame. */
  readonly frame?: number;
  /** What a step that picks took it as: `best/1`. */
  readonly picked?: string;
  /** The pick that it was made from and the key of its job, if these are in another cell: `best/1 4f…`. */
  readonly madeFrom?: string;
  readonly status: PageStatus;
  readonly kind: string;
  /** Key of the job; absent while the request is unknown. */
  readonly job?: string;
  readonly media?: 'image' | 'video' | 'text' | 'json' | 'other';
  /** Path of the file, relative to the run directory. */
  readonly file?: string;
  /** Path of the thumbnail, relative to the folder of thumbnails; absent if there is none. */
  readonly thumbnail?: string;
  readonly width?: number;
  readonly height?: number;
  /** The first 10,000 characters of the prompt. */
  readonly prompt?: string;
  /** The first 240 characters of the text. */
  readonly text?: string;
  readonly errorCode?: string;
  readonly errorMessage?: string;
  /** Values of the variables as in the manifest, in the order of {@link PageSummary.variables}, each cut at 10,000 characters. */
  readonly vars: readonly string[];
  /** Cost of the job, only on the first row of the job. */
  readonly cost?: number;
  /** End of the job, Unix ms. */
  readonly finishedAt?: number;
  /** Seconds between submission and end, if both are known. */
  readonly seconds?: number;
}

/** All other facts about a result; requested when the result is opened. */
export interface PageDetail {
  readonly at: number;
  /** The full prompt if {@link PageResult} has only its beginning; at most a million characters. */
  readonly prompt?: string;
  /** The full text; at most a million characters. */
  readonly text?: string;
  readonly model?: string;
  readonly mime?: string;
  readonly bytes?: number;
  readonly sha256?: string;
  readonly button?: string;
  readonly speed?: string;
  readonly taskId?: string;
  readonly parentTaskId?: string;
  readonly imageUrl?: string;
  readonly requestId?: string;
  readonly finishReason?: string;
  readonly blockReason?: string;
  readonly attempts?: number;
  /** Cost of the job, on every row of the job. */
  readonly cost?: number;
  /** Numbers of tokens by name, in display order. */
  readonly tokens?: Readonly<Record<string, number>>;
  /** Time of the submission, Unix ms. */
  readonly submittedAt?: number;
  /** What the user can do about the error. */
  readonly advice?: string;
  readonly commands?: readonly string[];
  /** The path from the root to this result. For a text that judges several results only their common ancestors. */
  readonly lineage: readonly LineageStop[];
  /** Other results that the job used: gathered or continued ones, images of other steps, replies named in templates. */
  readonly inputs: readonly LineageStop[];
  /** Results made from this one. */
  readonly children: readonly LineageStop[];
}

/** What a result that a step picked over several cells is linked with; see {@link PageResult.madeFrom}. */
export interface OtherCells {
  /** Index of the picked result that it was made from; null if that is in its own cell, or unknown. */
  readonly above: number | null;
  /** Indices of results of other cells that were made from it. */
  readonly below: readonly number[];
}

/**
 * A link to another result of the same cell. If several cells share a job, each has its own result of the job and links to the results
 * of that cell.
 */
export interface LineageStop {
  /** Name of the link: `grid`, `U2`, `Vary (Strong)`, or the name of a step. */
  readonly label: string;
  /** Index of the result; of a job with several outputs the first one. */
  readonly at: number;
}

/** A query for results. */
export interface PageQuery {
  /** Words that must all occur in the prompt, the text, the error or the pick (`picked as best/1`), in any order; case and accents are ignored. */
  readonly search?: string;
  readonly steps?: readonly string[];
  readonly statuses?: readonly PageStatus[];
  readonly errorCode?: string;
  /** Accepted values, by variable. */
  readonly vars?: Readonly<Record<string, readonly string[]>>;
  readonly sort?: PageSort;
}

/** Order of results. `plan` is the order of the manifest; the others put the largest or newest first, then use plan order. */
export type PageSort = 'plan' | 'newest' | 'cost' | 'duration';

/** Response of `serve` to a query. */
export interface PageFound {
  /** Number of results that match. */
  readonly total: number;
  readonly results: readonly PageResult[];
  /** Milliseconds until newer results are available; absent if these are the latest. */
  readonly again?: number;
}

/**
 * Files of a report. Chunk n of the results starts at result n × resultsPerFile, and so on. Each file is a script that calls
 * `promptpress.summary(summary)`, `promptpress.results(n, packed)` or `promptpress.details(n, details)`. Files are named
 * `data/summary.js`, `data/results-00000.js` and `data/details-00000.js`; thumbnails are in `thumbnails/`.
 *
 * The other files of the built page are copied unchanged. In `index.html` the mark `<!-- promptpress:summary -->` becomes the script
 * element of `data/summary.js`. `serve` removes the mark and changes `data-source="disk"` of the body to `data-source="live"`. The
 * script of the page comes before the mark and defines `promptpress`.
 */
export interface PageFiles {
  readonly resultsPerFile: number;
  readonly detailsPerFile: number;
  /** Address of the run directory relative to the page: `../`. */
  readonly runDirectory: string;
}

/** Columns of texts, empty where there is none; names as in {@link PageResult}. */
type PackedTexts = Readonly<
  Record<'picked' | 'madeFrom' | 'job' | 'media' | 'file' | 'thumbnail' | 'text', readonly string[]>
>;

/** Columns of numbers, 0 where there is none; names as in {@link PageResult}. An unknown `cost` is −1. */
type PackedNumbers = Readonly<
  Record<
    'cell' | 'output' | 'frame' | 'width' | 'height' | 'cost' | 'finishedAt' | 'seconds',
    readonly number[]
  >
>;

/** Results in columns, a fifth of the bytes of a list of objects and fast to filter. Repeated values are indices into a list. */
export interface PackedResults extends PackedTexts, PackedNumbers {
  /** Index of the first result. */
  readonly from: number;
  readonly count: number;
  /** Index into {@link PageSummary.steps}. */
  readonly step: readonly number[];
  readonly branches: readonly string[];
  readonly branch: readonly number[];
  readonly statuses: readonly PageStatus[];
  readonly status: readonly number[];
  readonly kinds: readonly string[];
  readonly kind: readonly number[];
  readonly prompts: readonly string[];
  /** Index of the prompt; −1 if there is none. */
  readonly prompt: readonly number[];
  readonly errors: readonly (readonly [code: string, message: string])[];
  /** Index of the error; −1 if there is none. */
  readonly error: readonly number[];
  /** By variable: its distinct values here, and for each result the index of its value. */
  readonly vars: readonly { readonly values: readonly string[]; readonly value: readonly number[] }[];
}

/** Data of the charts. */
export interface PageCharts {
  /** Length of a point in the time charts, in seconds. */
  readonly secondsPerPoint: number;
  /** Start of the first point, Unix ms; absent if nothing was submitted. */
  readonly from?: number;
  /** Number of jobs that ended in each point, including failed ones. */
  readonly finished: readonly number[];
  /** Number of jobs that failed in each point. */
  readonly failed: readonly number[];
  /** Number of jobs in flight at the end of each point. */
  readonly inFlight: readonly number[];
  /** Total cost at the end of each point; empty if no price is known. */
  readonly cost: readonly number[];
  /** Seconds from submission to end, by step. */
  readonly durations: readonly DurationRow[];
  readonly tokens: readonly {
    readonly model: string;
    readonly prompt: number;
    readonly candidates: number;
    readonly thoughts: number;
    readonly total: number;
  }[];
  /** Number of resubmissions and refusals, by step. */
  readonly attempts: readonly {
    readonly step: string;
    readonly jobs: number;
    readonly submissions: number;
    readonly failed: number;
  }[];
}

export interface DurationRow {
  readonly step: string;
  /** Speed of the service; empty for texts. */
  readonly speed: string;
  readonly jobs: number;
  readonly p10: number;
  readonly median: number;
  readonly p90: number;
  readonly longest: number;
}
