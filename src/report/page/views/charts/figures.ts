import type { PageCharts, PageSummary } from '../../../results/wire.ts';
import { about, count, counted, duration, time } from '../../text/format.ts';

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

/** One bar of a bar chart. */
export interface Bar {
  readonly label: string;
  /** Value of the bar; its length is relative to the largest one. */
  readonly value: number;
  /** The value in words. */
  readonly shown: string;
  /** Range drawn in place of a bar, with a sign at {@link value}. */
  readonly range?: readonly [from: number, to: number];
  readonly bad?: boolean;
}

/** The data of a chart as a table of texts. */
export interface Figures {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export interface BarChart {
  readonly name: string;
  readonly note: string;
  readonly bars: readonly Bar[];
  readonly figures: Figures;
}

/** Largest number of rows in the table of a chart over time; points between them are left out. */
const maxRows = 200;

export function figuresOf({ times, series }: TimeChart): Figures {
  const every = Math.max(1, Math.ceil(times.length / maxRows));
  return {
    columns: ['Time', ...series.map(({ name }) => name)],
    rows: times.flatMap((at, n) =>
      n % every === 0 ? [[time(at * 1000), ...series.map(({ values }) => about(values[n] ?? 0))]] : [],
    ),
  };
}

/** Returns the bar charts that have data. */
export function barChartsOf({ charts, failures }: PageSummary): readonly BarChart[] {
  const { durations, tokens, attempts } = charts;
  const refused = attempts.filter(({ jobs }) => jobs > 0);
  const all: readonly BarChart[] = [
    {
      name: 'Durations by step',
      note: 'From submission to end: the bar from the 10th to the 90th of 100 jobs, its mark the median.',
      bars: durations.map(({ step, speed, median, p10, p90 }) => ({
        label: speed === '' ? step : `${step}, ${speed}`,
        value: median,
        range: [p10, p90],
        shown: duration(median),
      })),
      figures: {
        columns: ['Step', 'Speed', 'Jobs', '10 %', 'Median', '90 %', 'Longest'],
        rows: durations.map(({ step, speed, jobs, p10, median, p90, longest }) => [
          step,
          speed,
          count(jobs),
          ...[p10, median, p90, longest].map(duration),
        ]),
      },
    },
    {
      name: 'Tokens by model',
      note: 'Of all replies, including discarded ones.',
      bars: tokens.map(({ model, total }) => ({ label: model, value: total, shown: count(total) })),
      figures: {
        columns: ['Model', 'Prompt', 'Candidates', 'Thoughts', 'Total'],
        rows: tokens.map(({ model, prompt, candidates, thoughts, total }) => [
          model,
          ...[prompt, candidates, thoughts, total].map(count),
        ]),
      },
    },
    {
      name: 'Retries and refusals by step',
      note: 'Submissions beyond the first of each job, and jobs that failed for good.',
      bars: refused.map(({ step, jobs, submissions, failed }) => ({
        label: step,
        value: Math.max(0, submissions - jobs) + failed,
        shown: `${counted(Math.max(0, submissions - jobs), 'retry').replace('retrys', 'retries')}, ${count(failed)} failed`,
        bad: failed > 0,
      })),
      figures: {
        columns: ['Step', 'Jobs', 'Submissions', 'Retries', 'Failed'],
        rows: refused.map(({ step, jobs, submissions, failed }) => [
          step,
          ...[jobs, submissions, Math.max(0, submissions - jobs), failed].map(count),
        ]),
      },
    },
    {
      name: 'Failures by reason',
      note: 'Results that failed, by the code of their error.',
      bars: failures.map(({ code, message, results }) => ({
        label: failures.filter((other) => other.code === code).length > 1 ? `${code}: ${message}` : code,
        value: results,
        shown: count(results),
        bad: true,
      })),
      figures: {
        columns: ['Code', 'Message', 'Results'],
        rows: failures.map(({ code, message, results }) => [code, message, count(results)]),
      },
    },
  ];
  return all.filter(({ bars }) => bars.length > 0);
}
