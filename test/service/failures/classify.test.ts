import { describe, expect, test } from 'vitest';
import { imagine, never, respondingWith } from '../scripted-fetch.ts';
import { coded, envelope, gateway, page, rows } from './statuses.ts';

describe('what a status and a body mean', () => {
  test.each(rows)('$status $what: $code', async ({ status, body, code, post, get, getCode }) => {
    const headers = { location: 'https://www.example.com/there' };
    const service = respondingWith(status, body, headers);
    const submitted = await imagine(service);
    const fetched = await service.fetchTask('1700000000000001', never);
    expect(submitted).toMatchObject({ ok: false, error: { code, class: post, status } });
    expect(fetched).toMatchObject({ ok: false, error: { code: getCode ?? code, class: get, status } });
  });

  test('bytes that are not UTF-8 are a broken response', async () => {
    const bytes = Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]);
    expect(await imagine(respondingWith(200, bytes))).toMatchObject({
      ok: false,
      error: { code: 'service.malformed', class: 'lost' },
    });
  });

  test('JSON is read under any Content-Type, also after a BOM', async () => {
    const result = await imagine(
      respondingWith(200, '\ufeff{"code":1,"result":"1700000000000001"}', { 'content-type': 'text/html' }),
    );
    expect(result).toEqual({ ok: true, value: { kind: 'accepted', taskId: '1700000000000001', code: 1 } });
  });

  test('text with the Content-Type of JSON is a broken response of an API', async () => {
    const service = respondingWith(200, 'upstream hiccup', { 'content-type': 'application/json' });
    expect(await imagine(service)).toMatchObject({ error: { code: 'service.malformed', class: 'lost' } });
  });

  test('an error envelope inside a 200 is judged by its own status', async () => {
    expect(await imagine(respondingWith(200, coded(429)))).toMatchObject({ error: { class: 'throttle' } });
    expect(await imagine(respondingWith(200, coded(503)))).toMatchObject({ error: { class: 'retry' } });
    expect(await imagine(respondingWith(200, coded('banned')))).toMatchObject({
      error: { code: 'service.rejected', class: 'permanent' },
    });
    const fetched = (code: unknown) => respondingWith(200, coded(code)).fetchTask('1', never);
    expect(await fetched(429)).toMatchObject({ error: { class: 'throttle' } });
    expect(await fetched('401')).toMatchObject({ error: { code: 'service.unauthorized', class: 'stop' } });
    expect(await fetched('')).toMatchObject({ error: { code: 'service.malformed', class: 'retry' } });
  });
});

