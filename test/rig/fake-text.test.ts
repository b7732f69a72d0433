import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { type FakeService, startFakeService } from './fake-service.ts';
import { makePng } from './png.ts';

const headers = { authorization: 'Bearer test-key', 'content-type': 'application/json' };
const native = '/v1beta/models/text-pro:generateContent';
const stream = '/v1beta/models/text-pro:streamGenerateContent?alt=sse';
const chat = '/v1/chat/completions';

const asking = (text: string, more = {}): unknown => ({
  contents: [{ role: 'user', parts: [{ text }] }],
  ...more,
});

let service: FakeService;
beforeEach(async () => {
  service = await startFakeService();
});
afterEach(() => service.close());

const post = (path: string, body: unknown): Promise<Response> =>
  fetch(`${service.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });

interface Native {
  readonly candidates?: readonly {
    readonly content: { readonly parts?: readonly Record<string, unknown>[] };
    readonly finishReason?: string;
  }[];
  readonly usageMetadata?: Record<string, number>;
  readonly promptFeedback?: unknown;
}

const replyTo = async (body: unknown): Promise<Native> => (await (await post(native, body)).json()) as Native;

/** The objects behind `data:`. */
async function events(path: string, body: unknown): Promise<readonly unknown[]> {
  const text = await (await post(path, body)).text();
  return text
    .split('\r\n\r\n')
    .flatMap((event) => (event.startsWith('data: {') ? [JSON.parse(event.slice(6)) as unknown] : []));
}

test('the same request gets the same reply, in all three ways, and tokens are counted exactly', async () => {
  const { candidates, usageMetadata } = await replyTo(asking('fox'));
  const text = String(candidates?.[0]?.content.parts?.[0]?.['text']);
  expect((await replyTo(asking('fox'))).candidates).toEqual(candidates);
  expect(candidates?.[0]?.finishReason).toBe('STOP');
  expect(usageMetadata).toMatchObject({
    promptTokenCount: 3,
    candidatesTokenCount: text.length,
    totalTokenCount: 3 + text.length,
  });
  const replies = (await events(stream, asking('fox'))) as Native[];
  expect(replies.map(({ candidates: [one] = [] }) => one?.content.parts?.[0]?.['text']).join('')).toBe(text);
  expect(replies.at(-1)?.usageMetadata).toEqual(usageMetadata);

  const chatted = (await (
    await post(chat, { model: 'text-pro', messages: [{ role: 'user', content: 'fox' }] })
  ).json()) as { choices: { message: { content: string } }[]; usage: { total_tokens: number } };
  const said = chatted.choices[0]?.message.content ?? '';
  expect(chatted.usage.total_tokens).toBe(3 + said.length);
  const total = 3 * (3 + text.length) + chatted.usage.total_tokens;
  expect(service.texts.tokens.charged.total).toBe(total);
  expect(service.texts.tokens.counted).toEqual(service.texts.tokens.charged);
  expect(service.texts.tokens.complete).toEqual(service.texts.tokens.charged);
  expect(['generate', 'stream', 'chat'].map((route) => service.count(route as 'chat'))).toEqual([2, 1, 1]);
  expect([...service.texts.byName]).toEqual([['fox', 4]]);
});

test('JSON keeps to its schema, images are counted, functions are called once', async () => {
  const responseSchema = {
    type: 'OBJECT',
    properties: { best: { type: 'INTEGER', minimum: 1, maximum: 4 }, why: { type: 'STRING', maxLength: 5 } },
  };
  const generationConfig = { responseMimeType: 'application/json', responseSchema };
  const { candidates } = await replyTo(asking('which', { generationConfig }));
  const answer = JSON.parse(String(candidates?.[0]?.content.parts?.[0]?.['text'])) as Record<string, unknown>;
  expect(Object.keys(answer)).toEqual(['best', 'why']);
  expect([1, 2, 3, 4]).toContain(answer['best']);
  expect(String(answer['why'])).toHaveLength(5);

  const inlineData = { mimeType: 'image/png', data: makePng(1).toString('base64') };
  const shown = await replyTo({ contents: [{ parts: [{ inlineData }, { text: 'this' }] }] });
  expect(shown.usageMetadata?.['promptTokenCount']).toBe(258 + 4);
  expect(service.texts.asks.at(-1)?.images).toEqual([{ mimeType: 'image/png', bytes: makePng(1) }]);

  const tools = [{ functionDeclarations: [{ name: 'weather' }] }];
  const user = { role: 'user', parts: [{ text: 'where' }] };
  const called = await replyTo({ contents: [user], tools });
  const model = { role: 'model', ...called.candidates?.[0]?.content };
  const functionCall = model.parts?.[0]?.['functionCall'] as { id: string; name: string };
  const functionResponse = { id: functionCall.id, name: functionCall.name, response: { sky: 'clear' } };
  const contents = [user, model, { role: 'user', parts: [{ functionResponse }] }];
  expect((await replyTo({ contents, tools })).candidates?.[0]?.content.parts?.[0]).toHaveProperty('text');
  const unsigned = { ...model, parts: [{ functionCall }] };
  expect((await post(native, { contents: [user, unsigned, contents[2]], tools })).status).toBe(400);
  expect((await post(native, { contents: [user, model], tools })).status).toBe(400);
  expect([...service.texts.byName.keys()].slice(-2)).toEqual(['where', 'where +2']);
});

test('the usage that a broken reply reports is counted apart from its cost', async () => {
  service.fault('stream', { says: { text: 'a long text', stream: 'unfinished' } });
  const replies = (await events(stream, asking('fox'))) as Native[];
  expect(replies.every(({ candidates: [one] = [] }) => one?.finishReason === undefined)).toBe(true);
  expect(service.texts.tokens.charged.total).toBe(3 + 11);
  expect(service.texts.tokens.counted.total).toBe(3);

  service.fault('generate', { truncate: 20 });
  await expect(post(native, asking('fox')).then((response) => response.text())).rejects.toThrow('terminated');
  service.fault('chat', { reset: 'after' });
  await expect(post(chat, { model: 'm', messages: [{ role: 'user', content: 'fox' }] })).rejects.toThrow(
    'fetch failed',
  );
  expect(service.texts.tokens.counted.total).toBe(3);
  expect(service.texts.tokens.complete.total).toBe(3);
  expect(service.texts.byName.get('fox')).toBe(3);
});

test('a model says what it is asked to say, and only to authorised callers', async () => {
  service.fault('generate', { says: { blockReason: 'SAFETY' } }, { times: 1 });
  expect(await replyTo(asking('fox'))).toMatchObject({ promptFeedback: { blockReason: 'SAFETY' } });
  service.fault('generate', { says: ({ text }) => ({ text, finishReason: 'MAX_TOKENS' }) }, { times: 1 });
  expect((await replyTo(asking('fox'))).candidates?.[0]?.finishReason).toBe('MAX_TOKENS');
  service.fault('stream', { says: { text: 'abc', stream: 'bare-error' } });
  expect(await (await post(stream, asking('fox'))).text()).toMatch(/\}\r\n\r\n\{\n {2}"error": \{/);

  const list = (await (await fetch(`${service.url}/v1/models`, { headers })).json()) as { data: unknown[] };
  expect(list.data).toHaveLength(3);
  const own = { 'x-vendor-api-key': 'test-key', 'content-type': 'application/json' };
  const status = async (path: string, body: unknown): Promise<number> =>
    (await fetch(`${service.url}${path}`, { method: 'POST', headers: own, body: JSON.stringify(body) }))
      .status;
  expect(await status(native, asking('fox'))).toBe(200);
  expect(await status(chat, { model: 'm', messages: [{ role: 'user', content: 'fox' }] })).toBe(401);
});

test('as a process of its own it ends by reporting its tokens', async () => {
  const file = fileURLToPath(new URL('fake-service.ts', import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', file, '--port', '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface(child.stdout);
  const [url] = (await once(lines, 'line')) as [string];
  await fetch(`${url}${native}`, { method: 'POST', headers, body: JSON.stringify(asking('fox')) });
  const ended = once(lines, 'line') as Promise<[string]>;
  child.kill('SIGTERM');
  expect(JSON.parse((await ended)[0])).toMatchObject({
    counts: { generate: 1 },
    tokens: { counted: { prompt: 3 } },
  });
  await once(child, 'close');
});
