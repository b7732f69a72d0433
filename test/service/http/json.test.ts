import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import {
  isSameInteger,
  members,
  parseBounded,
  parseJson,
  readInteger,
  valuesIn,
  writeJson,
} from '../../../src/service/http/json.ts';
import type { JsonObject } from '../../../src/service/text-service.ts';

/** Makes both ways of parsing take part: with it in a document, the lossless one is used. */
const longNumber = '12345678901234567';

test('both parsers read what JSON.parse reads', () => {
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

test('a key named __proto__ is an ordinary key', () => {
  const value = parseJson(`{"__proto__":{"code":${longNumber}}}`) as { code?: unknown };
  expect(value.code).toBeUndefined();
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
});

test('endless digits are not parsed as a number', () => {
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

test('accepts nesting as deep as in real responses', () => {
  expect(() => parseJson(`${'['.repeat(64)}${longNumber}${']'.repeat(64)}`)).not.toThrow();
});

test.each([
  ['behind an escaped quote', `"\\\\\\"${'['.repeat(99)}"`],
  ['in a text', `"${'['.repeat(99)}"`],
  ['in the name of a member', `{"${'{'.repeat(99)}": 1}`],
])('does not count brackets inside strings as nesting: %s', (_, text) => {
  expect(parseJson(text)).toEqual(JSON.parse(text));
});

test.each([
  ['none', '["a", 1]', 3],
  ['a quotation mark', String.raw`["a\",[[[", 1]`, 3],
  ['a backslash', String.raw`["a\\", [1]]`, 4],
  ['a backslash and a quotation mark', String.raw`["\\\",[[[", 1]`, 3],
  ['a text that does not end', String.raw`["a\", [1, 2]`, 2],
])('finds the end of a string, whatever is escaped in it: %s', (_, text, count) => {
  expect(valuesIn(text)).toBe(count);
});

test('counts nesting after a string that ends with a backslash', () => {
  const deep = `${'['.repeat(65)}${']'.repeat(65)}`;
  expect(() => parseJson(`["\\\\", ${deep}]`)).toThrow(SyntaxError);
});

test('limits the number of values, and counts each of them', () => {
  expect(valuesIn('[1, {"a": [2, 3]}]')).toBe(6);
  expect(parseBounded('[1, {"a": [2, 3]}]', 6)).toEqual([1, { a: [2, 3] }]);
  expect(() => parseBounded('[1, {"a": [2, 3]}]', 5)).toThrow(/more than 5 values/);
});

test('writes long integers with all digits, whatever their sign and length', () => {
  for (const digits of [
    '-9007199254740993',
    '12345678901234567',
    '1234567890123456789012345',
    '-12345678901234567890123',
  ]) {
    expect(writeJson(parseBounded(`{"id":${digits}}`) as JsonObject)).toBe(`{"id":${digits}}`);
    expect(writeJson(parseBounded(`{"ids":[${digits},1]}`) as JsonObject)).toBe(`{"ids":[${digits},1]}`);
  }
});

test.each(['__proto__', '\\u005f_proto__', '_\\u005Fproto__', '\\u005f\\u005fproto\\u005f\\u005f'])(
  'keeps a member that is written %s, also beside a long integer',
  (name) => {
    const value = parseBounded(`{"${name}":{"polluted":1},"id":${longNumber}}`) as JsonObject;
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.keys(value)).toEqual(['__proto__', 'id']);
  },
);

test('a long integer is not an object, and equals another one with the same digits', () => {
  const [a, b, c] = parseBounded(`[${longNumber},${longNumber},${longNumber}0]`) as readonly unknown[];
  expect(members(a)).toBeUndefined();
  expect([isSameInteger(a, b), isSameInteger(a, c), isSameInteger(a, {})]).toEqual([true, false, false]);
});

test.each<readonly [unknown, number | undefined]>([
  [7, 7],
  ['7', 7],
  [' -7 ', -7],
  [0, 0],
  ['0', 0],
  ['1234567890', undefined],
  ['', undefined],
  ['7.0', undefined],
  [7.5, undefined],
  [2 ** 53, undefined],
  [null, undefined],
  [true, undefined],
])('%j read as an integer is %s', (value, integer) => {
  expect(readInteger(value)).toBe(integer);
});

test('reads at most two million values by default', () => {
  expect(() => parseBounded(`[${'0,'.repeat(1_999_997)}0]`)).not.toThrow();
  expect(() => parseBounded(`[${'0,'.repeat(2_000_000)}0]`)).toThrow(/more than 2000000 values/);
});
