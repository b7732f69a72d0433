import { describe, expect, test } from 'vitest';

import { namePresets } from '../../../src/service/names.ts';
import { chatBody } from '../../../src/service/text/request/chat-body.ts';
import { generateBody } from '../../../src/service/text/request/generate-body.ts';
import type { JsonObject, TextCallRequest } from '../../../src/service/text-service.ts';
import { call } from './text-service.ts';

const image = { mimeType: 'image/png', data: 'AAAA' };
const inline = { inlineData: image };

const bodyOf = (fields: JsonObject, others: Partial<Omit<TextCallRequest, 'fields'>> = {}): JsonObject =>
  generateBody(call(fields, others), namePresets.neutral);
const configOf = (fields: JsonObject): unknown => bodyOf(fields)['generationConfig'];
const toolsOf = (fields: JsonObject): unknown => bodyOf(fields)['tools'];

describe('contents', () => {
  const user = (text: string): JsonObject => ({ role: 'user', parts: [{ text }] });

  test('a prompt is a turn of the user, after its images', () => {
    expect(bodyOf({ prompt: 'Which?' }, { images: [image] })).toEqual({
      contents: [{ role: 'user', parts: [inline, { text: 'Which?' }] }],
    });
  });

  test('images join the last native turn of the user', () => {
    const contents = [user('a'), { role: 'model', parts: [{ text: 'b' }] }, { parts: [{ text: 'c' }] }];
    expect(bodyOf({ contents }, { images: [image] })['contents']).toEqual([
      ...contents.slice(0, 2),
      { parts: [inline, { text: 'c' }] },
    ]);
  });

  test("images after the model's turn are a turn of their own", () => {
    const contents = [user('a'), { role: 'model', parts: [{ text: 'b' }] }];
    expect(bodyOf({ contents }, { images: [image] })['contents']).toEqual([
      ...contents,
      { role: 'user', parts: [inline] },
    ]);
  });

  test('earlier turns come first, with their images and what followed; those of function calls come last', () => {
    const answer = { role: 'model', parts: [{ text: 'A fox.', thoughtSignature: 'c2ln' }] };
    const called = { role: 'model', parts: [{ functionCall: { name: 'f', args: {} } }] };
    const sent = { role: 'user', parts: [{ functionResponse: { name: 'f', response: { result: 1 } } }] };
    const body = bodyOf(
      { prompt: 'And now?' },
      {
        earlier: [
          { fields: { prompt: 'What is it?', system: 'x', model: 'm' }, images: [image], after: [answer] },
          { fields: { contents: [user('Sure?')] }, images: [], after: [called] },
        ],
        turns: [called, sent],
      },
    );
    expect(body).toEqual({
      contents: [
        { role: 'user', parts: [inline, { text: 'What is it?' }] },
        answer,
        user('Sure?'),
        called,
        user('And now?'),
        called,
        sent,
      ],
    });
  });
});

describe('system', () => {
  test('is the instruction', () => {
    expect(bodyOf({ prompt: 'a', system: 'Be brief.' })['systemInstruction']).toEqual({
      parts: [{ text: 'Be brief.' }],
    });
  });
  test('is one more part of a native one', () => {
    const systemInstruction = { role: 'system', parts: [{ text: 'first' }] };
    expect(bodyOf({ prompt: 'a', system: 'second', systemInstruction })['systemInstruction']).toEqual({
      role: 'system',
      parts: [{ text: 'first' }, { text: 'second' }],
    });
  });
});

test.each([
  ['low', { thinkingLevel: 'LOW' }],
  ['minimal', { thinkingLevel: 'MINIMAL' }],
  ['HIGH', { thinkingLevel: 'HIGH' }],
  [1024, { thinkingBudget: 1024 }],
  [0, { thinkingBudget: 0 }],
  [-1, { thinkingBudget: -1 }],
  ['1024', { thinkingBudget: 1024 }],
])('thinking: %j is %j', (thinking, thinkingConfig) => {
  expect(configOf({ prompt: 'a', thinking })).toEqual({ thinkingConfig });
});

test('thinking keeps native members, and is dropped for a native level or budget', () => {
  const withNative = (thinkingConfig: JsonObject): unknown =>
    configOf({ prompt: 'a', thinking: 'low', generationConfig: { topK: 1, thinkingConfig } });
  expect(withNative({ includeThoughts: true })).toEqual({
    topK: 1,
    thinkingConfig: { includeThoughts: true, thinkingLevel: 'LOW' },
  });
  for (const thinkingConfig of [{ thinkingBudget: 5 }, { thinkingLevel: 'HIGH' }]) {
    expect(withNative(thinkingConfig)).toEqual({ topK: 1, thinkingConfig });
  }
});

