/** Two ways of doing one thing, measured in one process so that machine and load cancel out. */
export interface Comparison {
  /** What both columns count, for example `µs per record`. */
  readonly unit: string;
  readonly left: Side;
  readonly right: Side;
}

interface Side {
  readonly name: string;
  /** One measurement, with nothing left over from the one before. */
  readonly measure: () => number | Promise<number>;
}

/** A benchmark: what it asks, and how its comparison is set up. */
export interface Bench {
  /** What the ratio should tell, as one line. */
  readonly asks: string;
  readonly prepare: () => Comparison | Promise<Comparison>;
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
