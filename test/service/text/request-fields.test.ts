import { expect, test } from 'vitest';

import { namePresets } from '../../../src/service/names.ts';
import type { JsonObject } from '../../../src/service/text-service.ts';
import { call, sentFor } from './text-service.ts';

/** Every member of a native request by its path, with a value that only this path can have brought there. */
const generationConfig: JsonObject = {
  temperature: 0.25,
  topP: 0.9,
  topK: 40,
  maxOutputTokens: 2048,
  candidateCount: 2,
  stopSequences: ['END', '\n\n'],
  seed: 7,
  presencePenalty: -1.5,
  frequencyPenalty: 1.5,
  responseLogprobs: true,
  logprobs: 5,
  responseMimeType: 'application/json',
  responseSchema: { type: 'OBJECT', properties: { best: { type: 'INTEGER' } }, required: ['best'] },
  responseJsonSchema: { type: 'object', additionalProperties: false },
  responseModalities: ['TEXT', 'IMAGE'],
  mediaResolution: 'MEDIA_RESOLUTION_LOW',
  speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
  imageConfig: { aspectRatio: '16:9', imageSize: '2K' },
  thinkingConfig: { includeThoughts: true, thinkingLevel: 'HIGH' },
  enableEnhancedCivicAnswers: false,
  responseFormat: { notKnown: ['yet'] },
};

const parts: readonly JsonObject[] = [
  { text: 'a' },
  { text: 'b', thought: true, thoughtSignature: 'c2ln' },
  { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
  { fileData: { fileUri: 'https://example.com/a.png', mimeType: 'image/png' } },
  { functionCall: { id: 'c1', name: 'weather', args: { city: 'Bergen' } } },
  { functionResponse: { id: 'c1', name: 'weather', response: { sky: 'rain' } } },
  { executableCode: { language: 'PYTHON', code: 'print(1)' } },
  { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1\n' } },
  { text: 'd', videoMetadata: { fps: 1 }, mediaResolution: { level: 'LOW' } },
];

const native: JsonObject = {
  contents: [{ role: 'user', parts }, { parts: [{ text: 'no role' }] }],
  systemInstruction: { parts: [{ text: 'Be brief.' }] },
  tools: [
    { functionDeclarations: [{ name: 'weather', description: 'now', parameters: { type: 'OBJECT' } }] },
    { functionDeclarations: [{ name: 'time', parametersJsonSchema: { type: 'object' } }] },
    { vendor_search: {} },
    { vendorMaps: { enableWidget: true } },
    { codeExecution: {} },
    { urlContext: {} },
    { googleSearchRetrieval: { dynamicRetrievalConfig: { mode: 'MODE_DYNAMIC' } } },
    { fileSearch: { fileSearchStoreNames: ['s'] } },
    { computerUse: { environment: 'ENVIRONMENT_BROWSER' } },
  ],
  toolConfig: {
    functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['weather'] },
    retrievalConfig: { latLng: { latitude: 60.39, longitude: 5.32 }, languageCode: 'nb' },
    includeServerSideToolInvocations: true,
  },
  safetySettings: [
    { category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' },
    { category: 'HARM_CATEGORY_JAILBREAK', threshold: 'OFF' },
  ],
  generationConfig,
  cachedContent: 'cachedContents/abc',
  labels: { team: 'night' },
};

test.each(Object.keys(native))('%s reaches the wire unchanged', async (name) => {
  const { contents } = native;
  const { body } = await sentFor(call({ contents, [name]: native[name] }));
  expect(body).toEqual({ contents, [name]: native[name] });
});

test.each(Object.keys(generationConfig))('generationConfig.%s reaches the wire unchanged', async (name) => {
  const config = { [name]: generationConfig[name] };
  const { body } = await sentFor(call({ contents: native['contents'], generationConfig: config }));
  expect(body).toEqual({ contents: native['contents'], generationConfig: config });
});

test.each([
  { thinkingLevel: 'MINIMAL' },
  { thinkingLevel: 'LOW' },
  { thinkingLevel: 'MEDIUM' },
  { thinkingLevel: 'HIGH' },
  { thinkingBudget: 0 },
  { thinkingBudget: -1, includeThoughts: false },
])('generationConfig.thinkingConfig %j reaches the wire unchanged', async (thinkingConfig) => {
  const { body } = await sentFor(call({ prompt: 'a', generationConfig: { thinkingConfig } }));
  expect(body).toMatchObject({ generationConfig: { thinkingConfig } });
});

test('all of them reach the wire together, and nothing else', async () => {
  expect((await sentFor(call(native))).body).toEqual(native);
});

test('fields declared for promptpress itself are not sent', async () => {
  const own = { stream: true, accept: ['MAX_TOKENS'], continue: 'first', rounds: 3 };
  const { body } = await sentFor(call({ contents: native['contents'], ...own }));
  expect(body).toEqual({ contents: native['contents'] });
});

test('a number in another notation is sent as the number that it is', async () => {
  const written = { toJSON: () => 1000 };
  const { body } = await sentFor(
    call({ prompt: 'a', thinking: written, generationConfig: { maxOutputTokens: written } }),
  );
  expect(body).toMatchObject({
    generationConfig: { maxOutputTokens: 1000, thinkingConfig: { thinkingBudget: 1000 } },
  });
});

const chat: JsonObject = {
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
  ],
  temperature: 0.5,
  max_tokens: 100,
  response_format: { type: 'json_schema', json_schema: { name: 'best', schema: { type: 'object' } } },
  seed: 7,
};

test.each(Object.keys(chat))('chat: %s reaches the wire unchanged', async (name) => {
  const { messages } = chat;
  const { body } = await sentFor(call({ messages, [name]: chat[name] }, { kind: 'chat' }));
  expect(body).toEqual({ model: 'text-pro', messages, [name]: chat[name] });
});

test.each([
  ['text-pro', false, '/v1beta/models/text-pro:generateContent'],
  ['text-pro', true, '/v1beta/models/text-pro:streamGenerateContent?alt=sse'],
  ['a/b:free', false, '/v1beta/models/a%2Fb%3Afree:generateContent'],
  ['?x=#', false, '/v1beta/models/%3Fx%3D%23:generateContent'],
  ['../../v1', false, '/v1beta/models/..%2F..%2Fv1:generateContent'],
])('model %s, stream %s: %s', async (model, stream, path) => {
  const sent = await sentFor(call({ model, prompt: 'a' }, { stream }));
  expect([sent.method, sent.url, sent.redirect]).toEqual([
    'POST',
    `https://api.example.com${path}`,
    'manual',
  ]);
});

test.each([
  ['v1', false, '/v1/models/text-pro:generateContent'],
  ['art/v2', true, '/art/v2/models/text-pro:streamGenerateContent?alt=sse'],
])('native path %s, stream %s: %s', async (nativePath, stream, path) => {
  const sent = await sentFor(call({ prompt: 'a' }, { stream }), {
    names: { ...namePresets.neutral, nativePath },
  });
  expect(sent.url).toBe(`https://api.example.com${path}`);
});

test('a streamed chat requests its token counts', async () => {
  const sent = await sentFor(call({ prompt: 'Hi' }, { kind: 'chat', stream: true }));
  expect(sent.url).toBe('https://api.example.com/v1/chat/completions');
  expect(sent.body).toMatchObject({ stream: true, stream_options: { include_usage: true } });
});
