/** Data of the charts; a part of `wire.ts`. */
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
