import { texts } from '../../../src/service/kinds.ts';
import type { StreamEnd } from '../../../src/service/text/reply/end.ts';
import { StreamReader, streamBounds } from '../../../src/service/text/stream/reader.ts';

/** A stream as services write it: lines end in `\n`, which a test may replace. */
export interface RecordedStream {
  readonly what: string;
  readonly kind: 'generate' | 'chat';
  readonly text: string;
  readonly ends: StreamEnd['kind'];
}

const events = (...items: readonly unknown[]): string =>
  items.map((item) => `data: ${JSON.stringify(item)}\n\n`).join('');

/** One event of a native stream. */
export const event = (parts: readonly unknown[], more: object = {}, usage?: object): unknown => ({
  candidates: [{ content: { role: 'model', parts }, ...more }],
  ...(usage && { usageMetadata: usage }),
  modelVersion: 'text-pro-002',
});

const delta = (part: object, more: object = {}): unknown => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  model: 'text-pro-002',
  choices: [{ index: 0, delta: part, finish_reason: null, ...more }],
  usage: null,
});

const overloaded = {
  error: { code: 503, message: 'The model is overloaded. Please try again later.', status: 'UNAVAILABLE' },
};

export const recorded: readonly RecordedStream[] = [
  {
    what: 'text, thoughts, a signature, counts that grow',
    kind: 'generate',
    ends: 'answer',
    text: events(
      event([{ text: 'Rødt — ', thought: true }], { index: 0 }, { promptTokenCount: 2304 }),
      event([{ text: '毛皮', thought: true }, { text: 'En ' }], { index: 0 }, { promptTokenCount: 2301 }),
      event([{ text: 'rev 🦊' }], { index: 0 }, { promptTokenCount: 2301, candidatesTokenCount: 3 }),
      event(
        [{ text: '', thoughtSignature: 'c2ln' }],
        { finishReason: 'STOP', index: 0 },
        {
          promptTokenCount: 2301,
          candidatesTokenCount: 4,
          thoughtsTokenCount: 5,
          totalTokenCount: 2310,
        },
      ),
    ),
  },
  {
    what: 'STOP in every event, comments, [DONE], a last event with counts alone',
    kind: 'generate',
    ends: 'answer',
    text: `: ping\n\n${events(event([], { finishReason: 'STOP' }))}: still here\n${events(
      event([{ text: 'a\u2028\r\nb' }], { finishReason: 'STOP' }),
      event([{ text: 'c' }], { finishReason: 'STOP' }),
      { usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 2, totalTokenCount: 3 } },
    )}data: [DONE]\n\ndata: {"candidates":[{"finishReason":"OTHER"}]}\n\n`,
  },
  {
    what: 'two candidates, images, code, calls, grounding, an event in several lines, ids and event names',
    kind: 'generate',
    ends: 'answer',
    text: `${events({
      candidates: [
        { index: 1, content: { parts: [{ text: 'one' }] } },
        { index: 0, content: { role: 'model', parts: [{ text: 'zero' }] } },
      ],
    })}id: 7\nevent: message\nretry: 10\ndata: {"candidates":\ndata:  [{"index":0,"content":{"parts":[\ndata:{"executableCode":{"language":"PYTHON","code":"1"}}]}}]}\n\n${events(
      {
        candidates: [
          {
            index: 0,
            content: {
              parts: [
                { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
                { inlineData: { mimeType: 'image/png', data: 'BBBB' } },
                { functionCall: { name: 'f', args: { q: 'é' } } },
              ],
            },
            groundingMetadata: { webSearchQueries: ['a'], groundingChunks: [{ web: { uri: 'u' } }] },
          },
        ],
      },
      {
        candidates: [
          { index: 1, finishReason: 'MAX_TOKENS' },
          {
            index: 0,
            finishReason: 'STOP',
            groundingMetadata: {
              webSearchQueries: ['a', 'b'],
              groundingChunks: [{ web: { uri: 'v' } }],
            },
          },
        ],
      },
    )}`,
  },
  {
    what: 'a blocked prompt',
    kind: 'generate',
    ends: 'answer',
    text: events({ promptFeedback: { blockReason: 'SAFETY' } }, { usageMetadata: { promptTokenCount: 4 } }),
  },
  {
    what: 'no blank line at the end',
    kind: 'generate',
    ends: 'answer',
    text: events(event([{ text: 'a' }], { finishReason: 'STOP' })).trimEnd(),
  },
  {
    what: 'no finish reason',
    kind: 'generate',
    ends: 'truncated',
    text: events(event([{ text: 'a' }], {}, { promptTokenCount: 1 }), event([{ text: 'b' }])),
  },
  {
    what: 'one of two candidates without a finish reason',
    kind: 'generate',
    ends: 'truncated',
    text: events({
      candidates: [
        { index: 0, finishReason: 'STOP' },
        { index: 1, content: { parts: [] } },
      ],
    }),
  },
  {
    what: 'an event that is cut off',
    kind: 'generate',
    ends: 'truncated',
    text: `${events(event([{ text: 'a' }], {}, { promptTokenCount: 1 }))}data: {"candidates":[{"cont`,
  },
  {
    what: 'an error after good events',
    kind: 'generate',
    ends: 'error',
    text: events(event([{ text: 'a' }], {}, { promptTokenCount: 1 }), overloaded, event([{ text: 'b' }])),
  },
  {
    what: 'a bare error after good events',
    kind: 'generate',
    ends: 'error',
    text: `${events(event([{ text: 'a' }], {}, { promptTokenCount: 1 }))}${JSON.stringify(overloaded, null, 2)}`,
  },
  { what: 'an error alone', kind: 'generate', ends: 'error', text: JSON.stringify(overloaded, null, 2) },
  {
    what: 'a list of events',
    kind: 'generate',
    ends: 'answer',
    text: JSON.stringify([event([{ text: 'a' }]), event([{ text: 'b' }], { finishReason: 'STOP' })], null, 2),
  },
  {
    what: 'one whole answer',
    kind: 'generate',
    ends: 'answer',
    text: JSON.stringify(event([{ text: 'ø' }], { finishReason: 'STOP' }), null, 1),
  },
  { what: 'a broken event', kind: 'generate', ends: 'unusable', text: 'data: {"candidates":NaN}\n\n' },
  { what: 'a page', kind: 'generate', ends: 'other', text: '<!doctype html>\n<title>é</title>\n' },
  { what: 'text', kind: 'generate', ends: 'other', text: 'upstream\nis gone\n' },
  { what: 'nothing', kind: 'generate', ends: 'other', text: '\n \n' },
  {
    what: 'chat',
    kind: 'chat',
    ends: 'answer',
    text: `${events(
      delta({ role: 'assistant', content: '' }),
      delta({ reasoning_content: 'Red ' }),
      delta({ reasoning_content: 'fur.' }),
      delta({ content: 'A ' }),
      delta({ content: 'fox 🦊' }),
      delta({
        tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name: 'f', arguments: '' } }],
      }),
      delta({ tool_calls: [{ index: 0, function: { arguments: '{"q":' } }] }),
      delta({ tool_calls: [{ index: 0, function: { arguments: '"é"}' } }] }),
      delta({}, { finish_reason: 'tool_calls' }),
      {
        id: 'chatcmpl-1',
        choices: [],
        usage: {
          prompt_tokens: 5,
          completion_tokens: 7,
          total_tokens: 12,
          completion_tokens_details: { reasoning_tokens: 2 },
        },
      },
    )}data: [DONE]\n\n`,
  },
  {
    what: 'chat that calls a function in the older words',
    kind: 'chat',
    ends: 'answer',
    text: `${events(
      delta({ role: 'assistant', content: null, function_call: { name: 'f', arguments: '' } }),
      delta({ function_call: { arguments: '{"q":' } }),
      delta({ function_call: { arguments: '"é"}' } }),
      delta({ function_call: null }, { finish_reason: 'function_call' }),
    )}data: [DONE]\n\n`,
  },
  {
    what: 'chat without a finish reason',
    kind: 'chat',
    ends: 'unfinished',
    text: `${events(delta({ content: 'A ' }))}data: [DONE]\n\n`,
  },
];

const encoder = new TextEncoder();
export const bytesOf = (text: string): Uint8Array => encoder.encode(text);

/** What a reader comes to that is given the bytes cut at these places, in ascending order. */
export function readCut(
  kind: 'generate' | 'chat',
  bytes: Uint8Array,
  cuts: readonly number[] = [],
  bounds = streamBounds,
): StreamEnd & { readonly usage: unknown } {
  const reader = new StreamReader(texts[kind], bounds);
  let from = 0;
  for (const cut of [...cuts, bytes.length]) {
    reader.push(bytes.subarray(from, cut));
    from = cut;
  }
  const end = reader.end();
  return { ...end, usage: reader.usage };
}
