import { describe, expect, test } from 'vitest';
import { TemplateError } from '../../../src/pipeline/templates/template.ts';
import { renderValue, type Value } from '../../../src/pipeline/values/value.ts';
import type { Artifact } from '../../../src/plan/job.ts';
import type { TextCandidate, TextResult } from '../../../src/plan/job-request.ts';
import { hasImages, lacksImages, parseReply, textOutputs } from '../../../src/plan/resolve/reply.ts';

const member = (text: string, name: string): Value =>
  (parseReply(text) as Readonly<Record<string, Value>>)[name] as Value;

describe('a reply that is JSON', () => {
  test.each(['6.0', '1e2', '-0', '0.10', '12345678901234567890', '7'])(
    'renders its number as the model wrote it: %s',
    (number) => {
      expect(renderValue(member(`{"n":${number}}`, 'n'))).toBe(number);
    },
  );

  test('has the last of two members of one name', () => {
    expect(member('{"a":1,"a":2}', 'a')).toBe(2);
  });

  test.each([
    '"__proto__"',
    String.raw`"\u005f_proto__"`,
    String.raw`"__\u0070roto__"`,
    String.raw`"__PROTO__"`,
  ])('gives no prototype to a mapping with the member %s', (name) => {
    const value = parseReply(`{"a":{${name}:{"x":7}}}`) as { a: Record<string, Value> };
    expect(Object.getPrototypeOf(value.a)).toBe(Object.prototype);
    expect(Object.keys(value.a)).toHaveLength(1);
    expect(value.a['x']).toBeUndefined();
  });

  const lists = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;

  test('may be nested 100 deep, in any of its members', () => {
    expect(() => parseReply(lists(100))).not.toThrow();
    expect(() => parseReply(`[1,${lists(99)}]`)).not.toThrow();
    for (const text of [
      lists(101),
      `[1,${lists(100)}]`,
      `{"a":1,"b":${lists(100)}}`,
      `[[],${'{"a":'.repeat(100)}1${'}'.repeat(100)}]`,
    ])
      expect(() => parseReply(text)).toThrow(expect.objectContaining({ code: 'template.limit' }));
    expect(() => parseReply(lists(100_000))).toThrow(TemplateError);
  });

  test('is a bug of ours where it is none', () => {
    expect(() => parseReply('{')).toThrow(/^Internal error:/);
  });
});

const candidate = (text: string, ...parts: Value[]): TextCandidate => ({ text, isJson: false, parts });
const image = (output: number): Value => ({ inlineData: { mimeType: 'image/png', output } });
const result = (...candidates: TextCandidate[]): TextResult => ({ candidates });
const artifact = (output: number): Artifact => ({
  output,
  file: `images/x-${output}.png`,
  bytes: 1,
  sha256: 'x',
  mime: 'image/png',
});

describe('the images of a reply', () => {
  test('are in any of its candidates, and in any of their parts', () => {
    expect(hasImages(undefined)).toBe(false);
    expect(hasImages(result())).toBe(false);
    expect(hasImages(result(candidate('a', { text: 'a' }, { functionCall: {} })))).toBe(false);
    expect(hasImages(result(candidate('a', { text: 'a' }), candidate('', { text: '' }, image(1))))).toBe(
      true,
    );
    // Records of a reply whose images were never numbered.
    expect(hasImages(result(candidate('', { inlineData: { mimeType: 'image/png' } })))).toBe(true);
  });

  test('are numbered behind the text of their candidate; blanks are no text', () => {
    const outputs = (...candidates: TextCandidate[]) =>
      textOutputs(result(...candidates)).map(({ output, candidate: of, text }) => [output, of, text]);
    expect(outputs(candidate(' \n'))).toEqual([]);
    expect(outputs(candidate('a', image(2), image(3)), candidate('', image(4)), candidate('b'))).toEqual([
      [1, 1, 'a'],
      [5, 3, 'b'],
    ]);
  });

  const call: Value = { functionCall: { name: 'f' } };
  test.each<[string, readonly Value[], string]>([
    ['calls alone', [call], 'application/json'],
    ['calls and thoughts', [{ thought: true, text: 'Hm.' }, call, { text: ' ' }], 'application/json'],
    ['calls and words', [call, { text: 'Look.' }], 'text/plain'],
    ['words alone', [{ text: 'Look.' }], 'text/plain'],
    ['another part', [{ functionCall: null }, 'x'], 'text/plain'],
  ])('stand beside a text of %s, which has the type of its content', (_, parts, mime) => {
    expect(textOutputs(result({ text: 't', isJson: false, parts }))).toMatchObject([{ mime }]);
    expect(textOutputs(result({ text: '{}', isJson: true, parts }))).toMatchObject([
      { mime: 'application/json' },
    ]);
  });

  test('all have to be kept of the first candidate, which is said again', () => {
    const two = result(candidate('', image(1), image(2)), candidate('', image(3)));
    expect(lacksImages({ text: two, artifacts: [artifact(1), artifact(2)] })).toBe(false);
    expect(lacksImages({ text: two, artifacts: [artifact(2), artifact(3)] })).toBe(true);
    expect(lacksImages({ text: two, artifacts: [artifact(1), artifact(3)] })).toBe(true);
    expect(lacksImages({ text: result(candidate('a')), artifacts: [] })).toBe(false);
    expect(lacksImages({ text: result(), artifacts: [] })).toBe(false);
    expect(lacksImages({ artifacts: [] })).toBe(false);
    const unnumbered = result(candidate('', { inlineData: { mimeType: 'image/png' } }));
    expect(lacksImages({ text: unnumbered, artifacts: [artifact(1)] })).toBe(true);
  });
});
