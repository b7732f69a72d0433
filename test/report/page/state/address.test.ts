import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type Address,
  readAddress,
  select,
  start,
  writeAddress,
} from '../../../../src/report/page/state/address.ts';
import {
  flipMark,
  jobsWith,
  marksTable,
  readMarks,
  writeMarks,
} from '../../../../src/report/page/state/marks.ts';
import { filtersOf, queryOf, toggled } from '../../../../src/report/page/state/query.ts';

const text = fc.string({ minLength: 1, unit: 'grapheme' });
const values = fc.uniqueArray(fc.string({ unit: 'grapheme' }), { minLength: 1, maxLength: 3 });
const place = fc.nat(1_000_000);
const addresses: fc.Arbitrary<Address> = fc.record(
  {
    tab: fc.constantFrom('results', 'charts', 'failures'),
    query: fc.record(
      {
        search: text,
        steps: fc.uniqueArray(text, { minLength: 1, maxLength: 3 }),
        statuses: fc.constant(['done', 'in-doubt'] as const),
        errorCode: text,
        vars: fc.dictionary(text, values, { minKeys: 1, maxKeys: 3, noNullPrototype: true }),
        sort: fc.constantFrom('newest', 'cost', 'duration'),
      },
      { requiredKeys: [] },
    ),
    mark: fc.constantFrom('keep', 'reject'),
    rows: fc.constant('cells' as const),
    open: place,
    compare: fc.uniqueArray(place, { minLength: 2, maxLength: 4 }),
  },
  { requiredKeys: ['tab', 'query'] },
);

test('reads an address as it was written, with any values', () => {
  fc.assert(
    fc.property(addresses, (address) => {
      expect(readAddress(`#${writeAddress(address)}`)).toEqual(address);
    }),
  );
});

test('an invalid address shows the initial page', () => {
  expect(readAddress('')).toEqual(start);
  expect(readAddress('#tab=x&open=-1&compare=3&sort=size&mark=maybe&search=')).toEqual(start);
  expect(writeAddress(start)).toBe('');
});

test('setting a filter twice removes it from the query and the address', () => {
  const filters = [
    { by: 'step', value: 'grid' },
    { by: 'status', value: 'done' },
    { by: 'error', value: 'timeout' },
    { by: 'search', value: 'fox' },
    { by: 'variable', name: 'animal', value: '' },
  ] as const;
  for (const filter of filters) {
    const query = toggled({}, filter);
    expect(filtersOf(query)).toEqual([filter]);
    expect(toggled(query, filter)).toEqual({});
  }
  const all = filters.reduce(toggled, { sort: 'cost' } as const);
  expect(filtersOf(all).length).toBe(filters.length);
  expect(queryOf({ sort: all.sort })).toEqual({ sort: 'cost' });
  expect(queryOf({ ...all, search: '' }).search).toBeUndefined();
});

test('marks are set, changed, removed, stored and written as a table', () => {
  let marks = readMarks(null);
  marks = flipMark(flipMark(marks, 'a', 'keep'), 'b', 'keep');
  marks = flipMark(flipMark(marks, 'b', 'reject'), 'c"d', 'reject');
  expect(readMarks(writeMarks(marks))).toEqual(marks);
  expect([...jobsWith(marks, 'reject')]).toEqual(['b', 'c"d']);
  expect(marksTable(marks)).toBe('job,mark,note\r\na,keep,\r\nb,reject,\r\n"c""d",reject,\r\n');
  expect(flipMark(marks, 'a', 'keep').has('a')).toBe(false);
  expect(readMarks('{"a":"perhaps"').size + readMarks('{"a":"perhaps"}').size).toBe(0);
});

test('of five selected results the last four are compared', () => {
  const five = [1, 2, 3, 4, 5].reduce<readonly number[]>(select, []);
  expect(five).toEqual([2, 3, 4, 5]);
  expect(select(five, 3)).toEqual([2, 4, 5]);
});
