import { expect, test } from 'vitest';

import { key, never, scriptedFetch } from '../scripted-fetch.ts';
import { textServiceWith } from './text-service.ts';

const models = (body: unknown, status = 200) => {
  const { fetch, sent } = scriptedFetch(() => new Response(JSON.stringify(body), { status }));
  return { sent, result: textServiceWith({ fetch }).models(never) };
};

test('the list of models', async () => {
  const listed = [
    {
      id: 'text-pro',
      object: 'model',
      created: 1_700_000_000,
      owned_by: 'vendor',
      supported_endpoint_types: ['openai', 'gemini', 3],
    },
    { id: 'org/text-lite', created: -1, owned_by: null },
    { id: 'text-pro', owned_by: 'somebody else' },
    { id: 7 },
    null,
    { id: `model-${key}` },
    { id: 'a\u001b[2Jb' },
  ];
  const { sent, result } = models({ object: 'list', success: true, data: listed });
  expect(await result).toEqual({
    ok: true,
    value: [
      { id: 'text-pro', ownedBy: 'vendor', created: 1_700_000_000, endpoints: ['openai', 'gemini'] },
      { id: 'org/text-lite', endpoints: [] },
    ],
  });
  expect(sent.map(({ method, url }) => [method, url])).toEqual([
    ['GET', 'https://api.example.com/v1/models'],
  ]);
  expect(await models(listed.slice(0, 2)).result).toMatchObject({ ok: true, value: { length: 2 } });
});

test('the description of a model is shown without control characters', async () => {
  const odd = {
    id: 'a',
    owned_by: `x\u001b[2J ${key}`,
    supported_endpoint_types: ['\u0007', key],
    created: 1.5,
  };
  expect(await models([odd]).result).toEqual({
    ok: true,
    value: [{ id: 'a', ownedBy: 'x\\u{1b}[2J [secret]', endpoints: ['\\u{07}', '[secret]'] }],
  });
});

test('reads no more models than any service has', async () => {
  const data = Array.from({ length: 20_000 }, (_model, i) => ({ id: `m${i}` }));
  expect(await models({ data }).result).toMatchObject({ ok: true, value: { length: 10_000 } });
});

test.each([
  [200, { object: 'list' }, 'service.malformed', 'retry'],
  [200, 'text', 'service.malformed', 'retry'],
  [401, { error: { message: 'invalid token' } }, 'service.unauthorized', 'stop'],
  [429, { error: { message: 'slow' } }, 'service.throttled', 'throttle'],
  [503, { error: { message: 'busy' } }, 'service.unavailable', 'retry'],
])('HTTP %d %j is %s', async (status, body, code, failureClass) => {
  expect(await models(body, status).result).toMatchObject({
    ok: false,
    error: { code, class: failureClass },
  });
});
