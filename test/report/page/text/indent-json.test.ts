import fc from 'fast-check';
import { expect, test } from 'vitest';
import { indentJson } from '../../../../src/report/page/text/indent-json.ts';

test('puts each member on a line and keeps numbers as written', () => {
  expect(indentJson('{"id":12345678901234567890,"a":[1, 2],"b":{},"c":[ ]}')).toBe(
    '{\n  "id": 12345678901234567890,\n  "a": [\n    1,\n    2\n  ],\n  "b": {},\n  "c": []\n}',
  );
});

test('does not change a text that is not JSON', () => {
  expect(indentJson('{"a": ')).toBe('{"a": ');
});

test('formats any value like JSON.stringify', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
      const json = JSON.stringify(value);
      expect(indentJson(json)).toBe(JSON.stringify(JSON.parse(json), undefined, 2));
    }),
  );
});
