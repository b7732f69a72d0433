import type { PageCharts } from '../../../results/wire.ts';

/** A line over time. */
export interface Series {
  readonly name: string;
  /** Number of the colour. */
  readonly colour: 1 | 2 | 3;
  readonly values: readonly (number | null)[];
  /** Drawn as bars, from 0. */
  readonly bars?: boolean;
  /** Drawn broken, without area. */
  readonly bound?: boolean;
}

/** One chart over time. */
export interface TimeChart {
  readonly name: string;
  /** What its figures count. */
  readonly unit: string;
  /** Whether they are whole numbers. */
  readonly whole?: boolean;
  /** Unix seconds, one for each value. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
}

const some = (values: readonly (number | null)[]): boolean => values.some((value) => (value ?? 0) > 0);

/** The charts over time of which there is something to show. */
export function timeChartsOf(charts: PageCharts, budget: number | undefined): readonly TimeChart[] {
  const { from, secondsPerPoint, finished, failed, inFlight, cost } = charts;
  if (from === undefined) return [];
  const times = (length: number): readonly number[] =>
    Array.from({ length }, (_, n) => from / 1000 + n * secondsPerPoint);
  const perMinute = (values: readonly number[]): readonly number[] =>
    values.map((value) => (value * 60) / secondsPerPoint);
  const all: readonly TimeChart[] = [
    {
      name: 'Throughput',
      unit: 'jobs a minute',
      times: times(finished.length),
      series: [
        { name: 'Finished', colour: 1, values: perMinute(finished), bars: true },
        ...(some(failed)
          ? [{ name: 'Failed', colour: 3, values: perMinute(failed), bars: true } as const]
          : []),
      ],
    },
    {
      name: 'In flight',
      unit: 'jobs',
      whole: true,
      times: times(inFlight.length),
      series: [{ name: 'In flight', colour: 2, values: inFlight }],
    },
    {
      name: 'Cost',
      unit: 'so far',
      times: times(cost.length),
      series: [
        { name: 'Cost', colour: 1, values: cost },
        ...(budget === undefined
          ? []
          : [{ name: 'Budget', colour: 3, values: cost.map(() => budget), bound: true } as const]),
      ],
    },
  ];
  return all.filter(({ series }) => some(series[0]?.values ?? []));
}