describe('responseSchema', () => {
  const responseSchema = { type: 'object' };
  test('forces JSON', () => {
    expect(configOf({ prompt: 'a', responseSchema })).toEqual({
      responseMimeType: 'application/json',
      responseSchema,
    });
  });
  test('keeps a native type, and is dropped for a native schema', () => {
    const responseMimeType = 'text/x.enum';
    expect(configOf({ prompt: 'a', responseSchema, generationConfig: { responseMimeType } })).toEqual({
      responseMimeType,
      responseSchema,
    });
    for (const generationConfig of [{ responseSchema: { type: 'array' } }, { responseJsonSchema: {} }]) {
      expect(configOf({ prompt: 'a', responseSchema, generationConfig })).toEqual(generationConfig);
    }
  });
});

describe('tools', () => {
  const functions = {
    weather: { description: 'now', parameters: { type: 'object' }, answer: { sky: 'rain' } },
  };
  const declared = { name: 'weather', description: 'now', parameters: { type: 'object' } };

  test('have the names of the service for the short forms', () => {
    const fields = { prompt: 'a', search: true, maps: true, code: true, functions };
    expect(toolsOf(fields)).toEqual([
      { functionDeclarations: [declared] },
      { vendor_search: {} },
      { vendorMaps: {} },
      { codeExecution: {} },
    ]);
    const body = generateBody(
      call({ prompt: 'a', search: true, maps: true }),
      namePresets['midjourney-proxy'],
    );
    expect(body['tools']).toEqual([{ google_search: {} }, { googleMaps: {} }]);
  });

  test('are absent if they are off', () => {
    expect(bodyOf({ prompt: 'a', search: false, maps: false, code: false })).not.toHaveProperty('tools');
  });

  test('that are native stay as they are and are not added twice', () => {
    const tools = [{ vendorSearch: { x: 1 } }, { code_execution: {} }, { urlContext: {} }];
    expect(toolsOf({ prompt: 'a', search: true, code: true, maps: true, tools })).toEqual([
      ...tools,
      { vendorMaps: {} },
    ]);
  });

  test('include functions beside native declarations; an equal name is declared once', () => {
    const tools = [{ urlContext: {} }, { functionDeclarations: [{ name: 'time' }, { name: 'weather' }] }];
    expect(toolsOf({ prompt: 'a', tools, functions })).toEqual(tools);
    const others = [{ functionDeclarations: [{ name: 'time' }] }];
    expect(toolsOf({ prompt: 'a', tools: others, functions })).toEqual([
      { functionDeclarations: [{ name: 'time' }, declared] },
    ]);
  });
});

describe('extra', () => {
  test('is merged member by member, and overrides other members', () => {
    const extra = {
      generationConfig: { topK: 2, thinkingConfig: { includeThoughts: true } },
      tools: [{ urlContext: {} }],
      labels: { a: 'b' },
    };
    const fields = { prompt: 'a', thinking: 'low', search: true, generationConfig: { topK: 1, topP: 0.5 } };
    expect(bodyOf(fields, { extra })).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'a' }] }],
      generationConfig: {
        topK: 2,
        topP: 0.5,
        thinkingConfig: { thinkingLevel: 'LOW', includeThoughts: true },
      },
      tools: [{ urlContext: {} }],
      labels: { a: 'b' },
    });
  });

  test('treats a member with a special name like any other', () => {
    const extra = JSON.parse('{"generationConfig":{"__proto__":{"topK":1}}}') as JsonObject;
    const text = JSON.stringify(bodyOf({ prompt: 'a', generationConfig: { topP: 1 } }, { extra }));
    expect(text).toContain('"generationConfig":{"topP":1,"__proto__":{"topK":1}}');
  });
});

describe('chat', () => {
  const chat = (fields: JsonObject, others: Partial<Omit<TextCallRequest, 'fields'>> = {}): JsonObject =>
    chatBody(call(fields, { kind: 'chat', ...others }));
  const imagePart = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };

  test('prompt and system are messages', () => {
    expect(chat({ prompt: 'Hi', system: 'Be brief.', temperature: 0 })).toEqual({
      model: 'text-pro',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hi' },
      ],
      temperature: 0,
    });
  });

  test('images stand before the text, in either form of a message', () => {
    const text = { type: 'text', text: 'Which?' };
    for (const fields of [
      { prompt: 'Which?' },
      { messages: [{ role: 'user', content: 'Which?' }] },
      { messages: [{ role: 'user', content: [text] }] },
    ]) {
      expect(chat(fields, { images: [image] })['messages']).toEqual([
        { role: 'user', content: [imagePart, text] },
      ]);
    }
  });

  test('images after a reply become a message of their own', () => {
    const messages = [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: 'b' },
    ];
    expect(chat({ messages }, { images: [image] })['messages']).toEqual([
      ...messages,
      { role: 'user', content: [imagePart] },
    ]);
  });

  test('extra overrides other members', () => {
    const extra = { stream_options: { include_obfuscation: false }, model: 'other' };
    expect(chat({ prompt: 'a' }, { stream: true, extra })).toMatchObject({
      model: 'other',
      stream_options: { include_usage: true, include_obfuscation: false },
    });
  });
});