describe('the message of a failure', () => {
  test.each([
    [
      'no money left',
      403,
      envelope('no', 'insufficient_user_quota'),
      'Top it up and run the same command again',
    ],
    ['an unknown button', 400, gateway(4, 'unknown_action:x '), 'press another one'],
    ['an unready parent', 400, gateway(4, 'task_status_not_success '), 'Nothing was made'],
  ])('gives advice about %s', async (_what, status, body, advice) => {
    const result = await imagine(respondingWith(status, body));
    expect(result.ok ? '' : result.error.message).toContain(advice);
  });

  test('does not contain the request id', async () => {
    const body = envelope('model name is required (request id: 20261101aB3xYz)');
    const result = await imagine(respondingWith(400, body));
    expect(result).toMatchObject({
      error: {
        requestId: '20261101aB3xYz',
        serviceMessage: 'model name is required',
        message: 'POST /img/submit/imagine: HTTP 400: model name is required.',
      },
    });
  });

  test.each([
    ['in the middle', { error: { message: 'bad (request id: R1) thing' } }, 'bad thing', 'R1'],
    [
      'in a description',
      { description: 'unknown_action:x (Request ID:R2) ', type: 'upstream_error', code: 4 },
      'unknown_action:x',
      'R2',
    ],
    ['with a wide colon', { error: { message: '错误（略） (request id：R3)' } }, '错误（略）', 'R3'],
    [
      'in a list of one',
      [{ error: { code: 400, message: 'm (request id: R4)', status: 'INVALID_ARGUMENT' } }],
      'm',
      'R4',
    ],
    ['in a bare message', { message: 'no (request id: R5)' }, 'no', 'R5'],
    ['in an error that is a text', { error: 'no (request id: R6)' }, 'no', 'R6'],
  ])('%s', async (_where, body, serviceMessage, requestId) => {
    expect(await imagine(respondingWith(400, body))).toMatchObject({ error: { serviceMessage, requestId } });
  });

  test.each(['x-oneapi-request-id', 'x-request-id'])('takes the request id from %s', async (name) => {
    const result = await imagine(respondingWith(500, page, { [name]: 'R7' }));
    expect(result).toMatchObject({ error: { requestId: 'R7', serviceMessage: 'Just a moment...' } });
  });

  test.each([
    ['429', { 'retry-after': '7' }, 7000],
    ['a fraction', { 'retry-after': '0.5' }, 500],
    ['a date, by the clock', { 'retry-after': 'Sun, 01 Nov 2026 00:00:30 GMT' }, 30_000],
    [
      'a date, by the Date header',
      { 'retry-after': 'Sun, 01 Nov 2026 00:00:30 GMT', date: 'Sun, 01 Nov 2026 00:00:10 GMT' },
      20_000,
    ],
    ['a date that has passed', { 'retry-after': 'Sat, 31 Oct 2026 00:00:00 GMT' }, 0],
    ['a very long time', { 'retry-after': '86400' }, 3_600_000],
    ['nonsense', { 'retry-after': 'soon' }, undefined],
    ['a negative number', { 'retry-after': '-5' }, undefined],
    ['an empty text', { 'retry-after': '' }, undefined],
  ])('Retry-After: %s', async (_what, headers: Record<string, string>, expected) => {
    const result = await imagine(respondingWith(429, envelope('slow'), headers));
    expect(result.ok ? undefined : result.error.retryAfterMs).toBe(expected);
  });

  test('the wait in RetryInfo is used if the header is missing', async () => {
    const details = [
      { '@type': 'type.googleapis.com/google.rpc.Help' },
      { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '22s' },
    ];
    const body = { error: { code: 429, message: 'quota', status: 'RESOURCE_EXHAUSTED', details } };
    expect(await imagine(respondingWith(429, body))).toMatchObject({ error: { retryAfterMs: 22_000 } });
    expect(await imagine(respondingWith(429, body, { 'retry-after': '3' }))).toMatchObject({
      error: { retryAfterMs: 3000 },
    });
  });

  test('a redirect is reported with the origin of its target only', async () => {
    const location = 'https://user:pw@www.example.com/img/submit/imagine?token=abc';
    const result = await imagine(respondingWith(301, page, { location }));
    const message = result.ok ? '' : result.error.message;
    expect(message).toContain('https://www.example.com (HTTP 301)');
    expect(message).not.toMatch(/token|abc|pw/);
  });

  test.each([
    ['https://api.example.com/v1', 'try https://api.example.com.'],
    ['https://api.example.com/v1/', 'try https://api.example.com.'],
    ['https://api.example.com', 'Check the base address (https://api.example.com)'],
    ['http://www.example.com', 'Write the base address with https: https://www.example.com.'],
  ])('a redirect from %s is reported with advice', async (baseUrl, advice) => {
    const headers = { location: 'https://www.example.com/' };
    const result = await imagine(respondingWith(302, '', headers, { baseUrl }));
    expect(result.ok ? '' : result.error.message).toContain(advice);
  });

  test('a redirect without a target is still a redirect', async () => {
    const result = await imagine(respondingWith(302, ''));
    expect(result).toMatchObject({ error: { code: 'service.redirect', class: 'stop' } });
  });
});
