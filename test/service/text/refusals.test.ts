import { describe, expect, test } from 'vitest';

import type { JsonObject } from '../../../src/service/text-service.ts';
import { gateway } from './text-failures-rig.ts';
import { call, failureOf } from './text-service.ts';

const refused = async (
  error: JsonObject,
  fields: JsonObject = {},
  others: Parameters<typeof call>[1] = {},
  status = 400,
): Promise<string> =>
  (await failureOf({ error }, call({ prompt: 'a', ...fields }, others), { status })).message;

const violations = (...fields: readonly string[]): readonly unknown[] => [
  { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'X' },
  ...fields.map((field) => ({ fieldViolations: [{ field }] })),
];

describe('a refused request names, in the words of the pipeline,', () => {
  const chat = { kind: 'chat' } as const;
  test.each<readonly [string, JsonObject, JsonObject, Parameters<typeof call>[1], string]>([
    ['three fields, and no more', { details: violations('a', 'b', 'c', 'd') }, {}, {}, 'to "a", "b", "c".'],
    [
      'a field once',
      { details: violations('generation_config.thinking_config.a', 'generation_config.thinking_config.b') },
      { thinking: 'low' },
      {},
      'objects to "thinking".',
    ],
    ['what stands in its request', { details: violations('request.top_k') }, {}, {}, 'objects to "topK".'],
    ['a prompt', { details: violations('contents[0].parts[0].text') }, {}, {}, 'objects to "prompt".'],
    [
      'native contents by their own path',
      { details: violations('contents[0].parts[0].inline_data') },
      { contents: [] },
      {},
      'objects to "contents[0].parts[0].inlineData".',
    ],
    ['images of chat', { param: 'messages[0].content[1].image_url' }, {}, chat, 'objects to "images".'],
    ['the prompt of chat', { param: 'messages[0].content' }, {}, chat, 'objects to "prompt".'],
    [
      'messages of chat by their own path',
      { param: 'messages[0].tool_call_id' },
      { messages: [] },
      chat,
      'objects to "messages[0].tool_call_id".',
    ],
    [
      'a field of chat as it is written',
      { param: 'top_logprobs' },
      { messages: [] },
      chat,
      '"top_logprobs".',
    ],
    ['an unknown field of the body', { message: `Unknown name "foo" at ''` }, {}, {}, 'not know "foo".'],
  ])('%s', async (_what, error, fields, others, words) => {
    expect(await refused({ message: 'no', ...error }, fields, others)).toContain(words);
  });

  test('no bare position in a list', async () => {
    expect(await refused({ message: 'no', details: violations('[0]') })).not.toContain('objects to');
  });

  test('another level where one was given', async () => {
    const error = { message: 'thinking_level is invalid' };
    expect(await refused(error, { thinking: 'low' })).toContain('write another of thinking: minimal');
    expect(await refused(error)).toContain('write thinking: minimal');
  });
});

describe('a request that is not allowed', () => {
  test.each([
    'thinking',
    'search',
    'maps',
    'code',
    'functions',
    'tools',
    'toolConfig',
    'safetySettings',
    'generationConfig',
    'responseSchema',
    'cachedContent',
    'response_format',
  ])('should be tried without %s', async (name) => {
    const message = await refused({ message: 'no' }, { [name]: {} }, {}, 403);
    expect(message).toContain(`try a plain prompt without ${name}.`);
  });

  test('should be tried without extra, too', async () => {
    const fields = { search: true, maps: true };
    expect(await refused({ message: 'no' }, fields, { extra: { x: 1 } }, 403)).toContain(
      'try a plain prompt without search, maps and extra.',
    );
    expect(await refused({ message: 'no' }, {}, {}, 403)).toContain('try a plain prompt.');
  });
});

test.each(['CachedContent not found', 'no such cached content'])(
  'expired content is not a missing model: %s',
  async (words) => {
    const message = await refused({ message: words }, { cachedContent: 'cachedContents/a' }, {}, 404);
    expect(message).toContain('Cached content expires');
    expect(message).not.toContain('has no model');
  },
);

test('a refused key in any of the details stops the run', async () => {
  const error = { message: 'no', details: [{ '@type': 'x' }, { reason: 'API_KEY_INVALID' }] };
  expect(await failureOf({ error }, undefined, { status: 400 })).toMatchObject({
    code: 'service.unauthorized',
    class: 'stop',
  });
});

test('a missing model is recognised in Chinese, too, and shown without secrets', async () => {
  const body = gateway('模型不存在');
  const asked = call({ model: 'tuned/hidden-name', prompt: 'a' });
  const failure = await failureOf(body, asked, { status: 404 }, { secrets: ['hidden-name'] });
  expect(failure.message).toContain('has no model "tuned/[secret]"');
});
