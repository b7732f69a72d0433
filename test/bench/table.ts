import type { Allowed } from './comparison.ts';
import type { Row, SideFigures } from './rounds.ts';

const significant = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });
const none = '–';
const figure = (value: number): string => (Number.isNaN(value) ? none : significant.format(value));

/** What is allowed, in words: `ratio ≤ 1.4, ≤ 200 MB`. A figure is in the unit of its row. */
export function allowedWords(allowed: Allowed | undefined): string {
  const { ratioAtMost, ratioAtLeast, figureAtMost, figureAtLeast, peakMBAtMost } = allowed ?? {};
  const words = [
    ratioAtMost === undefined ? [] : [`ratio ≤ ${ratioAtMost}`],
    ratioAtLeast === undefined ? [] : [`ratio ≥ ${ratioAtLeast}`],
    figureAtMost === undefined ? [] : [`figure ≤ ${figureAtMost}`],
    figureAtLeast === undefined ? [] : [`figure ≥ ${figureAtLeast}`],
    peakMBAtMost === undefined ? [] : [`≤ ${peakMBAtMost} MB`],
  ].flat();
  return words.length === 0 ? none : words.join(', ');
}

/** The verdict of a row: empty where nothing is allowed or it was not measured. */
const verdict = (row: Row): string =>
  'kept' in row && row.kept !== undefined ? (row.kept ? 'kept' : 'NOT kept') : '';

const duration = (ms: number): string => (ms < 1000 ? `${figure(ms)} ms` : `${figure(ms / 1000)} s`);

/** What the sides of a row have, in one cell. */
const eachOf = (
  { left, right, beside }: Extract<Row, { left: unknown }>,
  words: (side: SideFigures) => string,
): string => [left, right, beside].flatMap((side) => (side === undefined ? [] : words(side))).join(' / ');

/** What is measured beside two sides is named with the baseline. */
const baselines = (
  sides: readonly (SideFigures | undefined)[],
  words: (side: SideFigures) => string,
): string => sides.flatMap((side) => (side === undefined ? [] : words(side))).join(', ') || none;

const peak = ({ peakMB }: SideFigures): string =>
  peakMB === undefined ? none : Math.round(peakMB).toString();

const headings = [
  'name',
  'figure',
  'baseline',
  'unit',
  'ratio',
  'allowed',
  '',
  'min–median–max',
  'CPU a round',
  'peak MB',
] as const;

function cellsOf(row: Row): readonly string[] {
  if ('notMeasured' in row)
    return [row.name, `not measured: ${row.notMeasured}`, '', '', '', allowedWords(row.allowed)];
  if ('failed' in row) return [row.name, `failed: ${row.failed}`, '', '', '', allowedWords(row.allowed)];
  const { left, right, beside, ratio } = row;
  return [
    row.name,
    `${figure(left.median)} ${left.name}`,
    baselines([right, beside], ({ median, name }) => `${figure(median)} ${name}`),
    row.unit,
    ratio === undefined ? none : figure(ratio.value),
    allowedWords(row.allowed),
    verdict(row),
    [ratio ?? left].map(({ min, median, max }) => [min, median, max].map(figure).join('–')).join(''),
    eachOf(row, ({ cpuMs }) => duration(cpuMs)),
    eachOf(row, peak),
  ];
}

/** The table for people: one line for each row, columns of equal width. */
export function plainTable(rows: readonly Row[]): string {
  const lines: readonly (readonly string[])[] = [headings, ...rows.map(cellsOf)];
  const isWord = (line: readonly string[]): boolean => line.length === headings.length;
  const widths = headings.map((_, column) =>
    Math.max(...lines.filter(isWord).map((line) => line[column]?.length ?? 0)),
  );
  return lines
    .map((line) => {
      if (isWord(line)) return line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ');
      // Words instead of figures: as long as they are.
      return `${(line[0] ?? '').padEnd(widths[0] ?? 0)}  ${line.slice(1).filter(Boolean).join('  ')}`;
    })
    .map((line) => line.trimEnd())
    .join('\n');
}

const escaped = (text: string): string => text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ');

/** The table for README: what was asked, both figures, the ratio with its spread, and what is allowed. */
export function markdownTable(rows: readonly Row[]): string {
  const lines = rows.map((row) => {
    const allowed = allowedWords(row.allowed);
    if ('notMeasured' in row) return [row.asks, 'not measured', '', '', allowed];
    if ('failed' in row) return [row.asks, 'failed', '', '', allowed];
    const { left, right, beside, ratio, unit } = row;
    return [
      row.asks,
      `${figure(left.median)} ${unit}${left.peakMB === undefined ? '' : `, ${peak(left)} MB`}`,
      [
        ...(right === undefined ? [] : [`${figure(right.median)} ${unit}`]),
        ...(beside === undefined ? [] : [`${figure(beside.median)} ${unit} ${beside.name}`]),
      ].join(', ') || none,
      ratio === undefined ? none : `${figure(ratio.value)} (${figure(ratio.min)}–${figure(ratio.max)})`,
      allowed,
    ];
  });
  return [['what', 'figure', 'baseline', 'ratio', 'allowed'], ['---', '---', '---', '---', '---'], ...lines]
    .map((cells) => `| ${cells.map(escaped).join(' | ')} |`)
    .join('\n');
}

/** What the rows were measured on. */
export interface Machine {
  readonly node: string;
  readonly platform: string;
  readonly cores: number;
  /** ISO 8601. */
  readonly at: string;
}

/** The table for machines: one object. */
export const jsonTable = (machine: Machine, rows: readonly Row[]): string =>
  JSON.stringify({ ...machine, rows }, undefined, 2);
