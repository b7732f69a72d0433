import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseFencedJson } from '../../../src/run/effects/evaluate-reply.ts';

/** What a fence is, as one expression: plain to read, but its work grows with the square of the text. */
const fence = /^\s*```(?:json)?[ \t]*\r?\n([\s\S]*?)\r?\n?[ \t]*```\s*$/i;

it('takes off the fences that the plain expression finds, and no others', () => {
  const parts = [
    '```',
    '```json',
    '```JSON',
    ' ',
    '\t',
    '\r',
    '\n',
    '\r\n',
    '1',
    '{"a":2}',
    '`',
    'x',
    '\u00a0',
  ];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...parts), { maxLength: 9 }), (chosen) => {
      const text = chosen.join('');
      const inner = fence.exec(text)?.[1];
      const candidates = inner === undefined ? [text] : [text, inner];
      const found = candidates.find((candidate) => {
        try {
          JSON.parse(candidate);
          return true;
        } catch {
          return false;
        }
      });
      expect(parseFencedJson(text)?.text).toBe(found);
    }),
    { numRuns: 3000 },
  );
});

it.each([
  ['```json\n{"a":1}\n```', '{"a":1}'],
  [' ```\r\n[1]\r\n  ```\n', '[1]'],
  ['```\n1```', '1'],
  ['```json {"a":1}```', undefined],
  ['```\n```', undefined],
  ['```json\n{"a":1}', undefined],
])('%j holds %j', (text, inner) => {
  expect(parseFencedJson(text)?.text).toBe(inner);
});
