import { describe, expect, test } from 'vitest';

import { imagine, key, never, respondingWith, serviceWith } from '../scripted-fetch.ts';

const id = '1700000000000001';

const messageOf = (result: Awaited<ReturnType<typeof imagine>>): string =>
  result.ok ? '' : result.error.message;

describe('a redirect', () => {
  test('that fetch hides as status 0 is still a redirect', async () => {
    const service = serviceWith({ fetch: () => Promise.resolve(Response.error()) });
    expect(await imagine(service)).toMatchObject({ error: { code: 'service.redirect', class: 'stop' } });
  });

  test.each(['http://[', 'ftp://files.example.com/a', 'javascript:alert(1)'])(
    'to %j has no target',
    async (location) => {
      const message = messageOf(await imagine(respondingWith(302, '', { location })));
      expect(message).toContain('redirects to another address (HTTP 302)');
      expect(message).not.toContain('ftp');
    },
  );
});

describe('a page', () => {
  test.each([200, 404])('without a title, under %i, is shown without words', async (status) => {
    const result = await imagine(respondingWith(status, '<html><body></body></html>'));
    expect(result).toMatchObject({ error: { code: 'service.not-json', class: 'stop' } });
    expect(messageOf(result)).toContain(`HTTP ${status} with a web page instead of JSON.`);
  });

  test('that is not UTF-8 is still a page', async () => {
    const latin = Buffer.from('<title>Fermé</title>', 'latin1');
    const result = await imagine(
      respondingWith(200, latin, { 'content-type': 'text/html; charset=iso-8859-1' }),
    );
    expect(result).toMatchObject({ error: { code: 'service.not-json' } });
  });

  test('under 200 as text comes from another kind of server', async () => {
    const result = await imagine(respondingWith(200, 'It works!'));
    expect(result).toMatchObject({ error: { code: 'service.not-json' } });
    expect(messageOf(result)).toContain('with text ("It works!") instead of JSON');
  });
});

test('a key in an error of the transport is not shown', async () => {
  const service = serviceWith({ fetch: () => Promise.reject(new Error(`no way to ${key}.example`)) });
  const result = await imagine(service);
  expect(result).toMatchObject({
    error: { code: 'connection.lost', class: 'lost', cause: expect.any(Error) },
  });
  expect(messageOf(result)).toContain('no way to [secret].example');
});

test('a transport that throws a value other than an Error gives no reason', async () => {
  // Whoever injects a fetch may reject with anything.
  const service = serviceWith({ fetch: () => Promise.reject('no') }); // oxlint-disable-line typescript/prefer-promise-reject-errors
  const result = await imagine(service);
  expect(result).toMatchObject({ error: { code: 'connection.lost', class: 'lost' } });
  expect(messageOf(result)).toContain('no reason given');
});

describe('a request that is too large', () => {
  const refusal = async (fields: Readonly<Record<string, unknown>>): Promise<string> =>
    messageOf(await respondingWith(413, '').begin({ kind: 'imagine', fields, speed: 'relax' }, never));

  test.each([
    [{ prompt: 'x'.repeat(40_000) }, /the request has 40\.0 kB, 40\.0 kB of them in "prompt"/],
    [{ prompt: 'x'.repeat(98) }, /the request has \d+ bytes, 100 bytes of them in "prompt"/],
    [{ prompt: undefined, note: 'x'.repeat(98) }, /100 bytes of them in "note"/],
  ])('%#: is reported with its size in words', async (fields, words) => {
    expect(await refusal(fields)).toMatch(words);
  });
});

describe('Retry-After', () => {
  const waitOf = async (value: string): Promise<number | undefined> => {
    const result = await imagine(respondingWith(429, '{}', { 'retry-after': value }, {}));
    return result.ok ? undefined : result.error.retryAfterMs;
  };

  test('that only resembles a date is ignored', async () => {
    expect(await waitOf('Mon, the day after')).toBeUndefined();
  });

  test('that has passed means no wait', async () => {
    expect(await waitOf('Mon, 01 Jan 1990 00:00:00 GMT')).toBe(0);
  });
});

describe('a submission', () => {
  test('that meets a full queue without words gets our words', async () => {
    expect(await imagine(respondingWith(200, { code: 23, description: '', result: null }))).toMatchObject({
      value: { kind: 'queue-full', message: 'the queue of the service is full' },
    });
  });

  test('that is refused keeps the request id', async () => {
    const description = 'prompt is empty (request id: 20260101abcdef)';
    expect(await imagine(respondingWith(200, { code: 4, description, result: null }))).toMatchObject({
      value: { kind: 'refused', code: 4, requestId: '20260101abcdef' },
    });
  });

  test('that is accepted with a long negative number has no task', async () => {
    const result = await imagine(
      respondingWith(200, '{"code":1,"description":"","result":-14001929738841620123}'),
    );
    expect(result).toMatchObject({ error: { code: 'service.malformed', class: 'lost' } });
  });
});

test('a 200 that neither is a task nor denies one is reported with its words', async () => {
  const result = await respondingWith(200, { error: { message: 'odd weather' } }).fetchTask(id, never);
  expect(result).toMatchObject({ ok: false });
  expect(result.ok ? '' : result.error.message).toContain('odd weather');
  const other = await respondingWith(200, { message: 'odd weather' }).fetchTask(id, never);
  expect(other).toMatchObject({ error: { code: 'service.malformed' } });
});
