import { expect, test } from 'vitest';
import { duration, size } from '../../../../src/report/page/text/format.ts';
import { escapePath, lineOf, nameOf, pickOf, placeOf } from '../../../../src/report/page/text/names.ts';

test('a result is named by step, branch, cell and status', () => {
  const own = { step: 'grid', branch: '', cell: 3, status: 'done' } as const;
  expect(nameOf(own)).toBe('grid, cell 3, done');
  expect(nameOf({ ...own, branch: 'U2/Vary (Strong)', output: 1 })).toBe(
    'grid U2/Vary (Strong), cell 3, done',
  );
  expect(nameOf({ ...own, branch: '[2]/U1' })).toBe('grid item 2/U1, cell 3, done');
  expect(nameOf({ ...own, output: 2 })).toBe('grid, cell 3, done, output 2');
  expect([placeOf(own), placeOf({ ...own, output: 2 })]).toEqual(['cell 3', 'cell 3, output 2']);
  expect(nameOf({ ...own, output: 2, frame: 1 })).toBe('grid, cell 3, done, frame 1');
  expect(placeOf({ ...own, output: 2, frame: 1 })).toBe('cell 3, frame 1');
  expect([pickOf({ picked: 'best/1' }), pickOf({})]).toEqual(['picked as best/1', '']);
});

test('a path is escaped part by part', () => {
  expect(escapePath('images/a b#c%/ä?.png')).toBe('images/a%20b%23c%25/%C3%A4%3F.png');
});

test('an object becomes one line of its members', () => {
  expect(lineOf('{"name":"ink drawing","stylize":50}')).toBe('ink drawing, 50');
  expect(lineOf('{not json')).toBe('{not json');
  expect(lineOf('fox')).toBe('fox');
});

test.each([
  [0.85, '850 ms'],
  [4.2, '4.2 s'],
  [190, '3 min 10 s'],
  [7500, '2 h 5 min'],
])('%d seconds are %s', (seconds, text) => {
  expect(duration(seconds)).toBe(text);
});

test.each([
  [1, '1 byte'],
  [12_300, '12.3 kB'],
  [1_200_000_000, '1.2 GB'],
])('%d bytes are %s', (bytes, text) => {
  expect(size(bytes)).toBe(text);
});
