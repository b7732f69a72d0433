import { describe, expect, test } from 'vitest';
import { texts } from '../../../../src/service/kinds.ts';

import { StreamReader, streamBounds } from '../../../../src/service/text/stream/reader.ts';
import type { JsonObject } from '../../../../src/service/text-service.ts';
import { bytesOf, event, readCut } from '../streams.ts';

const events = (...items: readonly unknown[]): string =>
  items.map((item) => `data: ${JSON.stringify(item)}\n\n`).join('');

const ended = (text: string, kind: 'generate' | 'chat' = 'generate', bounds = streamBounds) =>
  readCut(kind, bytesOf(text), [], bounds);

const wholeOf = (text: string, kind: 'generate' | 'chat' = 'generate'): JsonObject => {
  const end = ended(text, kind);
  if (end.kind !== 'answer') throw new Error(end.kind);
  return end.whole;
};

describe('a chat stream', () => {
  const chunk = (...choices: readonly JsonObject[]): JsonObject => ({ choices });
  const messageOf = (...chunks: readonly JsonObject[]): unknown =>
    (wholeOf(events(...chunks), 'chat')['choices'] as readonly JsonObject[])[0]?.['message'];
  const done = { index: 0, delta: {}, finish_reason: 'stop' };

  test('is incomplete until each of its choices has ended', () => {
    const open = { index: 1, delta: { content: 'b' } };
    expect(ended(events(chunk(done, open)), 'chat').kind).toBe('truncated');
    expect(ended(events(chunk(done, open), chunk({ ...done, index: 1 })), 'chat').kind).toBe('answer');
  });

  test('has its choices in the order of their index, whichever came first', () => {
    const say = (index: number, content: string) => ({ index, delta: { content } });
    const text = events(chunk(say(1, 'b')), chunk(say(0, 'a')), chunk({ ...done, index: 1 }, done));
    expect(wholeOf(text, 'chat')['choices']).toEqual([
      { index: 0, message: { content: 'a' }, finish_reason: 'stop' },
      { index: 1, message: { content: 'b' }, finish_reason: 'stop' },
    ]);
  });

  test('has its calls in the order of their index, whichever came first', () => {
    const say = (index: number, id: string, args: string) =>
      chunk({ index: 0, delta: { tool_calls: [{ index, id, function: { name: id, arguments: args } }] } });
    expect(messageOf(say(1, 'b', '{"n":'), say(0, 'a', '{}'), say(1, 'b', '2}'), chunk(done))).toEqual({
      tool_calls: [
        { id: 'a', function: { name: 'a', arguments: '{}' } },
        { id: 'b', function: { name: 'b', arguments: '{"n":2}' } },
      ],
    });
  });

  test('reads arguments that come as an object, under both names', () => {
    const called = { name: 'look', arguments: { at: 'fox' } };
    const say = (delta: JsonObject) => chunk({ index: 0, delta });
    const calls = { tool_calls: [{ index: 0, id: 'a', function: called }] };
    expect(messageOf(say(calls), chunk(done))).toEqual({ tool_calls: [{ id: 'a', function: called }] });
    expect(messageOf(say({ function_call: called }), chunk(done))).toEqual({ function_call: called });
    const piece = { tool_calls: [{ index: 0, function: { arguments: '{"at":1}' } }] };
    const empty = { tool_calls: [{ index: 0, id: 'a', function: { name: 'look', arguments: {} } }] };
    expect(messageOf(say(empty), say(piece), chunk(done))).toEqual({
      tool_calls: [{ id: 'a', function: { name: 'look', arguments: '{"at":1}' } }],
    });
  });

  test.each(['content', 'refusal', 'reasoning', 'reasoning_content'])(
    'joins the pieces of its %s',
    (name) => {
      const say = (text: string) => chunk({ index: 0, delta: { [name]: text } });
      expect(messageOf(say('a '), say('fox'), chunk(done))).toEqual({ [name]: 'a fox' });
    },
  );

  test('with a whole message at its end is that message', () => {
    const message = { role: 'assistant', content: 'a whole fox' };
    const say = chunk({ index: 0, delta: { content: 'a fox' } });
    expect(messageOf(say, chunk({ ...done, message }))).toEqual(message);
  });
});

