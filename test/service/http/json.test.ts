import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { parseBounded, parseJson, valuesIn } from '../../../src/service/http/json.ts';

/** Makes both ways of parsing take part: with it in a document, the lossless one is used. */
const longNumber = '12345678901234567';

test('reads what JSON.parse reads, on either way', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), (text) => {
      expect(parseJson(text)).toEqual(JSON.parse(text));
      expect(parseJson(`[${longNumber},${text}]`)).toEqual([BigInt(longNumber), JSON.parse(text)]);
    }),
    { seed: 20261101 },
  );
});

test('no integer is rounded', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 60n), max: 10n ** 60n }), (n) => {
      const value = parseJson(`{"id": ${n}}`) as { id: number | bigint };
      expect(BigInt(value.id)).toBe(n);
    }),
    { seed: 20261101 },
  );
});

test.each(['9007199254740993', '-9007199254740993', '1234567890123456', '99999999999999999'])(
  'the integer %s keeps its digits, in an object and in a list',
  (digits) => {
    const found = parseJson(`{"id":${digits},"ids":[1,${digits}]}`) as {
      id: unknown;
      ids: readonly unknown[];
    };
    expect([String(found.id), String(found.ids[1])]).toEqual([digits, digits]);
  },
);

test.each([
  ['a fraction', '[0.1000000000000000000001]', [0.1]],
  ['an exponent', `[${longNumber},1e300]`, [BigInt(longNumber), 1e300]],
  ['equal keys', `{"a":${longNumber},"a":1}`, { a: 1 }],
  ['long digits in a text', '{"a":"12345678901234567"}', { a: '12345678901234567' }],
  ['escaped quotes', '{"a":"\\"[[[["}', { a: '"[[[[' }],
])('%s', (_what, text, value) => {
  expect(parseJson(text)).toEqual(value);
});

test('a key called __proto__ is a key', () => {
  const value = parseJson(`{"__proto__":{"code":${longNumber}}}`) as { code?: unknown };
  expect(value.code).toBeUndefined();
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
});

test('digits without end are not made a number of', () => {
  expect(parseJson(`[${'9'.repeat(1_000_000)}]`)).toEqual([Infinity]);
});

test.each([
  '',
  '{',
  '{"a":1',
  '[1,]',
  "{'a':1}",
  `[${longNumber},`,
  '01',
  `${'['.repeat(65)}${']'.repeat(65)}`,
  `${'{"a":'.repeat(65)}1${'}'.repeat(65)}`,
  '['.repeat(1_000_000),
])('refuses %.20j', (text) => {
  expect(() => parseJson(text)).toThrow(SyntaxError);
});

test('nests as deep as real responses do', () => {
  expect(() => parseJson(`${'['.repeat(64)}${longNumber}${']'.repeat(64)}`)).not.toThrow();
});

test.each([
  ['behind an escaped quote', `"\\\\\\"${'['.repeat(99)}"`],
  ['in a text', `"${'['.repeat(99)}"`],
  ['in the name of a member', `{"${'{'.repeat(99)}": 1}`],
])('what nests only in words nests not at all: %s', (_, text) => {
  expect(parseJson(text)).toEqual(JSON.parse(text));
});

test('what nests behind a text that ends with a backslash nests', () => {
  const deep = `${'['.repeat(65)}${']'.repeat(65)}`;
  expect(() => parseJson(`["\\\\", ${deep}]`)).toThrow(SyntaxError);
});

test('is bounded by its values, each of them counted', () => {
  expect(valuesIn('[1, {"a": [2, 3]}]')).toBe(6);
  expect(parseBounded('[1, {"a": [2, 3]}]', 6)).toEqual([1, { a: [2, 3] }]);
  expect(() => parseBounded('[1, {"a": [2, 3]}]', 5)).toThrow(/more than 5 values/);
});
