import { describe, expect, test } from 'vitest';
import { valuesIn } from '../../../../src/service/http/json.ts';
import { texts } from '../../../../src/service/kinds.ts';
import { readChatReply } from '../../../../src/service/text/reply/chat.ts';
import { readTextReply } from '../../../../src/service/text/reply/native.ts';
import { StreamReader, streamBounds } from '../../../../src/service/text/stream/reader.ts';
import type { JsonObject } from '../../../../src/service/text-service.ts';
import { bytesOf, event, readCut, recorded } from '../streams.ts';

const wholeOf = (what: string): JsonObject => {
  const stream = recorded.find((one) => one.what.startsWith(what));
  if (stream === undefined) throw new Error(`no stream ${what}`);
  const end = readCut(stream.kind, bytesOf(stream.text));
  if (end.kind !== 'answer') throw new Error(end.kind);
  return end.whole;
};

describe('a stream', () => {
  test('joins deltas of text and of thoughts, keeps a signature separate, and takes the largest counts', () => {
    expect(wholeOf('text, thoughts')).toEqual({
      candidates: [
        {
          content: {
            role: 'model',
            parts: [
              { text: 'Rødt — 毛皮', thought: true },
              { text: 'En rev 🦊' },
              { text: '', thoughtSignature: 'c2ln' },
            ],
          },
          finishReason: 'STOP',
          index: 0,
        },
      ],
      usageMetadata: {
        promptTokenCount: 2304,
        candidatesTokenCount: 4,
        thoughtsTokenCount: 5,
        totalTokenCount: 2310,
      },
      modelVersion: 'text-pro-002',
    });
  });

  test('does not end at an early STOP, but ends at [DONE]', () => {
    const reply = readTextReply(wholeOf('STOP in every event'));
    expect(reply.candidates).toMatchObject([{ text: 'a\u2028\r\nbc', finishReason: 'STOP' }]);
    expect(reply.usage).toEqual({ prompt: 1, candidates: 2, total: 3 });
  });

  test('separates candidates and parts of different kinds; later lists extend earlier ones', () => {
    expect(wholeOf('two candidates')['candidates']).toEqual([
      {
        content: {
          role: 'model',
          parts: [
            { text: 'zero' },
            { executableCode: { language: 'PYTHON', code: '1' } },
            { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
            { inlineData: { mimeType: 'image/png', data: 'BBBB' } },
            { functionCall: { name: 'f', args: { q: 'é' } } },
          ],
        },
        groundingMetadata: {
          // The second list is a later state of the first; of the chunks it is a continuation.
          webSearchQueries: ['a', 'b'],
          groundingChunks: [{ web: { uri: 'u' } }, { web: { uri: 'v' } }],
        },
        finishReason: 'STOP',
        index: 0,
      },
      { content: { parts: [{ text: 'one' }] }, finishReason: 'MAX_TOKENS', index: 1 },
    ]);
  });

  test('joins reasoning, text, a call in pieces and the counts of the last chunk of chat', () => {
    expect(readChatReply(wholeOf('chat'))).toMatchObject({
      candidates: [
        {
          parts: [
            { text: 'Red fur.', thought: true },
            { text: 'A fox 🦊' },
            { functionCall: { id: 'c1', name: 'f', args: { q: 'é' } } },
          ],
          text: 'A fox 🦊',
          finishReason: 'tool_calls',
        },
      ],
      usage: { prompt: 5, candidates: 5, thoughts: 2, total: 12 },
      responseId: 'chatcmpl-1',
      whole: { object: 'chat.completion', model: 'text-pro-002' },
    });
  });

  test('joins the pieces of a function call under the older name in chat', () => {
    const reply = readChatReply(wholeOf('chat that calls a function in the older words'));
    expect(reply.candidates).toMatchObject([
      {
        parts: [{ functionCall: { name: 'f', args: { q: 'é' } } }],
        functionCalls: [{ name: 'f', args: { q: 'é' } }],
        text: '',
        finishReason: 'function_call',
      },
    ]);
    expect(reply.whole['choices']).toMatchObject([
      { message: { function_call: { name: 'f', arguments: '{"q":"é"}' } } },
    ]);
  });

  test('keeps its counts after a later event without counts', () => {
    const text = [{ usageMetadata: { promptTokenCount: 2 } }, event([{ text: 'a' }], {}, {})]
      .map((one) => `data: ${JSON.stringify(one)}\n\n`)
      .join('');
    expect(readCut('generate', bytesOf(text))).toEqual({
      kind: 'truncated',
      usage: { prompt: 2, total: 2 },
    });
  });

  test.each([null, {}])('keeps the counts of chat after a later chunk with usage %j', (usage) => {
    const counted = { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 };
    const text = [
      { choices: [{ index: 0, delta: { content: 'A fox' }, finish_reason: 'stop' }], usage: counted },
      { choices: [], usage },
    ]
      .map((one) => `data: ${JSON.stringify(one)}\n\n`)
      .join('');
    const end = readCut('chat', bytesOf(text));
    expect(end.usage).toEqual({ prompt: 5, candidates: 7, total: 12 });
    expect(end).toMatchObject({ kind: 'answer', whole: { usage: counted } });
  });

  test.each(['', null])('keeps the name of a call after a later piece with the name %j', (name) => {
    const pieces = [
      { id: 'c1', type: 'function', function: { name: 'f', arguments: '{"q":' } },
      { id: null, type: null, function: { name, arguments: '1}' } },
    ];
    const text = pieces
      .map((piece) => ({ choices: [{ index: 0, delta: { tool_calls: [{ index: 0, ...piece }] } }] }))
      .concat([{ choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] } as never])
      .map((one) => `data: ${JSON.stringify(one)}\n\n`)
      .join('');
    const end = readCut('chat', bytesOf(text));
    if (end.kind !== 'answer') throw new Error(end.kind);
    expect(readChatReply(end.whole).candidates[0]?.functionCalls).toEqual([
      { id: 'c1', name: 'f', args: { q: 1 } },
    ]);
  });

  test('joins a part only to another one if both are only text', () => {
    const parts = [{ text: 'a' }, { text: 'b', thoughtSignature: 's' }, { text: 'c' }, { text: 'd', x: 1 }];
    const text = parts.map((part) => `data: ${JSON.stringify(event([part], { finishReason: 'STOP' }))}\n\n`);
    const end = readCut('generate', bytesOf(text.join('')));
    expect(end).toMatchObject({ kind: 'answer', whole: { candidates: [{ content: { parts } }] } });
  });
});

