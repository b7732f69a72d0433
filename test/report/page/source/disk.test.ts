import { expect, test } from 'vitest';
import { type DiskPorts, DiskSource } from '../../../../src/report/page/source/disk.ts';
import { packed, summaryOf } from '../../../browser/report.ts';
import { rowsOfCell } from '../../../browser/rows.ts';

const cells = 66;
const rows = Array.from({ length: cells }, (_, cell) => rowsOfCell(cell, () => false)).flat();

/** A report whose files are in memory; `missing` cannot be read. */
function reportOf(missing?: string): { source: DiskSource; loads: string[] } {
  const summary = {
    ...summaryOf('foxes', cells, () => false),
    files: { resultsPerFile: 100, detailsPerFile: 50, runDirectory: '../' },
  };
  const loads: string[] = [];
  const ports: DiskPorts = {
    parsed: () => Promise.resolve(),
    pause: () => Promise.resolve(),
    now: () => 0,
    load: (address) => {
      loads.push(address);
      if (address === missing) return Promise.reject(new Error('gone'));
      const number = Number(/\d+/.exec(address)?.[0]);
      if (address === 'data/summary.js') source.callbacks.summary(summary);
      else if (address.startsWith('data/results'))
        source.callbacks.results(number, packed(rows.slice(number * 100, number * 100 + 100)));
      else
        source.callbacks.details(
          number,
          rows.slice(number * 50, number * 50 + 50).map(({ detail }) => detail),
        );
      return Promise.resolve();
    },
  };
  const source = new DiskSource(ports);
  return { source, loads };
}

/** Waits until a source says something. */
async function until(source: DiskSource, holds: () => boolean): Promise<void> {
  while (!holds()) {
    await new Promise<void>((resolve) => {
      const stop = source.subscribe(() => {
        stop();
        resolve();
      });
    });
  }
}

test('reads the summary, then the results in order, and no details', async () => {
  const { source, loads } = reportOf();
  await source.open();
  await until(source, () => source.found?.total === rows.length);
  expect(loads).toEqual(['data/summary.js', ...[0, 1, 2, 3, 4, 5].map((n) => `data/results-0000${n}.js`)]);
  expect(source.progress).toBeUndefined();
});

test('shows the first results before the last are read', async () => {
  const { source } = reportOf();
  const totals = new Set<number>();
  source.subscribe(() => totals.add(source.found?.total ?? 0));
  await source.open();
  await until(source, () => source.found?.total === rows.length);
  expect(totals).toContain(100);
});

test('a search first finds matches in memory, then in long texts, one file of details at a time', async () => {
  const { source, loads } = reportOf();
  await source.open();
  await until(source, () => source.found?.total === rows.length);
  loads.length = 0;
  const said: (number | undefined)[] = [];
  const stop = source.subscribe(() => said.push(source.found?.total));
  source.ask({ search: 'lighthouse' });
  await until(source, () => source.found?.total === 11);
  stop();
  expect(said[0]).toBe(0);
  expect(said.at(-1)).toBe(11);
  expect(loads.every((address) => address.startsWith('data/details-'))).toBe(true);
  expect(new Set(loads).size).toBe(loads.length);
});

test('a new query ends the previous search', async () => {
  const { source, loads } = reportOf();
  await source.open();
  await until(source, () => source.found?.total === rows.length);
  loads.length = 0;
  source.ask({ search: 'lighthouse' });
  source.ask({ steps: ['judge'] });
  await until(source, () => source.found?.total === cells);
  await Promise.resolve();
  expect(loads.length).toBeLessThanOrEqual(1);
});

test('reads details once for results in one file', async () => {
  const { source, loads } = reportOf();
  await source.open();
  loads.length = 0;
  const [one, other] = await Promise.all([source.detail(51), source.detail(52)]);
  expect([one?.at, other?.at]).toEqual([51, 52]);
  expect((await source.detail(99))?.at).toBe(99);
  expect(loads).toEqual(['data/details-00001.js']);
});

test('names a missing file of results and keeps the results read before it', async () => {
  const { source } = reportOf('data/results-00002.js');
  await source.open();
  await until(source, () => source.found?.total === 200);
  expect(source.problem).toContain('data/results-00002.js');
  expect(source.problem).toContain('promptpress report');
});

test('reports a missing summary', async () => {
  const { source } = reportOf('data/summary.js');
  await source.open();
  expect(source.problem).toContain('data/summary.js');
});
