import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';

import type { Timer } from '../../src/service/http/timeout.ts';
import { imagine, key, never, respondingWith, scriptedFetch, serviceWith } from './scripted-fetch.ts';
import { call, plainReply, textServiceWith } from './text/text-service.ts';

const task = (): Response => new Response('{"status":""}');

test('a request accepts JSON, and without a version its agent is the name of the program alone', async () => {
  const { fetch, sent } = scriptedFetch(task);
  await serviceWith({ fetch }).fetchTask('1', never);
  expect(sent[0]?.headers.get('accept')).toBe('application/json');
  expect(sent[0]?.headers.get('user-agent')).toBe('promptpress');
});

test('every request of the image half ends within its time limit', async () => {
  const set: number[] = [];
  const timer: Timer = (ms) => {
    set.push(ms);
    return () => undefined;
  };
  const service = serviceWith({ fetch: scriptedFetch(task).fetch, timer, requestMs: 7_000 });
  await imagine(service);
  await service.fetchTask('1', never);
  await service.fetchTasks(['1'], never);
  await service.listTasks?.(never);
  expect(set).toEqual([7_000, 7_000, 7_000, 7_000]);
});

test('a failure never shows a secret in the address', async () => {
  const id = 'my-other-secret-17';
  const service = respondingWith(500, '', {}, { secrets: ['my-other-secret'] });
  const result = await service.fetchTask(id, never);
  expect(result.ok ? '' : result.error.message).toMatch(/^GET \/img\/task\/\[secret\]-17\/fetch: HTTP 500/);
  const other = await service.fetchTask('18', never);
  expect(other.ok ? '' : other.error.message).toMatch(/^GET \/img\/task\/18\/fetch: HTTP 500/);
});

test('measures a date to wait for by the clock of its options', async () => {
  const now = Date.UTC(2026, 10, 1, 12);
  const headers = { 'retry-after': new Date(now + 9_000).toUTCString() };
  expect(await imagine(respondingWith(429, '{}', headers, { now: () => now }))).toMatchObject({
    error: { class: 'throttle', retryAfterMs: 9_000 },
  });
});

test('finished requests leave no listeners at the signal of their run', async () => {
  const { signal } = new AbortController();
  const { fetch } = scriptedFetch(task);
  const service = serviceWith({ fetch });
  for (let n = 0; n < 3; n += 1) await service.fetchTask('1', signal);
  const failing = serviceWith({ fetch: () => Promise.reject(new Error('reset')) });
  await failing.fetchTask('1', signal);
  const text = textServiceWith({ fetch: () => Promise.resolve(Response.json(plainReply)) });
  await text.ask(call({ prompt: 'a' }, { stream: true }), signal);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('removes the key from messages and from data, whatever other secrets there are', async () => {
  const record = { status: 'SUCCESS', imageUrl: `https://x.test/${key}`, failReason: key };
  const service = respondingWith(
    200,
    record,
    {},
    { credentials: ['a-token-of-the-path'], secrets: ['x.test'] },
  );
  expect(await service.fetchTask('1', never)).toMatchObject({ value: { imageUrl: '[secret]' } });
});
