import { type Draft, draft, type Piece, piece } from '../input.ts';
import type { Random } from '../random.ts';
import { anyJson, type Json, largeJson, mutateJson } from './json.ts';
import { mutate, odd } from './oddity.ts';

/** Answers as the two endpoints give them (gateway 6.5, 6): the material of mutations. */
const native: readonly Json[] = [
  {
    candidates: [
      {
        content: { role: 'model', parts: [{ text: '{"best": 3}' }] },
        finishReason: 'STOP',
        index: 0,
        safetyRatings: [{ category: 'HARM_CATEGORY_HARASSMENT', probability: 'NEGLIGIBLE', blocked: false }],
        citationMetadata: { citationSources: [{ startIndex: 0, endIndex: 3, uri: 'https://a.example' }] },
        avgLogprobs: -0.1,
      },
    ],
    usageMetadata: {
      promptTokenCount: 12,
      candidatesTokenCount: 5,
      thoughtsTokenCount: 7,
      cachedContentTokenCount: 3,
      toolUsePromptTokenCount: 2,
      totalTokenCount: 26,
      promptTokensDetails: [{ modality: 'TEXT', tokenCount: 12 }],
    },
    modelVersion: 'text-pro-001',
    responseId: 'r1',
  },
  {
    candidates: [
      {
        content: {
          role: 'model',
          parts: [
            { text: 'I think', thought: true },
            { functionCall: { id: 'c1', name: 'weather', args: { place: 'here' } }, thoughtSignature: 's' },
            { functionCall: { name: 'nothing of ours', args: {} } },
          ],
        },
        finishReason: 'STOP',
      },
    ],
  },
  {
    candidates: [
      {
        content: {
          role: 'model',
          parts: [{ text: 'a' }, { inlineData: { mimeType: 'image/png', data: 'aGk=' } }],
        },
        finishReason: 'MAX_TOKENS',
        finishMessage: 'too long',
        index: 1,
      },
      { content: { role: 'model' }, finishReason: 'SAFETY', index: 0 },
    ],
  },
  { promptFeedback: { blockReason: 'SAFETY', safetyRatings: [] }, usageMetadata: { promptTokenCount: 3 } },
  { candidates: [{ finishReason: 'MALFORMED_FUNCTION_CALL' }] },
  { error: { code: 429, message: 'slow down', status: 'RESOURCE_EXHAUSTED' } },
];

const chat: readonly Json[] = [
  {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    model: 'text-pro-001',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: '{"best": 3}', refusal: null },
        finish_reason: 'stop',
      },
    ],
    usage: {
      prompt_tokens: 3,
      completion_tokens: 9,
      total_tokens: 12,
      completion_tokens_details: { reasoning_tokens: 4 },
      prompt_tokens_details: { cached_tokens: 1 },
    },
  },
  {
    choices: [
      {
        index: 1,
        message: {
          content: [
            { type: 'text', text: 'a' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
          ],
          reasoning_content: 'hm',
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'weather', arguments: '{"a": 1}' } }],
        },
        finish_reason: 'tool_calls',
      },
      { index: 0, message: { refusal: 'I would rather not' }, finish_reason: 'content_filter' },
    ],
  },
  { error: { code: '', message: 'no (request id: 1)', type: 'svc_api_error' } },
];

const chunks: readonly Json[] = [
  { object: 'chat.completion.chunk', choices: [{ index: 0, delta: { role: 'assistant', content: 'a' } }] },
  {
    choices: [
      { index: 0, delta: { tool_calls: [{ index: 0, function: { name: 'weather', arguments: '{"a"' } }] } },
    ],
  },
  { choices: [{ index: 0, delta: { reasoning_content: 'hm', refusal: 'no' } }] },
  { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
  { choices: [], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } },
];

type Form = 'generate' | 'chat';

const valid = (form: Form, random: Random): Json => random.pick(form === 'chat' ? chat : native);

