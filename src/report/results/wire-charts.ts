/** What the page is told for its charts; a part of `wire.ts`. */
export interface PageCharts {
  /** Seconds that one point of the time charts stands for. */
  readonly secondsPerPoint: number;
  /** Start of the first point, Unix ms; absent where nothing has been submitted. */
  readonly from?: number;
  /** Jobs that ended in each point, failed ones too. */
  readonly finished: readonly number[];
  /** Jobs that failed in each point. */
  readonly failed: readonly number[];
  /** Jobs under way at the end of each point. */
  readonly inFlight: readonly number[];
  /** Cost so far at the end of each point; empty where no price is known. */
  readonly cost: readonly number[];
  /** Seconds from submission to end. */
  readonly durations: readonly DurationRow[];
  readonly tokens: readonly {
    readonly model: string;
    readonly prompt: number;
    readonly candidates: number;
    readonly thoughts: number;
    readonly total: number;
  }[];
  /** How often a job was submitted again, and refused, by step. */
  readonly attempts: readonly {
    readonly step: string;
    readonly jobs: number;
    readonly submissions: number;
    readonly failed: number;
  }[];
}

export interface DurationRow {
  readonly step: string;
  /** Empty for texts. */
  readonly speed: string;
  readonly jobs: number;
  readonly p10: number;
  readonly median: number;
  readonly p90: number;
  readonly longest: number;
}
