import { describe, expect, test } from 'vitest';
import { key, never, respondingWith } from '../scripted-fetch.ts';
import { event } from './streams.ts';
import { gateway, page } from './text-failures-rig.ts';
import { asked, call, failureOf, plainReply, replyTo, sentFor, textServiceWith } from './text-service.ts';

describe('models that fit no address', () => {
  test.each(['', '.', '..', 'a b', 'a\n', '\ud800', 'x'.repeat(257), 7, undefined])('%j', async (model) => {
    expect(await asked(plainReply, call({ model, prompt: 'a' }))).toMatchObject({
      ok: false,
      error: { code: 'service.bad-id', class: 'permanent' },
    });
  });
});

describe('the key', () => {
  test('is a bearer token, or in the header of the native endpoint', async () => {
    const bearer = await sentFor(call({ prompt: 'a' }));
    expect(bearer.headers.get('authorization')).toBe(`Bearer ${key}`);
    expect(bearer.headers.get('x-vendor-api-key')).toBeNull();
    const header = await sentFor(call({ prompt: 'a' }), { auth: 'header' });
    expect(header.headers.get('x-vendor-api-key')).toBe(key);
    expect(header.headers.get('authorization')).toBeNull();
  });

  test('is always a bearer token for chat and models', async () => {
    const chat = await sentFor(call({ prompt: 'a' }, { kind: 'chat' }), { auth: 'header' });
    expect(chat.headers.get('authorization')).toBe(`Bearer ${key}`);
    let authorization: string | null = null;
    const service = textServiceWith({
      auth: 'header',
      fetch: (_url, init) => {
        authorization = new Headers(init?.headers).get('authorization');
        return Promise.resolve(new Response('{"data":[]}'));
      },
    });
    await service.models(never);
    expect(authorization).toBe(`Bearer ${key}`);
  });

  test('is never shown by a failure', async () => {
    for (const status of [200, 400, 401, 404, 500]) {
      const failure = await failureOf(gateway(`key ${key} of ${encodeURIComponent(key)}`, key), undefined, {
        status,
      });
      expect(JSON.stringify(failure)).not.toContain(key);
    }
    const failure = await failureOf(`data: {"error":{"message":"${key}"}}\n\n`);
    expect(JSON.stringify(failure)).not.toContain(key);
  });

  test('is never kept in a reply, even if a stream cut it in two', async () => {
    const parts = (text: string): string =>
      `data: ${JSON.stringify(event([{ text }], { finishReason: 'STOP' }))}\n\n`;
    const { candidates, whole } = await replyTo(
      `${parts(`it is ${key.slice(0, 9)}`)}${parts(key.slice(9))}data: {"responseId":"${key}","${key}":1}\n\n`,
      undefined,
      { headers: { 'x-request-id': key } },
    );
    expect(candidates[0]?.text).toBe('it is [secret]');
    expect(JSON.stringify(whole)).not.toContain(key);
  });

  test.each([
    ['a credential', { credentials: ['a-token-of-the-path'] }, 'it is [secret], in paris'],
    ['a value that gives no access', { secrets: ['paris', 'a-token-of-the-path'] }, undefined],
    ['a credential as short as a word', { credentials: ['paris'] }, undefined],
  ])('of %s', async (_what, options, masked) => {
    const text = 'it is a-token-of-the-path, in paris';
    const { candidates } = await replyTo(
      { candidates: [{ content: { parts: [{ text }] } }] },
      undefined,
      {},
      options,
    );
    expect(candidates[0]?.text).toBe(masked ?? text);
  });

  test('is not searched for in image data', async () => {
    const data = `${'A'.repeat(2000)}abcd`;
    const body = { candidates: [{ content: { parts: [{ inlineData: { mimeType: 'image/png', data } }] } }] };
    const { candidates } = await replyTo(body, undefined, {}, { credentials: ['A'.repeat(16)] });
    expect(candidates[0]?.images).toEqual([{ mimeType: 'image/png', data }]);
  });
});

test('the image half and the text half report a wrong base address alike', async () => {
  const baseUrl = 'https://api.example.com/v1';
  const text = await failureOf(page, undefined, {}, { baseUrl });
  const image = await respondingWith(200, page, {}, { baseUrl }).fetchTask('1700000000000001', never);
  for (const message of [text.message, image.ok ? '' : image.error.message]) {
    expect(message).toContain('try https://api.example.com.');
  }
});
