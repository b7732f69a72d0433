import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readJson } from '../../../src/run/effects/read-json.ts';

const parseFencedJson = (text: string) => readJson(text, false, () => true);

/** What a fence is, as one expression: plain to read, but its work grows with the square of the text. */
const fence = /^\s*```(?:json)?[ \t]*\r?\n([\s\S]*?)\r?\n?[ \t]*```\s*$/i;

it('removes the same fences as the plain expression, and no others', () => {
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

describe('a lenient reading', () => {
  const isBest = (value: unknown): boolean => typeof value === 'object' && value !== null && 'best' in value;
  const read = (text: string) => readJson(text, true, isBest);

  it.each<[string, unknown, readonly string[]]>([
    ['<think>\nIs it {"best": 1}?\n</think>\n\n{"best": 3}', { best: 3 }, ['thinking']],
    ['Is it [1 or {"best": 1}?</think>{"best": 3}', { best: 3 }, ['thinking']],
    ['Is it [1 or so?</think>{"best": 3}', { best: 3 }, ['thinking']],
    [
      '<thinking>a</thinking><think>b</think>```json\n{"best": 3}\n```',
      { best: 3 },
      ['thinking', 'a code fence'],
    ],
    ['Here is the JSON requested:\n{"best": 3}', { best: 3 }, ['text around it']],
    ['{"best": 3}\nI hope that helps.', { best: 3 }, ['text around it']],
    ['Sure:\n```json\n{"best": 3}\n```\nDone.', { best: 3 }, ['a code fence', 'text around it']],
    ['For {example}, not {"a": 1}: {"best": 3}', { best: 3 }, ['text around it']],
    ['{"best": 3,}', { best: 3 }, ['trailing commas']],
    ['{"best": [1, 2 ,\n],\n}', { best: [1, 2] }, ['trailing commas']],
    ['\uFEFF{"best": 3}', { best: 3 }, ['a byte order mark']],
    ['{"best": "a\nb\tc"}', { best: 'a\nb\tc' }, ['raw control characters']],
    ['{"best": "<think>,] }</think>",}', { best: '<think>,] }</think>' }, ['trailing commas']],
    ['\uFEFF101', 101, ['a byte order mark']],
    ['<think>hm</think> "fox"', 'fox', ['thinking']],
    // hindsight 2542: a fence within the value, and one that is no JSON before it.
    ['{"best": "```x```",}', { best: '```x```' }, ['trailing commas']],
    ['```text\nhm\n```\n{"best": "```x```"}', { best: '```x```' }, ['a code fence', 'text around it']],
    ['I saw {"a": 1}.', { a: 1 }, ['text around it']],
  ])('of %j takes %j', (text, value, passed) => {
    expect(read(text)).toMatchObject({ value, passed });
    expect(readJson(text, false, isBest)).toBeUndefined();
  });

  it.each([
    '{"best": 3}{"best": 3}',
    'Either {"best": 3} or {"best": 4}.',
    '{"a": 1} {"b": 2}',
    '<think>{"best": 3}</think>',
    '<think>{"best": 3}',
    '{"best": 3',
    '{"best": [3}',
    'See [1: {"best": 3}',
    '{"best": 3} and {"best": ',
    '{"best": NaN}',
    '{best: 3}',
    "{'best': 3}",
    '[1,,2]',
    '{,}',
    '[,]',
    'The answer is 101.',
    '{"best": "a}',
    '',
  ])('of %j takes nothing', (text) => {
    expect(read(text)).toBeUndefined();
  });

  const words = fc.stringMatching(/^[a-zA-Z .:'!?\n-]{0,20}$/).filter((text) => !/[{[<`]/.test(text));
  const objects = fc.dictionary(fc.string({ maxLength: 5 }), fc.jsonValue({ maxDepth: 2 }), {
    minKeys: 1,
    maxKeys: 4,
  });

  it('reads JSON as JSON.parse does, whatever fits', () => {
    fc.assert(
      fc.property(fc.json(), fc.boolean(), fc.boolean(), (text, isLenient, doesFit) => {
        expect(readJson(text, isLenient, () => doesFit)).toStrictEqual({
          value: JSON.parse(text) as unknown,
          text,
        });
      }),
    );
  });

  it('takes the wrapped value, and nothing around it', () => {
    fc.assert(
      fc.property(
        objects,
        words,
        words,
        words,
        fc.boolean(),
        fc.boolean(),
        (value, thought, before, after, isFenced, isBom) => {
          const json = JSON.stringify(value, undefined, 1);
          const comma = `${json.slice(0, -1)},}`;
          const block = isFenced ? `\`\`\`json\n${comma}\n\`\`\`` : comma;
          const text = `${isBom ? '\uFEFF' : ''}<think>${thought}{"a": [1</think>${before}\n${block}\n${after}`;
          expect(readJson(text, true, () => true)?.value).toStrictEqual(JSON.parse(json));
        },
      ),
    );
  });

  it('invents nothing: its value is part of the text, except for commas and escapes', () => {
    const piece = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      '"',
      ',',
      ':',
      '1',
      'a',
      ' ',
      '\n',
      '<think>',
      '</think>',
      '```',
      '\\',
      '"a":',
      '{"a":1}',
    );
    const bare = (text: string): string => text.replaceAll(',', '').replaceAll('\\u000a', '\n');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 25 }), (pieces) => {
        const text = pieces.join('');
        const found = readJson(text, true, () => true);
        if (found === undefined) return;
        expect(bare(text)).toContain(bare(found.text));
        expect(JSON.parse(found.text)).toStrictEqual(found.value);
      }),
      { numRuns: 5000 },
    );
  });

  it('reads nothing from truncated JSON', () => {
    fc.assert(
      fc.property(objects, fc.nat(99), (value, part) => {
        const json = JSON.stringify(value);
        expect(
          readJson(json.slice(0, Math.floor((json.length * part) / 100)), true, () => true),
        ).toBeUndefined();
      }),
    );
  });
});
