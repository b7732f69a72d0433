import { expect, test } from 'vitest';
import { growthOf } from './growth.ts';
import { expressionsIn, sourceExpressions } from './source.ts';
import { judge, unneeded } from './verdicts.ts';

const verdicts = sourceExpressions().map((one) => judge(one));

test('every regular expression of the sources is linear, or has a bound or a proof in the list', () => {
  expect(verdicts.length).toBeGreaterThan(300);
  expect(
    verdicts.flatMap((verdict) =>
      verdict.safe
        ? []
        : [
            `src/${verdict.expression.file}:${verdict.expression.line} ${verdict.expression.text}: ${verdict.why}`,
          ],
    ),
  ).toEqual([]);
});

test('the list holds no entry for an expression that is gone or proven', () => {
  expect(unneeded(verdicts)).toEqual([]);
});

test.each([
  ['a run that every place begins again', '\\s+$', ''],
  ['the same behind a word that repeats', 'task[^.]*not found', 'i'],
  ['two runs over the same blanks', '^\\s*\\d*\\s*%?\\s*$', ''],
  ['blanks on both sides of what may be missing', '^\\d+\\s*%?\\s*$', ''],
  ['an opening that is never closed', '\\$\\{\\w+(?::-([^}]*))?\\}', 'g'],
  ['a tag that is never closed', '<title[^>]*>', 'i'],
  ['any text before a run', '^x([^]*?)[ \\t]*$', ''],
  ['a repeat of a repeat', '^(a+)+$', ''],
  ['two ways of one character', '^(?:a|\\w)*$', ''],
  ['an empty round', '^(?:a*)*$', ''],
  ['a look-ahead over the rest at each place', 'x(?=[^]*y)', 'g'],
  ['matches that look ahead again and again', 'x(?:[^]*y)?', 'g'],
  ['a back reference', '^(a*)\\1$', ''],
  ['a look-behind without a bound', '(?<=a*)b', ''],
])('%s is not linear', (_what, source, flags) => {
  expect(growthOf(source, flags).linear).toBe(false);
});

test.each([
  ['a run that ends the match', '\\s+', 'g'],
  ['a run at the beginning', '^\\s+', ''],
  ['a run that only one place begins', '^\\s*\\d{1,3}\\s*(?:%\\s*)?$', ''],
  ['a run behind a sign that is not in it', '\\((\\s*)\\)', 'g'],
  ['many, but a bounded number', 'task[^.]{0,600}not found', 'i'],
  ['a list with its separators', '^\\w+(?:,\\w+)*$', ''],
  ['a sticky run', '\\s*x', 'y'],
  ['any text to the end', '^[^]*\\p{L}', 'u'],
])('%s is linear', (_what, source, flags) => {
  expect(growthOf(source, flags)).toEqual({ linear: true });
});

test('expressions are found as literals and as made ones, with their lines; comments and texts hold none', () => {
  const code = [
    'const a = /x+$/g; // not /y+$/',
    "const b = '/z+$/';",
    'const c = (n: string): RegExp => new RegExp(`${n}+$`);',
    'const d = a.source / 2 / 3;',
    "const e = RegExp('q');",
  ].join('\n');
  expect(expressionsIn('here.ts', code)).toEqual([
    { file: 'here.ts', line: 1, text: '/x+$/g', literal: { source: 'x+$', flags: 'g' } },
    { file: 'here.ts', line: 3, text: 'new RegExp(`${n}+$`)' },
    { file: 'here.ts', line: 5, text: "RegExp('q')", literal: { source: 'q', flags: '' } },
  ]);
});

test('an expression that is not linear, or made at run time, is refused until the list says why it is safe', () => {
  const [literal, made] = expressionsIn('new.ts', 'f(/x+$/); f(new RegExp(x));');
  expect(literal).toBeDefined();
  expect(made).toBeDefined();
  if (literal === undefined || made === undefined) return;
  expect(judge(literal)).toMatchObject({ safe: false });
  expect(judge(made)).toMatchObject({ safe: false, why: 'it is made at run time' });
  const listed = { 'new.ts': { '/x+$/': 'Bound: 10 characters.', '/gone/': 'Bound: 1 character.' } };
  expect(judge(literal, listed)).toMatchObject({ safe: true, because: 'Bound: 10 characters.' });
  expect(unneeded([judge(literal, listed)], listed)).toEqual(['new.ts: /gone/']);
});