describe('a stream of one event', () => {
  const stop = JSON.stringify(event([{ text: 'a' }], { finishReason: 'STOP' }));

  test('may have as many values as its bound', () => {
    const of = (values: number) =>
      readCut('generate', bytesOf(`data: ${stop}\n\n`), [], { ...streamBounds, values }).kind;
    expect([of(valuesIn(stop)), of(valuesIn(stop) - 1)]).toEqual(['answer', 'too-large']);
  });

  test.each(['\n', '\r\n', '\r'])(
    'in several lines that end in %j is one, wherever its bytes are cut',
    (lineEnd) => {
      const half = stop.indexOf(',') + 1;
      const lines = [`data: ${stop.slice(0, half)}`, `data: ${stop.slice(half)}`, '', ''];
      const bytes = bytesOf(lines.join(lineEnd));
      for (let at = 0; at < bytes.length; at += 1)
        expect(readCut('generate', bytes, [at]).kind).toBe('answer');
    },
  );

  test.each([
    [0, 'answer'],
    [3, 'truncated'],
  ])('of chat without a choice that counts %d tokens of an answer: %s', (counted, kind) => {
    const usage = { prompt_tokens: 5, completion_tokens: counted, total_tokens: 5 + counted };
    const end = readCut(
      'chat',
      bytesOf(`data: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]\n\n`),
    );
    expect(end).toMatchObject({ kind, ...(kind === 'answer' && { whole: { choices: [], usage } }) });
  });

  test('of the name error is one, whatever it says', () => {
    const said = { reason: 'overloaded' };
    const end = readCut('generate', bytesOf(`event: error\ndata: ${JSON.stringify(said)}\n\n`));
    expect(end).toMatchObject({ kind: 'error', body: { error: said } });
  });

  test('of chat keeps its choices apart by their places where they have no index', () => {
    const choices = ['a', 'b'].map((content) => ({ delta: { content }, finish_reason: 'stop' }));
    const end = readCut('chat', bytesOf(`data: ${JSON.stringify({ choices })}\n\n`));
    expect(end).toMatchObject({
      kind: 'answer',
      whole: { choices: [{ message: { content: 'a' } }, { message: { content: 'b' } }] },
    });
  });
});

describe('a broken stream', () => {
  test('has the error that came before its connection broke, and none after other events', () => {
    const broken = (text: string) => {
      const reader = new StreamReader(texts.generate);
      reader.push(bytesOf(text));
      return reader.broken()?.kind;
    };
    expect(broken('data: {"error":{"code":503}}\n\n')).toBe('error');
    expect(broken('data: {"candidates":[]}\n\n{"error":{"code":503}}\n')).toBe('error');
    expect(broken('data: {"candidates":[]}\n\n')).toBeUndefined();
    expect(broken('data: [1]\n\n')).toBeUndefined();
  });

  test('reports an error with the usage that came before it', () => {
    const stream = recorded.find(({ what }) => what === 'a bare error after good events');
    const { body, ...end } = readCut('generate', bytesOf(stream?.text ?? '')) as unknown as JsonObject;
    expect(end).toEqual({ kind: 'error', usage: { prompt: 1, total: 1 } });
    expect(body).toMatchObject({ error: { code: 503, status: 'UNAVAILABLE' } });
  });

  test.each([
    ['bytes that are no UTF-8', Uint8Array.of(...bytesOf('data: "'), 0xff, 0xfe, 0x0a)],
    ['an event that is no object', bytesOf('data: [1]\n\n')],
    ['an event with NaN', bytesOf('data: {"candidates":[{"avgLogprobs":NaN}]}\n\n')],
    ['an event that nests without end', bytesOf(`data: ${'{"a":'.repeat(10_000)}\n\n`)],
    ['JSON that is no answer', bytesOf('{"code":1,"result":"x"}')],
  ])('%s', (_what, bytes) => {
    expect(readCut('generate', bytes).kind).toBe('unusable');
  });

  test('that is cut inside a character is truncated', () => {
    const bytes = bytesOf('data: {"candidates":[{"content":{"parts":[{"text":"🦊');
    expect(readCut('generate', bytes.subarray(0, -2)).kind).toBe('truncated');
  });
});

