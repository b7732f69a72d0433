import fc from 'fast-check';
import { expect, test } from 'vitest';
import { indentJson } from '../../../../src/report/page/text/indent-json.ts';

test('a member stands on a line; numbers stay as they are written', () => {
  expect(indentJson('{"id":12345678901234567890,"a":[1, 2],"b":{},"c":[ ]}')).toBe(
    '{\n  "id": 12345678901234567890,\n  "a": [\n    1,\n    2\n  ],\n  "b": {},\n  "c": []\n}',
  );
});

test('what is no JSON stays as it is', () => {
  expect(indentJson('{"a": ')).toBe('{"a": ');
});

test('is what JSON.stringify writes, of any value', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
      const json = JSON.stringify(value);
      expect(indentJson(json)).toBe(JSON.stringify(JSON.parse(json), undefined, 2));
    }),
  );
});
