import type { PageCharts } from '../../../results/wire.ts';

/** A line in a chart over time. */
export interface Series {
  readonly name: string;
  /** Number of its colour. */
  readonly colour: 1 | 2 | 3;
  readonly values: readonly (number | null)[];
  /** Whether it is drawn as bars from 0. */
  readonly bars?: boolean;
  /** Whether it is drawn dashed, without an area. */
  readonly bound?: boolean;
}

/** A chart over time. */
export interface TimeChart {
  readonly name: string;
  /** Unit of its figures. */
  readonly unit: string;
  /** Whether its figures are whole numbers. */
  readonly whole?: boolean;
  /** Unix seconds of each value. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
}

const some = (values: readonly (number | null)[]): boolean => values.some((value) => (value ?? 0) > 0);

/** Returns the charts over time that have data. */
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
