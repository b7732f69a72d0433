import { describe, expect, test } from 'vitest';

import type { JsonObject, TextReply } from '../../../src/service/text-service.ts';
import { call, replyTo } from './text-service.ts';

const rating = { category: 'HARM_CATEGORY_HARASSMENT', probability: 'LOW', blocked: false };

/** A candidate with every member of gateway 6.5. */
const candidate: JsonObject = {
  content: {
    role: 'model',
    parts: [
      { text: 'Let me see. ', thought: true },
      { text: 'A ' },
      { text: 'fox.', thoughtSignature: 'c2ln' },
      { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
      { inlineData: { mimeType: 'audio/wav', data: 'BBBB' } },
      { inlineData: { mimeType: 'image/png', data: 'CCCC' }, thought: true },
      { functionCall: { id: 'c1', name: 'weather', args: { city: 'Bergen' } } },
      { functionCall: { name: 'time' } },
      { executableCode: { language: 'PYTHON', code: 'print(1)' } },
      { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
      { text: 'And more.', notKnown: 1 },
    ],
  },
  finishReason: 'STOP',
  finishMessage: 'done',
  safetyRatings: [rating],
  citationMetadata: {
    citationSources: [{ startIndex: 0, endIndex: 4, uri: 'https://example.com', license: 'mit' }],
  },
  tokenCount: 9,
  avgLogprobs: -0.12345678901234,
  logprobsResult: { chosenCandidates: [{ token: 'A', logProbability: -0.1 }] },
  groundingMetadata: {
    groundingChunks: [
      { web: { uri: 'https://example.com', title: 'Foxes' } },
      { maps: { uri: 'https://example.com/m', title: 'Den', text: 'x', placeId: 'p' } },
    ],
    groundingSupports: [
      {
        groundingChunkIndices: [0],
        confidenceScores: [0.9],
        segment: { startIndex: 0, endIndex: 4, text: 'A fo' },
      },
    ],
    webSearchQueries: ['fox'],
    searchEntryPoint: { renderedContent: '<p></p>' },
    retrievalMetadata: {},
    googleMapsWidgetContextToken: 't',
  },
  urlContextMetadata: { urlMetadata: [{ retrievedUrl: 'https://example.com' }] },
  index: 0,
};

const answer: JsonObject = {
  candidates: [candidate],
  promptFeedback: { safetyRatings: [rating] },
  usageMetadata: {
    promptTokenCount: 10,
    cachedContentTokenCount: 4,
    candidatesTokenCount: 5,
    thoughtsTokenCount: 3,
    toolUsePromptTokenCount: 2,
    totalTokenCount: 20,
    trafficType: 'ON_DEMAND',
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: 10 }],
    candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 5 }],
    cacheTokensDetails: [{ modality: 'TEXT', tokenCount: 4 }],
    toolUsePromptTokensDetails: [{ modality: 'TEXT', tokenCount: 2 }],
  },
  modelVersion: 'text-pro-002',
  createTime: '2026-11-01T00:00:00Z',
  responseId: 'r1',
  notKnown: { yet: true },
};

const first = (reply: TextReply): TextReply['candidates'][number] => {
  const [candidateRead] = reply.candidates;
  if (candidateRead === undefined) throw new Error('no candidate');
  return candidateRead;
};

interface Read {
  readonly field: string;
  readonly read: (reply: TextReply) => unknown;
  readonly is: unknown;
}

const parsed: readonly Read[] = [
  { field: 'parts[]', read: (r) => first(r).parts, is: (candidate['content'] as JsonObject)['parts'] },
  { field: 'parts[].text', read: (r) => first(r).text, is: 'A fox.And more.' },
  {
    field: 'parts[].inlineData',
    read: (r) => first(r).images,
    is: [{ mimeType: 'image/png', data: 'AAAA' }],
  },
  {
    field: 'parts[].functionCall',
    read: (r) => first(r).functionCalls,
    is: [
      { id: 'c1', name: 'weather', args: { city: 'Bergen' } },
      { name: 'time', args: {} },
    ],
  },
  { field: 'finishReason', read: (r) => first(r).finishReason, is: 'STOP' },
  { field: 'finishMessage', read: (r) => first(r).finishMessage, is: 'done' },
  {
    field: 'usageMetadata',
    read: (r) => r.usage,
    is: { prompt: 10, cached: 4, candidates: 5, thoughts: 3, tool: 2, total: 20 },
  },
  { field: 'modelVersion', read: (r) => r.model, is: 'text-pro-002' },
  { field: 'responseId', read: (r) => r.responseId, is: 'r1' },
];

