import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Columns } from '../../../../src/report/page/source/columns.ts';
import { inOrder } from '../../../../src/report/page/source/disk.ts';
import { Matcher } from '../../../../src/report/page/source/match.ts';
import type { Query } from '../../../../src/report/page/source/source.ts';
import { fold, wordsOf } from '../../../../src/report/page/text/fold.ts';
import { pickOf } from '../../../../src/report/page/text/names.ts';
import { packed, summaryOf } from '../../../browser/report.ts';
import { animals, media, places, type Row, rowsOfCell } from '../../../browser/rows.ts';

const cells = 66;
const failing = (cell: number): boolean => cell % 11 === 10;
const summary = {
  ...summaryOf('foxes', cells, failing),
  files: { resultsPerFile: 100, detailsPerFile: 50, runDirectory: '../' },
};
const rows: readonly Row[] = Array.from({ length: cells }, (_, cell) => rowsOfCell(cell, failing))
  .flat()
  .map((row) => (row.result.at % 4 === 0 ? { ...row, result: { ...row.result, picked: 'best/1' } } : row));
const columns = new Columns(summary);
for (let from = 0; from < rows.length; from += 100) columns.add(packed(rows.slice(from, from + 100)));

/** Whether a result matches, said as simply as it can be. */
function matches({ result, detail }: Row, query: Query): boolean {
  const { search = '', steps, statuses, errorCode, vars = {}, jobs } = query;
  const error = `${result.errorCode ?? ''} ${result.errorMessage ?? ''}`;
  const texts = [result.prompt ?? '', detail.text ?? '', error, pickOf(result)].map(fold);
  return (
    (steps?.includes(result.step) ?? true) &&
    (statuses?.includes(result.status) ?? true) &&
    (errorCode === undefined || result.errorCode === errorCode) &&
    Object.entries(vars).every(([name, values]) =>
      values.includes(result.vars[variables.indexOf(name)] ?? ''),
    ) &&
    (jobs?.has(result.job ?? '') ?? true) &&
    wordsOf(search).every((word) => texts.some((text) => text.includes(word)))
  );
}

const variables = summary.variables.map(({ name }) => name);
const steps = summary.steps.map(({ name }) => name);
const words = [
  'fox',
  'WINTER',
  'élan',
  'snow',
  'lighthouse',
  'refused',
  'score',
  'zeppelin',
  'moss',
  'pick',
  'best/1',
  'أرنب',
];
const some = <T>(values: readonly T[]): fc.Arbitrary<T[]> => fc.subarray([...values], { minLength: 1 });

const queries: fc.Arbitrary<Query> = fc.record(
  {
    search: fc.subarray(words, { maxLength: 3 }).map((chosen) => chosen.join(' ')),
    steps: some([...steps, 'gone']),
    statuses: some(['done', 'failed', 'blocked', 'running', 'modal'] as const),
    errorCode: fc.constantFrom('moderated', 'timeout', 'gone'),
    vars: fc.record(
      { animal: some([...animals, 'gone']), medium: some(media), place: some(places) },
      { requiredKeys: [] },
    ),
    jobs: some(rows.slice(0, 20).map(({ result }) => result.job ?? '')).map((jobs) => new Set(jobs)),
  },
  { requiredKeys: [] },
);

test('matching columns finds the same as matching each result', () => {
  fc.assert(
    fc.property(queries, (query) => {
      const matcher = new Matcher(columns, query, steps, variables);
      for (const row of rows) {
        const { at } = row.result;
        const match = matcher.match(at);
        const found =
          match === 'perhaps' ? matcher.matchText(at, fold(row.detail.text ?? '')) : match === 'yes';
        expect([at, found]).toEqual([at, matches(row, query)]);
      }
    }),
  );
});

test('finds what was picked by the name of the pick', () => {
  const matched = (search: string): readonly number[] => {
    const matcher = new Matcher(columns, { search }, steps, variables);
    return rows.map(({ result }) => result.at).filter((at) => matcher.match(at) === 'yes');
  };
  const picked = rows.flatMap(({ result }) => (result.picked === undefined ? [] : [result.at]));
  expect([matched('pick'), matched('picked as best/1')]).toEqual([picked, picked]);
});

test('looks only into texts that are longer than their beginnings', () => {
  const matcher = new Matcher(columns, { search: 'zeppelin' }, steps, variables);
  const perhaps = rows.filter(({ result }) => matcher.match(result.at) === 'perhaps');
  expect(perhaps.length).toBeGreaterThan(0);
  expect(perhaps.every(({ detail }) => (detail.text ?? '').length > 240)).toBe(true);
});

test('unpacks each result as it was packed', () => {
  for (const { result } of rows) expect(columns.result(result.at)).toEqual(result);
  expect(columns.result(rows.length)).toBeUndefined();
});

test('refuses a chunk out of order or beyond the planned results', () => {
  const fresh = new Columns(summary);
  expect(fresh.add(packed(rows.slice(100, 200)))).toBe(false);
  expect(fresh.add(packed(rows.slice(0, 100)))).toBe(true);
  expect(fresh.add(packed(rows.slice(0, 100)))).toBe(false);
  const small = new Columns({ ...summary, results: 10 });
  expect(small.add(packed(rows.slice(0, 100)))).toBe(false);
});

test('a job is found at its first result', () => {
  expect(columns.findJob(rows[123]?.result.job ?? '')).toBe(123);
  expect(columns.findJob('gone')).toBeUndefined();
});

test('sorts stably, largest first, results without a figure last', () => {
  const ats = Uint32Array.from(rows.keys());
  const figures = {
    cost: rows.map(({ result }) => result.cost ?? -1),
    duration: rows.map(({ result }) => result.seconds ?? 0),
    newest: rows.map(({ result }) => result.finishedAt ?? 0),
  };
  for (const sort of ['cost', 'duration', 'newest'] as const) {
    const sorted = [...ats].sort((a, b) => (figures[sort][b] as number) - (figures[sort][a] as number));
    expect([...inOrder(ats, sort, columns)]).toEqual(sorted);
  }
  expect(inOrder(ats, 'plan', columns)).toBe(ats);
});
