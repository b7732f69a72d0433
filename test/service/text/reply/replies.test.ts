import { describe, expect, test } from 'vitest';

import type { JsonObject } from '../../../../src/service/text-service.ts';
import { key, never } from '../../scripted-fetch.ts';
import { event } from '../streams.ts';
import { call, failureOf, plainReply, replyTo, textServiceWith } from '../text-service.ts';

const streamed = call({ prompt: 'a' }, { stream: true });
const chat = call({ prompt: 'a' }, { kind: 'chat' });
const saying = (message: JsonObject): JsonObject => ({
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop' }],
});

describe('a chat reply', () => {
  const partsOf = async (message: JsonObject | string) => {
    const { candidates } = await replyTo(typeof message === 'string' ? message : saying(message), chat);
    return candidates[0]?.parts;
  };

  test('has reasoning under either name, unless it is empty', async () => {
    expect(await partsOf({ reasoning: 'Red fur.', content: 'fox' })).toEqual([
      { text: 'Red fur.', thought: true },
      { text: 'fox' },
    ]);
    expect(await partsOf({ reasoning_content: '', content: '' })).toEqual([]);
  });

  test('has images of any kind', async () => {
    const images = ['image/svg+xml', 'image/vnd.x-icon'].map((kind) => ({
      image_url: { url: `data:${kind};base64,AAAA` },
    }));
    expect(await partsOf({ images })).toEqual([
      { inlineData: { mimeType: 'image/svg+xml', data: 'AAAA' } },
      { inlineData: { mimeType: 'image/vnd.x-icon', data: 'AAAA' } },
    ]);
  });

  test('has arguments that came as an object, with all digits of long numbers', async () => {
    const args = { city: 'Bergen' };
    expect(await partsOf({ tool_calls: [{ function: { name: 'f', arguments: args } }] })).toEqual([
      { functionCall: { name: 'f', args } },
    ]);
    const called = { name: 'f', arguments: '{"id":12345678901234567890}' };
    const { candidates } = await replyTo(saying({ tool_calls: [{ function: called }] }), chat);
    expect(String(candidates[0]?.functionCalls[0]?.args['id'])).toBe('12345678901234567890');
  });

  test.each([
    ['all of it was reasoning', { prompt_tokens: 10, completion_tokens: 6, total_tokens: 16 }, 0, 16],
    ['reasoning beside it, without a count of the prompt', { completion_tokens: 9, total_tokens: 15 }, 9, 15],
  ])('counts its tokens: %s', async (_what, counts, candidates, total) => {
    const usage = { ...counts, completion_tokens_details: { reasoning_tokens: 6 } };
    expect((await replyTo({ choices: [], usage }, chat)).usage).toMatchObject({
      candidates,
      thoughts: 6,
      total,
    });
  });
});

describe('a native reply', () => {
  const read = async (...parts: readonly JsonObject[]) => {
    const { candidates } = await replyTo({ candidates: [{ content: { parts } }] });
    return candidates[0];
  };

  test('has no call without a name or from a thought', async () => {
    const functionCall = { name: 'f', args: {} };
    const found = await read(
      { functionCall: { name: '' } },
      { functionCall, thought: true },
      { functionCall },
    );
    expect(found?.functionCalls).toEqual([functionCall]);
  });

  test('has images in any letter case, unless they are empty', async () => {
    const found = await read(
      { inlineData: { mimeType: 'IMAGE/PNG', data: 'AAAA' } },
      { inlineData: { mimeType: 'image/png', data: '' } },
    );
    expect(found?.images).toEqual([{ mimeType: 'IMAGE/PNG', data: 'AAAA' }]);
  });

  test('hides only marked parts as thoughts', async () => {
    const found = await read(
      { text: 'a', thought: true },
      { text: 'b', thought: 'no' },
      { text: 'c', thought: false },
    );
    expect(found?.text).toBe('bc');
  });

  test('may have a billion tokens', async () => {
    const usageMetadata = { promptTokenCount: 1_000_000_000 };
    expect((await replyTo({ candidates: [], usageMetadata })).usage).toEqual({ prompt: 1e9, total: 1e9 });
  });

  test('may contain nothing but counts', async () => {
    expect(await replyTo({ usageMetadata: { promptTokenCount: 4 } })).toMatchObject({
      candidates: [],
      usage: { prompt: 4 },
    });
  });

  test('with an error is not a reply', async () => {
    expect(await failureOf({ ...plainReply, error: { code: 503, message: 'x' } })).toMatchObject({
      code: 'service.unavailable',
    });
  });

  test.each(['generate', 'chat'] as const)('of %s may have 128 candidates, and no more', async (kind) => {
    const reply = (count: number): JsonObject => {
      const list = Array.from({ length: count }, (_one, index) => ({ index, finishReason: 'STOP' }));
      return { [kind === 'chat' ? 'choices' : 'candidates']: list };
    };
    const asking = call({ prompt: 'a' }, { kind });
    expect((await replyTo(reply(128), asking)).candidates).toHaveLength(128);
    expect(await failureOf(reply(129), asking, { headers: { 'x-request-id': 'r-1' } })).toMatchObject({
      code: 'response.too-large',
      class: 'retry',
      status: 200,
      requestId: 'r-1',
    });
  });
});