const forms: readonly [string, () => Promise<TextReply>][] = [
  ['whole', () => replyTo(answer)],
  [
    'as a stream',
    () => replyTo(`data: ${JSON.stringify(answer)}\n\n`, call({ prompt: 'a' }, { stream: true })),
  ],
];

describe.each(forms)('a reply %s', (_form, reply) => {
  test.each(parsed)('$field is read', async ({ read, is }) => {
    expect(read(await reply())).toEqual(is);
  });

  test.each(Object.keys(candidate))('candidates[].%s is in the whole reply', async (name) => {
    const [whole] = (await reply()).whole['candidates'] as readonly JsonObject[];
    expect(whole?.[name]).toEqual(candidate[name]);
  });

  test.each(Object.keys(answer))('%s is in the whole reply', async (name) => {
    expect((await reply()).whole[name]).toEqual(answer[name]);
  });
});

test.each([
  ['whole', (event: JsonObject) => replyTo(event)],
  [
    'as a stream',
    (event: JsonObject) =>
      replyTo(`data: ${JSON.stringify(event)}\n\n`.repeat(2), call({ prompt: 'a' }, { stream: true })),
  ],
])('a reply %s that reports no error is a reply', async (_form, reply) => {
  for (const error of [null, '', false, 0])
    expect((await reply({ ...answer, error })).model).toBe('text-pro-002');
});

test('a blocked prompt has no candidates and says why', async () => {
  const body = {
    promptFeedback: { blockReason: 'SAFETY', blockReasonMessage: 'no', safetyRatings: [rating] },
    usageMetadata: { promptTokenCount: 4, totalTokenCount: 4 },
  };
  const expected = {
    candidates: [],
    blockReason: 'SAFETY',
    blockMessage: 'no',
    usage: { prompt: 4, total: 4 },
    whole: body,
  };
  expect(await replyTo(body)).toEqual(expected);
  const stream = `data: ${JSON.stringify(body)}\n\n`;
  expect(await replyTo(stream, call({ prompt: 'a' }, { stream: true }))).toEqual(expected);
});

test.each([
  ['content without parts', { content: { role: 'model' }, finishReason: 'MAX_TOKENS' }],
  ['no content', { finishReason: 'MAX_TOKENS' }],
  ['parts that are none', { content: { parts: [null, 'x', 3] }, finishReason: 'MAX_TOKENS' }],
])('%s is an empty reply', async (_what, spent) => {
  const { candidates } = await replyTo({ candidates: [spent], usageMetadata: { thoughtsTokenCount: 2999 } });
  expect(candidates).toEqual([
    { parts: [], text: '', images: [], functionCalls: [], finishReason: 'MAX_TOKENS' },
  ]);
});

test('candidates come in the order of their index; one without keeps its place', async () => {
  const says = (text: string, index?: number): JsonObject => ({ content: { parts: [{ text }] }, index });
  const { candidates } = await replyTo({ candidates: [says('c', 2), says('b'), says('a', 0)] });
  expect(candidates.map(({ text }) => text)).toEqual(['a', 'b', 'c']);
});

test.each([-1, 1.5, Number.MAX_SAFE_INTEGER, 1_000_000_001, '3', 'NaN', null, {}, [], true, 1e300])(
  'a count of %j is ignored',
  async (count) => {
    const usageMetadata = { promptTokenCount: count, candidatesTokenCount: 2, totalTokenCount: count };
    expect((await replyTo({ candidates: [], usageMetadata })).usage).toEqual({ candidates: 2, total: 2 });
  },
);

test('usage without counts is absent, and a total is never less than the sum of its parts', async () => {
  expect(await replyTo({ candidates: [], usageMetadata: { trafficType: 'ON_DEMAND' } })).not.toHaveProperty(
    'usage',
  );
  for (const usageMetadata of [
    { promptTokenCount: 0, candidatesTokenCount: 0, totalTokenCount: 0 },
    { promptTokenCount: 1e12, totalTokenCount: -7 },
  ])
    expect(await replyTo({ candidates: [], usageMetadata })).not.toHaveProperty('usage');
  const usageMetadata = { promptTokenCount: 500, candidatesTokenCount: 2, totalTokenCount: 1 };
  expect((await replyTo({ candidates: [], usageMetadata })).usage).toMatchObject({ prompt: 500, total: 502 });
});

test('a long integer in a reply becomes a number, so that the reply can be written as JSON', async () => {
  const body =
    '{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"id":14001929738841620999}}}]}}]}';
  const { whole } = await replyTo(body);
  expect(JSON.stringify(whole)).toContain('"id":14001929738841620000');
});