describe('a native stream', () => {
  const stop = { finishReason: 'STOP' };
  const candidateOf = (...items: readonly unknown[]): unknown =>
    (wholeOf(events(...items))['candidates'] as readonly unknown[])[0];

  test('has the last ratings, not all of them', () => {
    const rated = (probability: string) => ({ safetyRatings: [{ category: 'X', probability }] });
    expect(candidateOf(event([], rated('LOW')), event([], { ...rated('HIGH'), ...stop }))).toMatchObject(
      rated('HIGH'),
    );
  });

  test('has no part between two pieces of one text', () => {
    const parts = [{ text: 'a' }, { text: '', thought: true }, { text: 'b' }];
    expect(candidateOf(event(parts, stop))).toMatchObject({ content: { parts: [{ text: 'ab' }] } });
  });

  test('with nothing but counts has broken off', () => {
    expect(ended(events({ usageMetadata: { promptTokenCount: 4 } }))).toMatchObject({
      kind: 'truncated',
      usage: { prompt: 4 },
    });
  });

  test('keeps the members of its content besides parts', () => {
    const content = { role: 'model', parts: [{ text: 'a' }], notKnown: 1 };
    expect(candidateOf({ candidates: [{ content, ...stop }] })).toMatchObject({ content });
  });

  test.each([
    [
      'a list that goes on with an item that is alike',
      [{ a: 1 }],
      [{ a: 1, b: 2 }],
      [{ a: 1 }, { a: 1, b: 2 }],
    ],
    ['a list of lists that goes on', [[1]], [[1, 2]], [[1], [1, 2]]],
    ['a list that is said once more', [{ a: [1] }], [{ a: [1] }], [{ a: [1] }]],
    ['a list that is null later', [1], null, [1]],
    ['an object that is null later', { a: 1 }, null, { a: 1 }],
    ['an object that gets one more member', { a: { b: 1 } }, { a: { c: 2 } }, { a: { b: 1, c: 2 } }],
    ['0 and an empty text in place of others', { a: 5, b: 'x' }, { a: 0, b: '' }, { a: 0, b: '' }],
  ])('has %s only once', (_what, before, after, merged) => {
    expect(candidateOf(event([], { x: before }), event([], { x: after, ...stop }))).toMatchObject({
      x: merged,
    });
  });

  test('has a list of long numbers once, even if it is repeated', () => {
    const said = 'data: {"candidates":[{"ids":[12345678901234567890],"finishReason":"STOP"}]}\n\n';
    const [candidate] = wholeOf(said.repeat(3))['candidates'] as readonly { readonly ids: unknown[] }[];
    expect(candidate?.ids.map(String)).toEqual(['12345678901234567890']);
  });
});

describe('the bounds of a stream', () => {
  const stop = event([{ text: 'a' }], { finishReason: 'STOP' });

  test('are larger than a long reply', () => {
    const long = 'x'.repeat(5 * 1024 * 1024);
    const many = Array.from({ length: 100_000 }, () => 0);
    expect(ended(events(event([{ text: long }]), event([], { many }), stop)).kind).toBe('answer');
    expect(ended('data: {}\n\n'.repeat(6_000) + events(stop)).kind).toBe('answer');
    const candidates = Array.from({ length: 128 }, (_one, index) => ({ index, finishReason: 'STOP' }));
    expect(ended(events({ candidates })).kind).toBe('answer');
  });

  test('are reached by the first excess event, not the last allowed one', () => {
    expect(ended(events(stop, stop), 'generate', { ...streamBounds, events: 2 }).kind).toBe('answer');
    expect(ended(events(stop, stop), 'generate', { ...streamBounds, events: 1 }).kind).toBe('too-large');
  });

  test('count the bytes of an incomplete event', () => {
    const reader = new StreamReader(texts.generate);
    reader.push(bytesOf('data: "'));
    reader.push(bytesOf('x'.repeat(5_000)));
    expect(reader.kept).toBeGreaterThanOrEqual(5_000);
  });

  test('do not apply after the service has ended the stream', () => {
    const rest = `${'x'.repeat(1_000)}\n`.repeat(300);
    for (const done of ['data: [DONE]\n\n', 'data:  [DONE] \n\n'])
      expect(ended(events(stop) + done + rest).kind).toBe('answer');
  });

  test('allow a long error after good events', () => {
    const error = { error: { code: 503, message: 'no '.repeat(1_000) } };
    expect(ended(events(event([{ text: 'a' }])) + JSON.stringify(error, null, 2)).kind).toBe('error');
  });
});
