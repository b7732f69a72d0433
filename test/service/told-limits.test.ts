import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import type { ServiceResult } from '../../src/service/result.ts';
import { imagine, never, respondingWith, scriptedFetch, serviceWith } from './scripted-fetch.ts';
import { bytesOf } from './text/streams.ts';
import { call, chatReply, plainReply, textServiceWith } from './text/text-service.ts';

const headers = {
  'x-ratelimit-limit-requests': '60',
  'x-ratelimit-remaining-requests': '59',
  'x-ratelimit-reset-requests': '200ms',
};
const told = [{ of: 'requests', limit: 60, remaining: 59, resetMs: 200 }];
const taskId = '1700000000000001';
const error = { error: { code: '', message: 'slow down', type: 'x' } };
const task = { id: taskId, status: 'IN_PROGRESS' };

/** A text service whose every reply has this body and these headers. */
const answering = (status: number, body: string) => {
  const { fetch } = scriptedFetch(() => new Response(bytesOf(body), { status, headers }));
  return textServiceWith({ fetch });
};
const askedAs = (
  kind: 'generate' | 'chat',
  stream: boolean,
  status: number,
  body: string,
): Promise<ServiceResult<unknown>> =>
  answering(status, body).ask(call({ prompt: 'a' }, { kind, stream }), never);

const replies: Readonly<Record<string, () => Promise<ServiceResult<unknown>>>> = {
  'a submission': () => imagine(respondingWith(200, { code: 1, result: taskId }, headers)),
  'a full queue': () => imagine(respondingWith(200, { code: 23, description: 'full' }, headers)),
  'a refused submission': () => imagine(respondingWith(429, error, headers)),
  'a refused key': () => imagine(respondingWith(401, error, headers)),
  'a path of a speed that is not there': () =>
    respondingWith(404, 'not found', headers).begin({ kind: 'imagine', fields: {}, speed: 'fast' }, never),
  'a poll': () => respondingWith(200, task, headers).fetchTask(taskId, never),
  'a poll of several': () => respondingWith(200, [task], headers).fetchTasks([taskId], never),
  'a refused poll': () => respondingWith(503, error, headers).fetchTask(taskId, never),
  'a native text': () => askedAs('generate', false, 200, JSON.stringify(plainReply)),
  'a streamed text': () => askedAs('generate', true, 200, `data: ${JSON.stringify(plainReply)}\n\n`),
  'a stream that is cut': () => askedAs('generate', true, 200, 'data: {"candidates"'),
  'a chat': () => askedAs('chat', false, 200, JSON.stringify(chatReply)),
  'a refused chat': () => askedAs('chat', true, 429, JSON.stringify(error)),
  'a list of models': () => answering(200, '{"data":[]}').models(never),
};

test.each(Object.entries(replies))('%s carries the limits in its headers', async (_what, reply) => {
  expect(await reply()).toHaveProperty('told', told);
});

test('a reply without such headers carries nothing', async () => {
  expect(await imagine(respondingWith(200, { code: 1, result: taskId }))).not.toHaveProperty('told');
});

test('headers of a connection are read in any letter case', async () => {
  const server = createServer((_request, response) => {
    response.writeHead(429, { 'RateLimit-Limit': '60', 'RateLimit-Remaining': '59', 'RateLimit-Reset': '0' });
    response.end(JSON.stringify(error));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const service = serviceWith({ baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  try {
    expect(await imagine(service)).toHaveProperty('told', [{ ...told[0], resetMs: 0 }]);
  } finally {
    await service.close();
    server.close();
  }
});

test.each([
  [{ 'retry-after': '5', 'retry-after-ms': '4321.2' }, 4322],
  [{ 'retry-after': '5', 'x-ms-retry-after-ms': '0' }, 0],
  [{ 'retry-after': '5', 'retry-after-ms': 'soon' }, 5000],
  [{ 'retry-after-ms': '-1' }, undefined],
  [{ 'retry-after-ms': '99999999' }, 3_600_000],
])('a refusal with %j causes a wait of %s ms', async (waits, retryAfterMs) => {
  const result = await imagine(respondingWith(429, error, waits));
  expect(result.ok ? undefined : result.error.retryAfterMs).toBe(retryAfterMs);
});
