import type { HowFar } from '../facts/json-outputs.generated.ts';
import type { PageCharts } from './wire-charts.ts';

/**
 * What the page is told, by the files that `report` writes and by what `serve` answers. Both send the same shapes, so that the page
 * shows a finished run and a live one alike. All of it is JSON: the page imports nothing but these types.
 */

export type { DurationRow, PageCharts } from './wire-charts.ts';

/** Version of these shapes. A page refuses data of another one. */
export type WireVersion = 1;

/** All of a run that the page needs before it has seen a result. */
export interface PageSummary {
  readonly version: WireVersion;
  /** The pipeline's. */
  readonly name: string;
  readonly description?: string;
  /** A rehearsal in the sandbox. */
  readonly sandbox: boolean;
  /** `promptpress 1.2.3`. */
  readonly madeBy: string;
  /** When these facts were gathered, Unix ms. */
  readonly at: number;
  /** A run is on now. */
  readonly live: boolean;
  /** How far the run that is on is, or the last one came, in slots; absent: its plan is not ready. */
  readonly planned?: HowFar;
  /** Of a run on an engine, under `serve`: how its workers are doing. */
  readonly workersStatus?: PageWorkers;
  /** Results, which are the rows of the manifest, in its order. */
  readonly results: number;
  /** How many of {@link results} can be asked for so far; fewer while an index is being built. */
  readonly indexed: number;
  /** In file order. */
  readonly steps: readonly PageStep[];
  /** Results by status; a status that none has is absent. */
  readonly statuses: Readonly<Partial<Record<PageStatus, number>>>;
  /** In the order of the manifest's columns. */
  readonly variables: readonly PageVariable[];
  readonly totals: PageTotals;
  /** Most frequent first. */
  readonly failures: readonly FailureGroup[];
  readonly charts: PageCharts;
  /** Of `report`: how its data files are cut. Absent under `serve`. */
  readonly files?: PageFiles;
}

/** The workers of a run on an engine. */
export interface PageWorkers {
  /** Those that are alive. */
  readonly workers: number;
  readonly slices: { readonly waiting: number; readonly held: number; readonly done: number };
  /** Slices that were taken from a worker that had not let go of them. */
  readonly takeovers: number;
  /** Image tasks of all runs of the service: how many may be in flight, and are. */
  readonly tasks: { readonly granted: number; readonly used: number };
  /** Requests a minute to the service, by route. */
  readonly rates: readonly (readonly [route: string, perMinute: number])[];
  /** What may be spent, and is. */
  readonly spending: readonly { readonly kind: string; readonly most: number; readonly used: number }[];
}

export interface PageStep {
  readonly name: string;
  /** `imagine`, `click`, `generate`, …; a step with a path has results of the kind `click` too. */
  readonly kind: string;
  /** As the manifest's column `branch` has them, in the order of the plan; of a wildcard those that were found. */
  readonly branches: readonly string[];
  readonly results: number;
}

export interface PageVariable {
  readonly name: string;
  /** How many values it has in all cells that have results; counted as far as {@link countedValues}. */
  readonly distinct: number;
  /** Its values as the manifest shows them, in the order in which they first come, with the number of results of each; the first {@link listedValues}. */
  readonly values: readonly (readonly [value: string, results: number])[];
}

/** A variable with more values than this is filtered by finding a value. */
export const listedValues = 200;

/** Different values of a variable are counted up to here: one that has more says this. */
export const countedValues = 100_000;

export type PageStatus =
  | 'pending'
  | 'submitting'
  | 'running'
  | 'modal'
  | 'saving'
  | 'done'
  | 'failed'
  | 'in-doubt'
  | 'skipped'
  | 'blocked';

export interface PageTotals {
  readonly submissions: number;
  /** In the currency of the pipeline's prices; absent where no price is known. */
  readonly cost?: number;
  /** Of submissions and calls whose answer never came, in addition. */
  readonly possibleCost?: number;
  readonly budget?: { readonly cost?: number; readonly submits?: number; readonly tokens?: number };
  readonly tokens: number;
  /** Bytes of all files. */
  readonly bytes: number;
  /** Files of different jobs that have the same bytes: a sentence. Absent: none. */
  readonly sameFiles?: string;
}

/** Failures of one reason. */
export interface FailureGroup {
  readonly code: string;
  /** What their messages have in common. */
  readonly message: string;
  /** What the user can do. */
  readonly advice: string;
  /** Commands to copy; often none. */
  readonly commands: readonly string[];
  readonly results: number;
  /** Places of the first of them, see {@link PageResult.at}. */
  readonly examples: readonly number[];
  /** By step. */
  readonly steps: Readonly<Record<string, number>>;
}

/** One result as the grid shows and filters it. */
export interface PageResult {
  /** Its place among all results, from 0: its row in the manifest without the header. */
  readonly at: number;
  readonly cell: number;
  readonly step: string;
  /** Empty for the step's own result. */
  readonly branch: string;
  /** From 1; absent where the slot has none. */
  readonly output?: number;
  readonly status: PageStatus;
  readonly kind: string;
  /** Key of its job; absent while the request is not known. */
  readonly job?: string;
  readonly media?: 'image' | 'video' | 'text' | 'json' | 'other';
  /** Relative to the run directory. */
  readonly file?: string;
  /** Relative to the folder of thumbnails; absent where there is none. */
  readonly thumbnail?: string;
  readonly width?: number;
  readonly height?: number;
  /** The first 10,000 characters of it. */
  readonly prompt?: string;
  /** The first 240 characters of its text. */
  readonly text?: string;
  readonly errorCode?: string;
  readonly errorMessage?: string;
  /** Values of the variables, in the order of {@link PageSummary.variables}, as the manifest shows them, 10,000 characters of each at most. */
  readonly vars: readonly string[];
  /** Of its job, on the first row of the job only. */
  readonly cost?: number;
  /** Unix ms. */
  readonly finishedAt?: number;
  /** Between the submission and the end, where both are known. */
  readonly seconds?: number;
}

