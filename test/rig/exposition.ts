/** One line of a metric. */
export interface ParsedSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A metric with its lines. */
export interface ParsedMetric {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly samples: readonly ParsedSample[];
}

/**
 * Reads Prometheus' text format (version 0.0.4) as strictly as `promtool check metrics` does: each metric once, HELP and TYPE before its
 * samples, nothing between them, no series twice, names and units by the conventions.
 *
 * @throws Error with the line
 */
export function parseExposition(text: string): ReadonlyMap<string, ParsedMetric> {
  const metrics = new Map<string, { name: string; help: string; type: string; samples: ParsedSample[] }>();
  const series = new Set<string>();
  let current: { name: string; help: string; type: string; samples: ParsedSample[] } | undefined;
  let help: { readonly name: string; readonly text: string } | undefined;
  if (text !== '' && !text.endsWith('\n')) throw new Error('the last line has no end');
  for (const [at, line] of text.split('\n').slice(0, -1).entries()) {
    const refuse = (why: string): never => {
      throw new Error(`line ${at + 1}: ${why}: ${line}`);
    };
    const [, word, name = '', rest = ''] =
      /^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$/s.exec(line) ?? [];
    if (word === 'HELP') {
      if (metrics.has(name)) refuse('a metric stands here twice');
      if (!/^(?:[^\\]|\\[\\n])*$/.test(rest)) refuse('an unknown escape');
      help = { name, text: plain(rest) };
      current = undefined;
    } else if (word === 'TYPE') {
      if (help?.name !== name) refuse('HELP does not stand before TYPE');
      if (!/^(?:counter|gauge|summary|histogram|untyped)$/.test(rest)) refuse('an unknown type');
      if ((rest === 'counter') !== name.endsWith('_total')) refuse('counters, and they alone, end in _total');
      if (/(?:milliseconds|_ms|kilobytes|_minutes)(?:_|$)/.test(name)) refuse('not a base unit');
      current = { name, help: help?.text ?? '', type: rest, samples: [] };
      metrics.set(name, current);
      help = undefined;
    } else {
      if (current === undefined) return refuse('a sample without HELP and TYPE');
      const sample = sampleOf(line, refuse);
      const allowed =
        current.type === 'summary' ? [`${current.name}_sum`, `${current.name}_count`] : [current.name];
      if (!allowed.includes(sample.name)) refuse(`not a sample of ${current.name}`);
      const key = JSON.stringify([sample.name, Object.entries(sample.labels).sort(byName)]);
      if (series.has(key)) refuse('a series stands here twice');
      series.add(key);
      if (current.type === 'counter' && !(sample.value >= 0)) refuse('a counter below 0');
      current.samples.push(sample);
    }
  }
  if (help !== undefined) throw new Error(`${help.name} has HELP and nothing else`);
  for (const { name, samples } of metrics.values())
    if (samples.length === 0) throw new Error(`${name} has no sample`);
  return metrics;
}

const byName = ([a]: readonly [string, string], [b]: readonly [string, string]): number => (a < b ? -1 : 1);

function sampleOf(line: string, refuse: (why: string) => never): ParsedSample {
  const [, name = '', labelText, number = ''] =
    /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/s.exec(line) ?? refuse('no sample');
  const labels: Record<string, string> = {};
  let rest = labelText ?? '';
  while (rest !== '') {
    const [whole, label = '', value = '', comma] =
      /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\[\\"n])*)"(,?)/.exec(rest) ?? refuse('no label');
    if (label.startsWith('__') || Object.hasOwn(labels, label)) refuse(`the label ${label}`);
    labels[label] = plain(value);
    rest = rest.slice(whole.length);
    if (comma === '' && rest !== '') refuse('no comma between labels');
  }
  if (!/^(?:[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|[+-]Inf|NaN)$/i.test(number)) refuse('no number');
  const value = Number(number.replace('Inf', 'Infinity'));
  return { name, labels, value };
}

const plain = (text: string): string =>
  text.replaceAll(/\\(.)/g, (_, escape: string) => (escape === 'n' ? '\n' : escape));

/** The value of one series; undefined where it is not there. */
export function valueOf(
  metrics: ReadonlyMap<string, ParsedMetric>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const found = metrics.get(name.replace(/_(?:sum|count)$/, '')) ?? metrics.get(name);
  return found?.samples.find(
    (sample) =>
      sample.name === name &&
      Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
  )?.value;
}
