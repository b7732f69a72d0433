import { describe, expect, test } from 'vitest';
import type { Value } from '../../../src/pipeline/values/value.ts';
import { estimateTokens } from '../../../src/plan/request/tokens.ts';

const tokens = (fields: Readonly<Record<string, Value>>, images = 0): [number, number] => {
  const { input, output } = estimateTokens(
    { fields: { model: 'a-long-name-that-is-not-read', ...fields } },
    images,
  );
  return [input, output];
};
const picture = 5 * 258;

describe('the estimated tokens that are sent', () => {
  test.each<[string, Readonly<Record<string, Value>>, number]>([
    ['nothing', {}, 0],
    ['a prompt', { prompt: 'x'.repeat(9) }, 3],
    ['a prompt and a system instruction', { prompt: 'xxxx', system: 'xxxx' }, 2],
    ['another script', { prompt: '狐狸狐狸' }, 3],
    ['contents', { contents: [{ role: 'user', parts: [{ text: 'xxxx' }] }] }, 2],
    ['messages', { messages: [{ role: 'user', content: 'xxxx' }] }, 2],
    [
      'an image in contents',
      {
        contents: [
          { parts: [{ text: 'xxxx' }, { inlineData: { mimeType: 'image/png', data: 'A'.repeat(9999) } }] },
        ],
      },
      1 + picture,
    ],
    [
      'an image in messages',
      { messages: [{ content: [{ image_url: { url: `data:image/png;base64,${'A'.repeat(9999)}` } }] }] },
      picture,
    ],
    ['a schema, as JSON', { responseSchema: { type: 'object' } }, 5],
    [
      'a schema in its native place',
      { generationConfig: { responseSchema: { type: 'object' }, seed: 12 } },
      5,
    ],
    [
      'a JSON schema in its native place',
      { generationConfig: { responseJsonSchema: { type: 'object' }, seed: 12 } },
      5,
    ],
    ['a schema in another script, by its bytes', { responseSchema: { title: '狐狸狐狸' } }, 6],
    ['two schemas', { responseSchema: { type: 'object' }, tools: [{ a: 1 }] }, 7],
    ['a format of chat', { response_format: { type: 'json' } }, 4],
    ['functions', { functions: { a: { answer: 1 } } }, 5],
    [
      'images in several turns',
      {
        contents: [
          { parts: [{ inlineData: { data: 'A' } }, { text: 'xxxx' }, { inlineData: { data: 'B' } }] },
          { parts: [{ inlineData: { data: 'C' } }] },
        ],
      },
      1 + 3 * picture,
    ],
    [
      'data of another kind',
      { messages: [{ content: [{ file: 'data:application/pdf;base64,AAAA' }] }] },
      picture,
    ],
    [
      'numbers and nothing, which are no texts',
      { contents: [{ parts: [{ x: 12_345_678, y: null, z: true }] }] },
      0,
    ],
    ['what is no text', { rounds: 8, search: true, thinking: 'low', temperature: 0.5 }, 0],
  ])('%s', (_, fields, wanted) => {
    expect(tokens(fields)[0]).toBe(wanted);
  });

  test('include images of the step and images in its fields', () => {
    expect(
      tokens({ messages: [{ content: [{ image_url: { url: 'data:image/png;base64,A' } }] }] }, 2)[0],
    ).toBe(3 * picture);
    expect(tokens({ prompt: 'xxxx' }, 4)[0]).toBe(1 + 4 * picture);
  });
});

describe('the estimated tokens of the answer', () => {
  test.each<[string, Readonly<Record<string, Value>>, number]>([
    ['nothing bounds it', {}, 1024],
    ['a bound below', { generationConfig: { maxOutputTokens: 100 } }, 100],
    ['a bound of chat', { max_tokens: 50 }, 50],
    ['a bound far above', { generationConfig: { maxOutputTokens: 60_000 } }, 1024],
    ['thinking by level', { thinking: 'low' }, 2048],
    [
      'thinking by its native level',
      { generationConfig: { thinkingConfig: { thinkingLevel: 'HIGH' } } },
      1024 + 8192,
    ],
    ['thinking by budget', { thinking: 500 }, 1524],
    ['little thinking', { thinking: 'minimal' }, 1024 + 128],
    ['some thinking', { thinking: 'Medium' }, 1024 + 4096],
    ['thinking of which nothing is known', { thinking: 'off' }, 1024],
    ['a part of a token', { thinking: 0.5 }, 1025],
    [
      'thinking said in both ways, by the short one',
      { thinking: 'low', generationConfig: { thinkingConfig: { thinkingLevel: 'high' } } },
      2048,
    ],
    ['no bound at all', { generationConfig: { maxOutputTokens: 0, candidateCount: 0 } }, 1024],
    [
      'a bound said in both ways, by the native one',
      { max_tokens: 50, generationConfig: { maxOutputTokens: 70 } },
      70,
    ],
    ['thinking as it likes', { generationConfig: { thinkingConfig: { thinkingBudget: -1 } } }, 1024 + 4096],
    ['no thinking', { thinking: 0 }, 1024],
    ['thinking within a bound', { thinking: 'high', generationConfig: { maxOutputTokens: 3000 } }, 3000],
    ['several candidates', { generationConfig: { candidateCount: 3, maxOutputTokens: 10 } }, 30],
    ['an image', { generationConfig: { responseModalities: ['TEXT', 'IMAGE'] } }, 1024 + picture],
  ])('%s', (_, fields, wanted) => {
    expect(tokens(fields)[1]).toBe(wanted);
  });
});
