import { expect, test } from 'vitest';

import { parseBounded } from '../../src/service/http/json.ts';
import type { Timer } from '../../src/service/http/timeout.ts';
import type { JsonObject } from '../../src/service/text-service.ts';
import { never, scriptedFetch } from './scripted-fetch.ts';
import {
  asked,
  call,
  failureOf,
  plainReply,
  replyTo,
  sentFor,
  textServiceWith,
} from './text/text-service.ts';

const MiB = 1024 * 1024;

test('a reply may be larger than a task', async () => {
  const { whole } = await replyTo({ ...plainReply, x: 'A'.repeat(9 * MiB) });
  expect(whole['x']).toHaveLength(9 * MiB);
});

test.each([201, 203, 206, 299])('every status of success brings a reply: %d', async (status) => {
  expect((await replyTo(plainReply, undefined, { status })).candidates).toHaveLength(1);
});

test('a streamed call accepts events, and any other call JSON', async () => {
  const streamed = await sentFor(call({ prompt: 'a' }, { stream: true }));
  expect(streamed.headers.get('accept')).toBe('text/event-stream, application/json');
  const plain = await sentFor(call({ prompt: 'a' }));
  expect(plain.headers.get('accept')).toBe('application/json');
});

test('the list of models has the time limit of any other request', async () => {
  const set: number[] = [];
  const timer: Timer = (ms) => {
    set.push(ms);
    return () => undefined;
  };
  const { fetch } = scriptedFetch(() => Response.json({ data: [] }));
  await textServiceWith({ fetch, timer, requestMs: 7_000, textMs: 600_000 }).models(never);
  expect(set).toEqual([7_000]);
});

test('a model name may have 256 characters', async () => {
  const model = 'm'.repeat(256);
  expect((await sentFor(call({ model, prompt: 'a' }))).url).toContain(`/models/${model}:generateContent`);
});

test('sends a request up to the bound, and refuses one that is a byte larger', async () => {
  const bytes = JSON.stringify((await sentFor(call({ prompt: 'a' }))).body).length;
  expect(await asked(plainReply, call({ prompt: 'a' }), {}, { maxRequestBytes: bytes })).toMatchObject({
    ok: true,
  });
  expect(
    await failureOf(plainReply, call({ prompt: 'a' }), {}, { maxRequestBytes: bytes - 1 }),
  ).toMatchObject({ code: 'request.too-large', class: 'permanent' });
});

test('counts images of earlier turns before they are joined', async () => {
  const data = 'A'.repeat(27 * MiB);
  const images = Array.from({ length: 24 }, () => ({ mimeType: 'image/png', data }));
  const earlier = [{ fields: { prompt: 'x' }, images, after: [] }];
  expect(await failureOf(plainReply, call({ prompt: 'a' }, { earlier }))).toMatchObject({
    code: 'request.too-large',
    message: expect.stringContaining('in "earlier turn 1: images[0]"'),
  });
});

test('sends long numbers with all their digits', async () => {
  let body: unknown;
  const fetch: typeof globalThis.fetch = (_url, init) => {
    body = init?.body;
    return Promise.resolve(Response.json(plainReply));
  };
  const labels = parseBounded('{"id":12345678901234567890}') as JsonObject;
  await textServiceWith({ fetch }).ask(call({ contents: [], labels }, { extra: { more: labels } }), never);
  expect(body).toBe(
    '{"contents":[],"labels":{"id":12345678901234567890},"more":{"id":12345678901234567890}}',
  );
});

test('answered streams prove that calls without a stream are offered', async () => {
  const answers = [Response.json(plainReply), new Response('<title>Home</title>')];
  const { fetch } = scriptedFetch(() => answers.shift() ?? new Response('<title>Home</title>'));
  const service = textServiceWith({ fetch });
  expect((await service.ask(call({ prompt: 'a' }, { stream: true }), never)).ok).toBe(true);
  const page = { code: 'service.not-json' };
  expect(await service.ask(call({ prompt: 'a' }), never)).toMatchObject({
    error: { ...page, class: 'retry' },
  });
  expect(await service.ask(call({ prompt: 'a' }, { stream: true }), never)).toMatchObject({
    error: { ...page, class: 'retry' },
  });
});