describe('an error inside a reply', () => {
  test.each([
    ['INVALID_ARGUMENT', 400],
    ['FAILED_PRECONDITION', 400],
    ['OUT_OF_RANGE', 400],
    ['invalid_request_error', 400],
    ['invalid_request', 400],
    ['UNAUTHENTICATED', 401],
    ['authentication_error', 401],
    ['invalid_api_key', 401],
    ['PERMISSION_DENIED', 403],
    ['permission_error', 403],
    ['access_denied', 403],
    ['NOT_FOUND', 404],
    ['not_found_error', 404],
    ['RESOURCE_EXHAUSTED', 429],
    ['rate_limit_error', 429],
    ['rate_limit_exceeded', 429],
    ['token_concurrency_limit_reached', 429],
    ['CANCELLED', 499],
    ['INTERNAL', 500],
    ['UNAVAILABLE', 503],
    ['overloaded_error', 503],
    ['DEADLINE_EXCEEDED', 504],
    ['constructor', 500],
  ])('with the word %s has the status %d', async (word, status) => {
    for (const name of ['status', 'code', 'type'])
      expect(await failureOf({ error: { message: 'x', [name]: word } })).toMatchObject({ status });
  });

  test.each([
    [{ code: 'x', status_code: 429 }, 429],
    [{ http_status: '403' }, 403],
    [{ code: 600 }, 500],
    [{ code: 399 }, 500],
    [{ code: 599 }, 599],
    [{ status: 'RESOURCE_EXHAUSTED', type: 'invalid_request_error' }, 429],
    [{ code: 503, status: 'INVALID_ARGUMENT' }, 503],
  ])('with %j has the status %d', async (error, status) => {
    expect(await failureOf({ error: { message: 'x', ...error } })).toMatchObject({ status });
  });
});

describe('a reply that cannot be used', () => {
  const headers = { 'x-request-id': 'r-1' };

  test('keeps its cause and the id of its request', async () => {
    const broken = await failureOf('data: {"a":\n\n', streamed, { headers });
    expect(broken).toMatchObject({
      code: 'service.malformed',
      requestId: 'r-1',
      cause: expect.any(SyntaxError),
    });
    const text = `data: ${JSON.stringify(event([{ text: 'a' }]))}\n\n`;
    expect(await failureOf(text, streamed, { headers })).toMatchObject({
      code: 'stream.truncated',
      requestId: 'r-1',
    });
  });

  test('because its connection broke keeps the id of its request', async () => {
    const body = new ReadableStream({ start: (controller) => controller.error(new Error('reset')) });
    const fetch = (): Promise<Response> => Promise.resolve(new Response(body, { headers }));
    expect(await textServiceWith({ fetch }).ask(streamed, never)).toMatchObject({
      error: { code: 'connection.lost', class: 'retry', status: 200, requestId: 'r-1' },
    });
  });
});

test('only image data may contain a text that looks like the key', async () => {
  const long = `${'A'.repeat(2_000)}${key}`;
  const parts = [{ text: long }, { functionCall: { name: 'f', args: { data: `x${key}`, note: long } } }];
  const { whole } = await replyTo({ candidates: [{ content: { parts } }] });
  expect(JSON.stringify(whole)).not.toContain(key);
});