/** An answer with many of what there is one of. */
function many(form: Form, random: Random): readonly Piece[] {
  const times = random.size(random.happens(0.02) ? 100_000 : 3000);
  const [open, unit, close] = random.pick<readonly [string, string, string]>(
    form === 'chat'
      ? ([
          ['{"choices":[', '{"message":{"content":"a"},"finish_reason":"stop"},', '{}]}'],
          ['{"choices":[{"message":{"content":[', '{"type":"text","text":"a"},', '{}]}}]}'],
          ['{"choices":[{"message":{"refusal":"', 'a', '"}}]}'],
          ['{"choices":[{"finish_reason":"', 'x', '"}]}'],
          ['{"choices":[{"message":{"tool_calls":[', '{"function":{"name":"f"}},', '{}]}}]}'],
        ] as const)
      : ([
          ['{"candidates":[', '{"index":0,"finishReason":"STOP"},', '{}]}'],
          ['{"candidates":[{"content":{"parts":[', '{"text":"a"},', '{}]}}]}'],
          ['{"candidates":[{"finishReason":"', 'x', '"}]}'],
          ['{"candidates":[{"finishReason":"STOP","finishMessage":"', '\\u001b', '"}]}'],
          ['{"promptFeedback":{"blockReason":"', 'SAFETY ', '"}}'],
          ['{"candidates":[{"content":{"parts":[{"functionCall":{"name":"', 'f', '"}}]}}]}'],
          ['{"candidates":[{"content":{"parts":[', '{"functionCall":{"name":"weather"}},', '{}]}}]}'],
          [
            '{"candidates":[{"content":{"parts":[{"inlineData":{"mimeType":"image/png","data":"',
            'aGk=',
            '"}}]}}]}',
          ],
          ['{"candidates":[{"content":{"parts":[{"text":"', '[', '"}]}}]}'],
          ['{"candidates":[{"content":{"parts":[{"text":"', '```json\\n', '"}]}}]}'],
        ] as const),
  );
  return [piece(open), piece(unit, times), piece(close)];
}

/** One JSON value where an answer is waited for. */
export function hostileReply(random: Random): Draft {
  const form = random.pick<Form>(['generate', 'generate', 'chat']);
  const chosen = random.next();
  const chunk = random.pick([0, 0, 1, 7, 4096]);
  if (chosen < 0.6)
    return {
      ...draft(form, JSON.stringify(mutateJson(valid(form, random), random, random.pick([0, 0.03, 0.1])))),
      chunk,
    };
  if (chosen < 0.75) return { ...draft(form, mutate(JSON.stringify(valid(form, random)), random)), chunk };
  if (chosen < 0.9) return { form, pieces: many(form, random), chunk };
  if (chosen < 0.95) return { form, pieces: largeJson(random), chunk };
  return { ...draft(form, JSON.stringify(anyJson(random))), chunk };
}

const lineEnd = (random: Random): string => random.pick(['\n', '\n', '\r\n', '\r\n', '\r']);

function eventOf(form: Form, random: Random): string {
  const value = form === 'chat' && random.happens(0.8) ? random.pick(chunks) : valid(form, random);
  const json = JSON.stringify(mutateJson(value, random, random.pick([0, 0, 0.05])));
  const end = lineEnd(random);
  const field = random.pick([
    'data: ',
    'data: ',
    'data: ',
    'data:',
    'data:  ',
    'Data: ',
    '',
    'event: x\ndata: ',
  ]);
  return `${field}${random.happens(0.1) ? json.replaceAll(',', `,${end}data: `) : json}${end}${end}`;
}

/** What stands between events, or instead of them. */
const between = (random: Random): string =>
  random.pick([
    '',
    '',
    '',
    ': comment\n\n',
    'data: [DONE]\n\n',
    'data:\n\n',
    '\n',
    'id: 1\nretry: 10\n\n',
    'event: error\ndata: {"error":"x"}\n\n',
    '{\n  "error": { "code": 503, "status": "UNAVAILABLE" }\n}\n',
    'data: {"candidates":[\n\n',
    '<html>',
    `data: ${odd(random)}\n\n`,
    `${odd(random)}\n`,
  ]);

/** Bytes where a stream of events is waited for. */
export function hostileStream(random: Random): Draft {
  const form = random.pick<Form>(['generate', 'generate', 'chat']);
  const chunk = random.pick([0, 1, 2, 3, 16, 1000, 65_536]);
  const events = (): string =>
    random.some(0, 8, () => between(random) + eventOf(form, random)).join('') + between(random);
  const chosen = random.next();
  if (chosen < 0.5) return { ...draft(form, events()), chunk };
  if (chosen < 0.7) return { ...draft(form, mutate(events(), random)), chunk };
  if (chosen < 0.8) {
    const times = random.size(random.happens(0.05) ? 60_000 : 2000);
    const unit = random.pick([
      eventOf(form, random),
      between(random),
      'data: {}\n\n',
      'data: {"a":[1]}\n\n',
      'x\n',
    ]);
    return { ...draft(form, events(), piece(unit, times), events()), chunk };
  }
  if (chosen < 0.9) {
    const [before, after] = random.pick([
      ['data: ', '\n\n'],
      ['data: ', ''],
      ['', '\n\n'],
    ] as const);
    return { form, pieces: [piece(before), ...largeJson(random), piece(after), piece(events())], chunk };
  }
  // Bytes that are no text, or another text.
  const encoding = random.pick(['latin1', 'utf16le'] as const);
  return {
    form,
    pieces: [
      { text: events(), times: 1 },
      { text: `é${events()}`, times: 1, encoding },
    ],
    chunk,
  };
}
