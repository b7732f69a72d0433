/** What one measurement of a side found. A plain number is its `value`. */
export interface Measured {
  /** In the unit of the comparison. */
  readonly value: number;
  /** CPU time (user and system) of the process that did the work, in ms. Default: that of this process meanwhile. */
  readonly cpuMs?: number;
  /** Peak memory (resident) of the process that did the work, in MB (10^6 bytes). Only a process of its own has one. */
  readonly peakMB?: number;
}

export interface Side {
  readonly name: string;
  /** One measurement, with nothing left over from the one before. */
  readonly measure: () => number | Measured | Promise<number | Measured>;
}

/** Two ways of doing one thing, measured in turns so that machine and load cancel out. */
export interface Comparison {
  /** What both columns count, for example `µs per record`. */
  readonly unit: string;
  /** What the bench is about: promptpress, as a rule. */
  readonly left: Side;
  /** The baseline: what a user would otherwise write, or the least that could be done. Absent: only `left` is shown. */
  readonly right?: Side;
  /** A third way, measured in the same rounds and shown beside the others: what durability alone costs, for example. */
  readonly beside?: Side;
  /** Called once behind the last round, also where a round failed. */
  readonly end?: () => void | Promise<void>;
}

/** What a bench could not get: a program that is installed by hand, for example. */
export interface NotMeasured {
  readonly notMeasured: string;
}

/** Flags that a bench may read. */
export interface BenchOptions {
  /** `--peer DIR`: where promptfoo is installed (`DIR/node_modules/.bin/promptfoo`). */
  readonly peer?: string;
  /** `--million`: also what takes many minutes. */
  readonly million?: boolean;
}

/** What the figures may be at most, or must be at least. They are shown and judged in the table; no test asserts them. */
export interface Allowed {
  readonly ratioAtMost?: number;
  readonly ratioAtLeast?: number;
  /** Of the figure of `left`, in the comparison's unit. */
  readonly figureAtMost?: number;
  readonly figureAtLeast?: number;
  /** Of the peak memory of `left`. */
  readonly peakMBAtMost?: number;
}

/** A benchmark: a row of the table, which `npm run bench` finds by its name in test/bench/run.ts. */
export interface Bench {
  /** What the ratio should tell, as one line. */
  readonly asks: string;
  readonly allowed?: Allowed;
  /** Rounds where `--rounds` does not say otherwise. Default 7; 1 for what is the same each time (virtual time). */
  readonly rounds?: number;
  /** Whether one more round comes first, which does not count. Default true; false where every round starts its own processes. */
  readonly warmUp?: boolean;
  readonly prepare: (options: BenchOptions) => Comparison | NotMeasured | Promise<Comparison | NotMeasured>;
}

/** Microseconds of wall time that one of `count` things takes in this work. */
export async function microsecondsEach(count: number, work: () => void | Promise<void>): Promise<number> {
  const from = process.hrtime.bigint();
  await work();
  return Number(process.hrtime.bigint() - from) / 1000 / count;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? Number.NaN) + (sorted[Math.floor(middle)] ?? Number.NaN)) / 2;
}
