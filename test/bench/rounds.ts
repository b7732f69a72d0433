import {
  type Allowed,
  type Bench,
  type BenchOptions,
  type Comparison,
  type Measured,
  median,
  type Side,
} from './comparison.ts';

/** Smallest, middle and largest value over the rounds. */
export interface Spread {
  readonly min: number;
  readonly median: number;
  readonly max: number;
}

/** What a side took over all rounds. */
export interface SideFigures extends Spread {
  readonly name: string;
  /** Median of the rounds. */
  readonly cpuMs: number;
  /** Largest of the rounds; absent where the side has no process of its own. */
  readonly peakMB?: number;
}

/** One row of the table. `npm run bench -- --json` prints rows as they are here. */
export type Row =
  | {
      readonly name: string;
      readonly asks: string;
      readonly unit: string;
      readonly rounds: number;
      readonly left: SideFigures;
      readonly right?: SideFigures;
      readonly beside?: SideFigures;
      /** `value`: ratio of the medians; the spread is that of the rounds, each round's left against its right. */
      readonly ratio?: Spread & { readonly value: number };
      readonly allowed?: Allowed;
      /** Whether all that is allowed is kept; absent where nothing is said. */
      readonly kept?: boolean;
    }
  | { readonly name: string; readonly asks: string; readonly allowed?: Allowed; readonly notMeasured: string }
  | { readonly name: string; readonly asks: string; readonly allowed?: Allowed; readonly failed: string };

export interface RoundOptions extends BenchOptions {
  readonly rounds?: number;
}

const defaultRounds = 7;

/** Medians of alternating rounds: what else the machine does meets both sides alike. What a bench throws is in its row. */
export async function measureBench(name: string, bench: Bench, options: RoundOptions = {}): Promise<Row> {
  const { asks, allowed } = bench;
  const base = { name, asks, ...(allowed === undefined ? {} : { allowed }) };
  try {
    const comparison = await bench.prepare(options);
    if ('notMeasured' in comparison) return { ...base, ...comparison };
    try {
      const rounds = options.rounds ?? bench.rounds ?? defaultRounds;
      const figures = await measureRounds(comparison, rounds, bench.warmUp ?? true);
      const kept = allowed && isKept(allowed, figures);
      return {
        ...base,
        unit: comparison.unit,
        rounds,
        ...figures,
        ...(kept === undefined ? {} : { kept }),
      };
    } finally {
      await comparison.end?.();
    }
  } catch (error) {
    return { ...base, failed: error instanceof Error ? error.message : String(error) };
  }
}

type Figures = Pick<Extract<Row, { unit: string }>, 'left' | 'right' | 'beside' | 'ratio'>;

async function measureRounds(
  { left, right, beside }: Comparison,
  rounds: number,
  warmUp: boolean,
): Promise<Figures> {
  const of: Measured[] = [];
  const against: Measured[] = [];
  const third: Measured[] = [];
  for (let round = warmUp ? -1 : 0; round < rounds; round++) {
    const turns = [
      { side: left, found: of },
      ...(right === undefined ? [] : [{ side: right, found: against }]),
      ...(beside === undefined ? [] : [{ side: beside, found: third }]),
    ];
    if (round % 2 !== 0) turns.reverse();
    for (const { side, found } of turns) {
      const measured = await measureOnce(side);
      if (round >= 0) found.push(measured);
    }
  }
  const ours = figuresOf(left, of);
  const others = beside === undefined ? {} : { beside: figuresOf(beside, third) };
  if (right === undefined) return { left: ours, ...others };
  const theirs = figuresOf(right, against);
  const each = of.map(({ value }, round) => value / (against[round]?.value ?? Number.NaN));
  return {
    left: ours,
    right: theirs,
    ...others,
    ratio: { value: ours.median / theirs.median, ...spreadOf(each) },
  };
}

async function measureOnce({ measure }: Side): Promise<Measured> {
  const before = process.cpuUsage();
  const found = await measure();
  const { user, system } = process.cpuUsage(before);
  const here = { cpuMs: (user + system) / 1000 };
  return typeof found === 'number' ? { value: found, ...here } : { ...here, ...found };
}

function figuresOf({ name }: Side, measured: readonly Measured[]): SideFigures {
  const peaks = measured.flatMap(({ peakMB }) => peakMB ?? []);
  return {
    name,
    ...spreadOf(measured.map(({ value }) => value)),
    cpuMs: median(measured.map(({ cpuMs = Number.NaN }) => cpuMs)),
    ...(peaks.length === 0 ? {} : { peakMB: Math.max(...peaks) }),
  };
}

const spreadOf = (values: readonly number[]): Spread => ({
  min: Math.min(...values),
  median: median(values),
  max: Math.max(...values),
});

function isKept(allowed: Allowed, { left, ratio }: Figures): boolean {
  const bounds = [
    { value: ratio?.value, most: allowed.ratioAtMost, least: allowed.ratioAtLeast },
    { value: left.median, most: allowed.figureAtMost, least: allowed.figureAtLeast },
    { value: left.peakMB, most: allowed.peakMBAtMost, least: undefined },
  ];
  // What is bounded and was not found is not kept.
  return bounds.every(
    ({ value = Number.NaN, most, least }) =>
      (most === undefined || value <= most) && (least === undefined || value >= least),
  );
}