describe('chat', () => {
  const chat = call({ prompt: 'a' }, { kind: 'chat' });
  const whole: JsonObject = {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'text-pro-002',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: 'A fox.',
          reasoning_content: 'Red fur.',
          refusal: null,
          annotations: [],
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Bergen"}' } },
            { id: 'c2', type: 'function', function: { name: 'time', arguments: '{"zone":' } },
          ],
        },
        logprobs: null,
        finish_reason: 'tool_calls',
      },
    ],
    usage: {
      prompt_tokens: 10,
      completion_tokens: 9,
      total_tokens: 19,
      prompt_tokens_details: { cached_tokens: 4, audio_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 6 },
    },
    service_tier: 'default',
    system_fingerprint: 'fp',
  };

  test('a function call under the older name is read once, even beside the same tool call', async () => {
    const older = { name: 'weather', arguments: '{"city":"Bergen"}' };
    const saying = (message: JsonObject) => ({
      choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'function_call' }],
    });
    const alone = await replyTo(saying({ content: null, function_call: older }), chat);
    expect(alone.candidates[0]?.functionCalls).toEqual([{ name: 'weather', args: { city: 'Bergen' } }]);
    const tool = { id: 'c1', type: 'function', function: older };
    const both = await replyTo(saying({ function_call: older, tool_calls: [tool] }), chat);
    expect(both.candidates[0]?.functionCalls).toEqual([
      { id: 'c1', name: 'weather', args: { city: 'Bergen' } },
    ]);
  });

  test('a reply is read completely, with native parts', async () => {
    expect(await replyTo(whole, chat)).toEqual({
      candidates: [
        {
          parts: [
            { text: 'Red fur.', thought: true },
            { text: 'A fox.' },
            { functionCall: { id: 'c1', name: 'weather', args: { city: 'Bergen' } } },
            { functionCall: { id: 'c2', name: 'time', args: {} } },
          ],
          text: 'A fox.',
          images: [],
          functionCalls: [
            { id: 'c1', name: 'weather', args: { city: 'Bergen' } },
            { id: 'c2', name: 'time', args: {} },
          ],
          finishReason: 'tool_calls',
        },
      ],
      usage: { prompt: 10, cached: 4, candidates: 3, thoughts: 6, total: 19 },
      model: 'text-pro-002',
      responseId: 'chatcmpl-1',
      whole,
    });
  });

  test('a refusal and a content filter are reported', async () => {
    const message = { role: 'assistant', content: null, refusal: 'I cannot.' };
    const choices = [{ index: 0, message, finish_reason: 'content_filter' }];
    const { candidates } = await replyTo({ choices }, chat);
    expect(candidates).toMatchObject([{ text: '', refusal: 'I cannot.', finishReason: 'content_filter' }]);
  });

  test('content may have parts, and images as data URIs', async () => {
    const url = 'data:image/png;base64,AAAA';
    const content = [
      { type: 'text', text: 'A ' },
      { type: 'text', text: 'fox.' },
    ];
    const message = { role: 'assistant', content, images: [{ type: 'image_url', image_url: { url } }] };
    const { candidates } = await replyTo({ choices: [{ index: 0, message, finish_reason: 'stop' }] }, chat);
    expect(candidates).toMatchObject([{ text: 'A fox.', images: [{ mimeType: 'image/png', data: 'AAAA' }] }]);
  });

  test.each([
    ['reasoning inside', 9, 6, 19, { candidates: 3, thoughts: 6, total: 19 }],
    ['reasoning beside, by the total', 9, 6, 25, { candidates: 9, thoughts: 6, total: 25 }],
    ['reasoning beside, for it is more', 2, 6, undefined, { candidates: 2, thoughts: 6, total: 18 }],
    ['more reasoning inside, by the total', 2, 6, 17, { candidates: 0, thoughts: 6, other: 1, total: 17 }],
    ['no reasoning', 9, undefined, undefined, { candidates: 9, total: 19 }],
  ])('usage with %s: the total is the sum', async (_what, completion, reasoning, total, usage) => {
    const counts = {
      prompt_tokens: 10,
      completion_tokens: completion,
      ...(total !== undefined && { total_tokens: total }),
      completion_tokens_details: { reasoning_tokens: reasoning },
    };
    const reply = await replyTo({ choices: [], usage: counts }, chat);
    expect(reply.usage).toEqual({ prompt: 10, ...usage });
  });
});
