import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fold, piecesOf, wordsOf } from '../../../../src/report/page/text/fold.ts';

test('ignores case and accents', () => {
  expect(fold('Élan ÅNGSTRÖM İ')).toBe('elan angstrom i');
  expect(wordsOf('  Élan\tfox élan ')).toEqual(['elan', 'fox']);
});

test('marks found words in the text, including their accents', () => {
  expect(piecesOf('An Élan, elan', ['elan'])).toEqual([
    { text: 'An ', hit: false },
    { text: 'Élan', hit: true },
    { text: ', ', hit: false },
    { text: 'elan', hit: true },
  ]);
  expect(piecesOf('e\u0301tat', ['etat'])).toEqual([{ text: 'e\u0301tat', hit: true }]);
});

test('the joined pieces of any text are that text', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary' }),
      fc.array(fc.string({ minLength: 1 }).map(fold).filter(Boolean)),
      (text, words) => {
        expect(
          piecesOf(text, words)
            .map((piece) => piece.text)
            .join(''),
        ).toBe(text);
      },
    ),
  );
});
