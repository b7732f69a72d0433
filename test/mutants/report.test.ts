import { expect, test } from 'vitest';
import { summaryOf } from './report.ts';

const mutant = (status: string, line: number, columns: readonly [number, number], replacement: string) => ({
  mutatorName: 'EqualityOperator',
  replacement,
  status,
  location: { start: { line, column: columns[0] }, end: { line, column: columns[1] } },
});

test('lists the mutants that no test noticed, in the order of their lines, and the score of each file', () => {
  const report = {
    files: {
      'src/a.ts': {
        source: 'const a = b < c;\nconst d = e > f;\n',
        mutants: [
          mutant('NoCoverage', 2, [11, 16], 'e >= f'),
          mutant('Survived', 1, [11, 16], 'b <= c'),
          mutant('Killed', 1, [11, 16], 'b >= c'),
          mutant('Timeout', 1, [11, 16], 'true'),
          mutant('Ignored', 1, [11, 16], 'false'),
        ],
      },
      'src/none.ts': { source: '', mutants: [] },
    },
  };
  expect(summaryOf(report).split('\n')).toEqual([
    'src/a.ts:1:11  EqualityOperator  b < c → b <= c',
    'src/a.ts:2:11  EqualityOperator  e > f → e >= f (no test runs it)',
    '',
    'src/a.ts      50.0 %  2 of 4 mutants killed',
    'src/none.ts     none  0 of 0 mutants killed',
    'all           50.0 %  2 of 4 mutants killed',
  ]);
});

test('shows a change of several lines in one', () => {
  const source = `const a = {\n  b: ${'1'.repeat(90)},\n};\n`;
  const location = { start: { line: 1, column: 11 }, end: { line: 3, column: 2 } };
  const one = { mutatorName: 'ObjectLiteral', replacement: '{}', status: 'Survived', location };
  expect(summaryOf({ files: { 'src/a.ts': { source, mutants: [one] } } }).split('\n')[0]).toBe(
    `src/a.ts:1:11  ObjectLiteral  { b: ${'1'.repeat(64)}… → {}`,
  );
});
