/** One value of a metric, with its labels. */
export interface Sample {
  readonly labels?: Readonly<Record<string, string>>;
  /** Suffix of the metric's name, for the parts of a summary. */
  readonly suffix?: '_sum' | '_count';
  readonly value: number;
}

/** A metric: its name, meaning, type and samples. */
export interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'summary';
  readonly samples: readonly Sample[];
}

type MakeMetric = (name: string, help: string, value: number | undefined | readonly Sample[]) => Metric;

const metricOf =
  (type: Metric['type']): MakeMetric =>
  (name, help, value = []) => {
    const samples = typeof value === 'number' ? [{ value }] : value;
    return { name: `promptpress_${name}`, help, type, samples };
  };

/** Makes a metric whose value rises and falls; its name has no `promptpress_`. A value that is not known has no sample. */
export const gauge = metricOf('gauge');

/** Makes a metric whose value only grows; its name has no `promptpress_`. */
export const counter = metricOf('counter');

/**
 * Formats metrics in Prometheus' text format (version 0.0.4). Metrics without samples are left out.
 *
 * @param labels put before the labels of every sample
 */
export const exposition = (metrics: readonly Metric[], labels: Readonly<Record<string, string>>): string =>
  metrics
    .filter(({ samples }) => samples.length > 0)
    .map(({ name, help, type, samples }) =>
      [
        `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}`,
        `# TYPE ${name} ${type}`,
        ...samples.map(
          ({ labels: own, suffix = '', value }) =>
            `${name}${suffix}${labelSet({ ...labels, ...own })} ${numberText(value)}`,
        ),
        '',
      ].join('\n'),
    )
    .join('');

function labelSet(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

const escaped = (value: string): string =>
  value.toWellFormed().replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');

const numberText = (value: number): string => {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
};