/** Everything else that is known of a result; asked for when it is opened. */
export interface PageDetail {
  readonly at: number;
  /** The whole prompt, where the result has only its beginning; a million characters at most. */
  readonly prompt?: string;
  /** The whole text; a million characters at most. */
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
  /** Of its job, whichever row it stands on. */
  readonly cost?: number;
  /** Counts of tokens by name, in the order in which they are shown. */
  readonly tokens?: Readonly<Record<string, number>>;
  /** Unix ms. */
  readonly submittedAt?: number;
  /** What to do about its error. */
  readonly advice?: string;
  readonly commands?: readonly string[];
  /** Jobs that it came from, the root first, itself last: the way to it. A judge of several has their common ancestors only. */
  readonly lineage: readonly LineageStop[];
  /** Jobs that it was made of beside its parent: gathered or continued ones, images of other steps, replies that its templates name. */
  readonly inputs: readonly LineageStop[];
  /** Jobs that were made from it. */
  readonly children: readonly LineageStop[];
}

/**
 * A result that another one comes from or leads to. Both are of one cell: a job that several cells share has a result in each, and
 * each of them leads to what that cell made of it.
 */
export interface LineageStop {
  /** `grid`, `U2`, `Vary (Strong)`, or the name of a step. */
  readonly label: string;
  /** Where it is among all results; of a job with several outputs, the first of them. */
  readonly at: number;
}

/** What a filter of results asks for. */
export interface PageQuery {
  /** Words that must all be in the prompt, the text or the error, in any order; case and accents aside. */
  readonly search?: string;
  readonly steps?: readonly string[];
  readonly statuses?: readonly PageStatus[];
  readonly errorCode?: string;
  /** By variable: one of these values. */
  readonly vars?: Readonly<Record<string, readonly string[]>>;
  readonly sort?: PageSort;
}

/** `plan`: in the manifest's order. The others have the largest or the newest first, then the plan's order. */
export type PageSort = 'plan' | 'newest' | 'cost' | 'duration';

/** Answer of `serve` to a query. */
export interface PageFound {
  /** Results that match. */
  readonly total: number;
  readonly results: readonly PageResult[];
  /** These are of before the last change; in so many milliseconds there are later ones. Absent: they are the latest. */
  readonly again?: number;
}

/**
 * How `report` cuts its data. Chunk n of results holds the results from n × resultsPerFile on, and so on; each file is a script that calls
 * `promptpress.summary(summary)`, `promptpress.results(n, packed)` or `promptpress.details(n, details)`. Files are named `data/summary.js`,
 * `data/results-00000.js` and `data/details-00000.js`; thumbnails lie in `thumbnails/`.
 *
 * The other files of the built page are copied as they are. In `index.html`, `<!-- promptpress:summary -->` becomes the script element of `data/summary.js`
 * (`serve` takes the mark away, and makes `data-source="disk"` of the body `data-source="live"`); the page's own script stands before it and has made
 * `promptpress`.
 */
export interface PageFiles {
  readonly resultsPerFile: number;
  readonly detailsPerFile: number;
  /** Where the files of the run lie, seen from the page: `../`. */
  readonly runDirectory: string;
}

/** Some results in columns: a fifth of the bytes of a list of objects, and quick to filter. What has few values is an index into its list. */
export interface PackedResults {
  /** Place of the first. */
  readonly from: number;
  readonly count: number;
  readonly cell: readonly number[];
  /** Index into {@link PageSummary.steps}. */
  readonly step: readonly number[];
  readonly branches: readonly string[];
  readonly branch: readonly number[];
  readonly statuses: readonly PageStatus[];
  readonly status: readonly number[];
  readonly kinds: readonly string[];
  readonly kind: readonly number[];
  /** 0 for none. */
  readonly output: readonly number[];
  /** Empty for none. */
  readonly job: readonly string[];
  /** Empty for none. */
  readonly media: readonly string[];
  /** Empty for none. */
  readonly file: readonly string[];
  /** Empty for none. */
  readonly thumbnail: readonly string[];
  /** 0 for none. */
  readonly width: readonly number[];
  readonly height: readonly number[];
  readonly prompts: readonly string[];
  /** −1 for none. */
  readonly prompt: readonly number[];
  readonly text: readonly string[];
  readonly errors: readonly (readonly [code: string, message: string])[];
  /** −1 for none. */
  readonly error: readonly number[];
  /** By variable: its values here, and the index of each result's. */
  readonly vars: readonly { readonly values: readonly string[]; readonly value: readonly number[] }[];
  /** −1 for none. */
  readonly cost: readonly number[];
  /** 0 for none. */
  readonly finishedAt: readonly number[];
  /** Seconds; 0 for none. */
  readonly seconds: readonly number[];
}
