import { expect, test } from 'vitest';
import type { Row } from './rounds.ts';
import { allowedWords, jsonTable, markdownTable, plainTable } from './table.ts';

const rows: readonly Row[] = [
  {
    name: 'images',
    asks: 'cells | against a script',
    unit: 's',
    rounds: 3,
    left: { name: 'run', min: 9, median: 10, max: 12, cpuMs: 8000, peakMB: 120.4 },
    right: { name: 'script', min: 7, median: 8, max: 8, cpuMs: 600, peakMB: 80 },
    ratio: { value: 1.25, min: 1.1, median: 1.3, max: 1.5 },
    allowed: { ratioAtMost: 1.2, peakMBAtMost: 200 },
    kept: false,
  },
  {
    name: 'memory',
    asks: 'peak memory',
    unit: 'MB',
    rounds: 1,
    left: { name: 'run', min: 150, median: 150, max: 150, cpuMs: 100_000 },
    allowed: { figureAtMost: 200 },
    kept: true,
  },
  { name: 'chat', asks: 'against the peer', notMeasured: 'no --peer DIR', allowed: { ratioAtMost: 0.25 } },
  { name: 'flat', asks: 'flat', failed: 'the run ended with 3' },
];

test('the plain table has a line for each row, with the words of those without figures', () => {
  expect(plainTable(rows).split('\n')).toStrictEqual([
    'name    figure   baseline  unit  ratio  allowed                          min–median–max  CPU a round   peak MB',
    'images  10 run   8 script  s     1.25   ratio ≤ 1.2, ≤ 200 MB  NOT kept  1.1–1.3–1.5     8 s / 600 ms  120 / 80',
    'memory  150 run  –         MB    –      figure ≤ 200           kept      150–150–150     100 s         –',
    'chat    not measured: no --peer DIR  ratio ≤ 0.25',
    'flat    failed: the run ended with 3  –',
  ]);
});

test('what is measured beside two sides stands with the baseline', () => {
  const beside = { name: 'floor', min: 8, median: 9, max: 9, cpuMs: 2000, peakMB: 90 };
  const row = { ...(rows[0] as Row), beside } as Row;
  expect(plainTable([row]).split('\n')[1]).toBe(
    'images  10 run  8 script, 9 floor  s     1.25   ratio ≤ 1.2, ≤ 200 MB  NOT kept  1.1–1.3–1.5     8 s / 600 ms / 2 s  120 / 80 / 90',
  );
  expect(markdownTable([row]).split('\n')[2]).toContain('| 10 s, 120 MB | 8 s, 9 s floor | 1.25 (1.1–1.5) |');
});

test('the Markdown table says what was asked, and no cell breaks it', () => {
  expect(markdownTable(rows).split('\n')).toStrictEqual([
    '| what | figure | baseline | ratio | allowed |',
    '| --- | --- | --- | --- | --- |',
    '| cells \\| against a script | 10 s, 120 MB | 8 s | 1.25 (1.1–1.5) | ratio ≤ 1.2, ≤ 200 MB |',
    '| peak memory | 150 MB | – | – | figure ≤ 200 |',
    '| against the peer | not measured |  |  | ratio ≤ 0.25 |',
    '| flat | failed |  |  | – |',
  ]);
});

test('the JSON is one object with the machine and the rows', () => {
  const machine = { node: 'v20.19.0', platform: 'linux x64', cores: 2, at: '2026-11-01T00:00:00.000Z' };
  expect(JSON.parse(jsonTable(machine, rows))).toStrictEqual({ ...machine, rows });
});

test('what is allowed names ratio, figure and memory', () => {
  expect(allowedWords(undefined)).toBe('–');
  expect(allowedWords({ ratioAtLeast: 0.95, figureAtLeast: 3 })).toBe('ratio ≥ 0.95, figure ≥ 3');
});