describe('a hostile stream is given up', () => {
  const bounds = { ...streamBounds, line: 1000, events: 50, candidates: 4, values: 400, kept: 5000 };

  /** Pushes the same bytes until the reader wants no more. */
  const endless = (
    chunk: string,
    form = bounds,
  ): { readonly reader: StreamReader; readonly pushes: number } => {
    const reader = new StreamReader(texts.generate, form);
    const bytes = bytesOf(chunk);
    let pushes = 0;
    for (; pushes < 200_000 && !reader.isOver; pushes++) reader.push(bytes);
    return { reader, pushes };
  };

  test.each([
    ['a line without an end', 'data: aaaaaaaaaaaaaaaa'],
    ['an event without an end', 'data: aaaaaaaaaaaaaaaa\n'],
    ['events without an end', 'data: {"candidates":[]}\n\n'],
    ['more and more values', 'data: {"candidates":[[],[],[],[],[],[],[],[],[],[],[]]}\n\n'],
    [
      'more and more text',
      `data: {"candidates":[{"content":{"parts":[{"text":"${'a'.repeat(400)}"}]}}]}\n\n`,
    ],
  ])('%s', (_what, chunk) => {
    const { reader, pushes } = endless(chunk);
    expect(reader.end().kind).toBe('too-large');
    expect(pushes).toBeLessThan(100);
  });

  test.each([
    ['lines that are no fields', 'what is this\n'],
    ['fields that nobody can read', 'retry: soon\n'],
  ])('%s', (_what, chunk) => {
    expect(endless(chunk).reader.end().kind).toBe('unusable');
  });

  test('of long lines that are no fields, after a few of them', () => {
    const { reader, pushes } = endless(`what is ${'this '.repeat(1000)}\n`, streamBounds);
    expect(reader.end().kind).toBe('unusable');
    expect(pushes).toBeLessThan(100);
  });

  test('with more and more candidates', () => {
    const candidates = Array.from({ length: 5 }, (_one, index) => ({ index: index * 1000 }));
    const text = JSON.stringify({ candidates });
    expect(readCut('generate', bytesOf(`data: ${text}\n\n`), [], bounds).kind).toBe('too-large');
    expect(readCut('generate', bytesOf(text), [], bounds).kind).toBe('too-large');
    expect(readCut('generate', bytesOf(`[${text}]`), [], bounds).kind).toBe('too-large');
  });

  test('but comments are ignored', () => {
    const reader = new StreamReader(texts.generate, bounds);
    const comment = bytesOf(`: ${'a'.repeat(500)}\n\n`);
    for (let i = 0; i < 10_000; i++) reader.push(comment);
    reader.push(bytesOf(`data: ${JSON.stringify(event([{ text: 'a' }], { finishReason: 'STOP' }))}\n\n`));
    expect(reader.end().kind).toBe('answer');
    expect(reader.kept).toBeLessThan(1000);
  });

  test('before a bomb of many values in a few bytes is parsed', () => {
    const bomb = bytesOf(`{"candidates":[${'[],'.repeat(2_000_001)}0]}`);
    expect(readCut('generate', bomb)).toMatchObject({ kind: 'other', body: { kind: 'broken' } });
  });

  test('before a deeply nested bomb is parsed', () => {
    const item = '['.repeat(60) + ']'.repeat(60);
    const bomb = bytesOf(`{"candidates":[${`${item},`.repeat(35_000)}0]}`);
    expect(readCut('generate', bomb)).toMatchObject({ kind: 'other', body: { kind: 'broken' } });
  });

  test('but members with special names are ordinary members', () => {
    const text =
      'data: {"__proto__":{"polluted":1},"candidates":[{"__proto__":{"polluted":1},"finishReason":"STOP","content":{"__proto__":{"polluted":1},"parts":[{"__proto__":{"polluted":1}}]}}]}\n\n';
    const end = readCut('generate', bytesOf(text.repeat(2)));
    expect(end.kind).toBe('answer');
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect(JSON.stringify(end).match(/"__proto__":\{"polluted":1\}/g)).toHaveLength(5);
  });
});
