import { describe, expect, test } from 'vitest';

import { namePresets } from '../../../../src/service/names.ts';
import { chatBody } from '../../../../src/service/text/request/chat-body.ts';
import { requestParts } from '../../../../src/service/text/request/fields.ts';
import { generateBody } from '../../../../src/service/text/request/generate-body.ts';
import type { JsonObject, TextCallRequest } from '../../../../src/service/text-service.ts';
import { call } from '../text-service.ts';

type Others = Partial<Omit<TextCallRequest, 'fields'>>;

const image = { mimeType: 'image/png', data: 'AAAA' };
const inline = { inlineData: image };
const imagePart = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };

const native = (fields: JsonObject, others: Others = {}): JsonObject =>
  generateBody(call(fields, others), namePresets.neutral);
const chat = (fields: JsonObject, others: Others = {}): JsonObject =>
  chatBody(call(fields, { kind: 'chat', ...others }));

describe('a native body', () => {
  const asked = { role: 'user', parts: [{ text: 'Now?' }] };
  const contents = [
    { role: 'user', parts: [{ text: 'a' }] },
    { role: 'model', parts: [{ text: 'b' }] },
  ];

  test('puts the prompt after the contents, with its images', () => {
    expect(native({ contents, prompt: 'Now?' })).toEqual({ contents: [...contents, asked] });
    expect(native({ contents, prompt: 'Now?' }, { images: [image] })).toEqual({
      contents: [...contents, { role: 'user', parts: [inline, { text: 'Now?' }] }],
    });
  });

  test('puts images into their own turn after a turn without parts', () => {
    const bare = [{ role: 'user', text: 'odd' }];
    expect(native({ contents: bare }, { images: [image] })).toEqual({
      contents: [...bare, { role: 'user', parts: [inline] }],
    });
  });

  test.each([
    [' low ', { thinkingLevel: 'LOW' }],
    ['-1', { thinkingBudget: -1 }],
    [' 0 ', { thinkingBudget: 0 }],
    [512, { thinkingBudget: 512 }],
  ])('keeps the other members beside a level or a budget: %j', (thinking, config) => {
    const generationConfig = { thinkingConfig: { includeThoughts: true } };
    expect(native({ prompt: 'a', thinking, generationConfig })['generationConfig']).toEqual({
      thinkingConfig: { includeThoughts: true, ...config },
    });
  });

  test('keeps a tool that is not a list, and finds a tool beside another one in its entry', () => {
    expect(native({ prompt: 'a', code: true, tools: { urlContext: {} } })['tools']).toEqual([
      { urlContext: {} },
      { codeExecution: {} },
    ]);
    const tools = [{ urlContext: {}, code_execution: {} }];
    expect(native({ prompt: 'a', code: true, tools })['tools']).toEqual(tools);
  });

  test('keeps the other members beside declared functions', () => {
    const tools = [{ urlContext: {} }, { functionDeclarations: [{ name: 'time' }], urlContext: { x: 1 } }];
    expect(native({ prompt: 'a', tools, functions: { rain: {} } })['tools']).toEqual([
      { urlContext: {} },
      { functionDeclarations: [{ name: 'time' }, { name: 'rain' }], urlContext: { x: 1 } },
    ]);
  });

  test('leaves out images that were declared as files', () => {
    expect(native({ prompt: 'a', images: ['fox.png'] })).not.toHaveProperty('images');
  });
});

describe('a chat body', () => {
  const messages = [
    { role: 'user', content: 'a' },
    { role: 'assistant', content: 'b' },
  ];

  test('puts the system before all messages, and the prompt after them', () => {
    expect(chat({ messages, prompt: 'Now?', system: 'Be brief.' })['messages']).toEqual([
      { role: 'system', content: 'Be brief.' },
      ...messages,
      { role: 'user', content: 'Now?' },
    ]);
  });

  test('keeps the messages before the one that the images join, and its other members', () => {
    const last = { role: 'user', name: 'Ann', content: 'c' };
    expect(chat({ messages: [...messages, last] }, { images: [image] })['messages']).toEqual([
      ...messages,
      { role: 'user', name: 'Ann', content: [imagePart, { type: 'text', text: 'c' }] },
    ]);
  });

  test('leaves out images that were declared as files', () => {
    expect(chat({ prompt: 'a', images: ['fox.png'] })).not.toHaveProperty('images');
  });

  test.each<readonly [string, Others]>([
    ['earlier turns', { earlier: [{ fields: { prompt: 'x' }, images: [], after: [] }] }],
    ['rounds of calls', { turns: [{ role: 'model', parts: [] }] }],
  ])('with %s is a bug, because these would be lost', (_what, others) => {
    expect(() => chat({ prompt: 'a' }, others)).toThrow(/^Internal error: /);
  });
});

test('the parts of a large request are named one by one', () => {
  const turn = { role: 'model', parts: [] };
  const earlier = {
    fields: { prompt: 'x' },
    images: [{ mimeType: 'image/png', data: 'BBBB' }],
    after: [turn],
  };
  const parts = requestParts(
    call({ prompt: 'a' }, { images: [image], earlier: [earlier], turns: [turn], extra: { labels: 1 } }),
  );
  expect(parts).toEqual({
    model: 'text-pro',
    prompt: 'a',
    'images[0]': 'AAAA',
    'earlier turn 1': [{ prompt: 'x' }, [turn]],
    'earlier turn 1: images[0]': 'BBBB',
    'answers of functions': [turn],
    'extra.labels': 1,
  });
});
