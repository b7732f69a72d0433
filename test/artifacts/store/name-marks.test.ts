import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { NameMarks } from '../../../src/artifacts/store/name-marks.ts';

it('a name that was added is never forgotten', () => {
  const marks = new NameMarks();
  expect(marks.mayHave('images/ab/abc-1.png')).toBe(false);
  fc.assert(
    fc.property(fc.array(fc.string()), (names) => {
      for (const name of names) marks.add(name);
      expect(names.every((name) => marks.mayHave(name))).toBe(true);
    }),
  );
});

it('few of 100,000 absent names are taken for one of as many added names', () => {
  const marks = new NameMarks();
  const name = (key: number, extension: string): string =>
    `images/${(key % 256).toString(16)}/${key.toString(16).padStart(32, '0')}-1.${extension}`;
  for (let key = 0; key < 100_000; key += 1) marks.add(name(key, 'png'));
  let wrong = 0;
  for (let key = 0; key < 100_000; key += 1) if (marks.mayHave(name(key, 'webp'))) wrong += 1;
  expect(wrong).toBeLessThan(2000);
});
