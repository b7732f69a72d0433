import { describe, expect, test } from 'vitest';

import type { FailureClass } from '../../../src/service/result.ts';
import { answering, imagine, never } from '../scripted-fetch.ts';

const envelope = (message: string, code: unknown = ''): unknown => ({
  error: { code, message, type: 'svc_api_error' },
});
const coded = (code: unknown): unknown => envelope('no', code);
const gateway = (code: number, description: string): unknown => ({
  description,
  type: 'upstream_error',
  code,
});
const page = '<!doctype html><html><head><title> Just a moment... </title></head></html>';

interface Row {
  readonly what: string;
  readonly status: number;
  readonly body: unknown;
  readonly code: string;
  readonly post: FailureClass;
  readonly get: FailureClass;
  /** Of a fetch, where it is another one. */
  readonly getCode?: string;
}

const rows: readonly Row[] = [
  {
    what: 'validation',
    status: 400,
    body: envelope('model name is required'),
    code: 'service.rejected',
    post: 'permanent',
    get: 'permanent',
  },
  {
    what: "the gateway's own refusal",
    status: 400,
    body: gateway(4, 'prompt_is_required '),
    code: 'service.rejected',
    post: 'permanent',
    get: 'permanent',
  },
  {
    what: 'a hidden time-out',
    status: 400,
    body: gateway(5, 'do_request_failed '),
    code: 'service.ambiguous',
    post: 'lost',
    get: 'retry',
  },
  {
    what: 'a hidden time-out, in the ordinary envelope',
    status: 400,
    body: envelope('do request failed', 'do_request_failed'),
    code: 'service.ambiguous',
    post: 'lost',
    get: 'retry',
  },
  {
    what: 'a parent that is not finished for the gateway',
    status: 400,
    body: gateway(4, 'task_status_not_success '),
    code: 'service.not-ready',
    post: 'retry',
    get: 'permanent',
    getCode: 'service.rejected',
  },
  {
    what: 'nobody to do it for this key',
    status: 503,
    body: envelope('no available channel', 'model_not_found'),
    code: 'service.not-found',
    post: 'permanent',
    get: 'retry',
    getCode: 'service.unavailable',
  },
  {
    what: 'a button that the gateway does not know',
    status: 400,
    body: gateway(4, 'unknown_action:IMG::JOB::animate_high::1::x '),
    code: 'service.rejected',
    post: 'permanent',
    get: 'permanent',
  },
  {
    what: "a channel that is gone, in the newer gateways' own type",
    status: 400,
    body: { description: '该任务所属渠道已被禁用', type: 'new_api_error', code: 4 },
    code: 'service.rejected',
    post: 'permanent',
    get: 'permanent',
  },
  {
    what: 'no money left, as a refusal of the gateway',
    status: 400,
    body: gateway(4, 'quota_not_enough '),
    code: 'service.quota',
    post: 'stop',
    get: 'stop',
  },
  ...(
    [
      [403, envelope('用户额度不足, 剩余额度: ＄0.000000', 'insufficient_user_quota')],
      [403, envelope('令牌额度不足', 'pre_consume_token_quota_failed')],
      [401, envelope('该令牌额度已用尽')],
      [500, envelope('no', 'insufficient_user_quota')],
    ] as const
  ).map(
    ([status, body]): Row => ({
      what: 'no money left',
      status,
      body,
      code: 'service.quota',
      post: 'stop',
      get: 'stop',
    }),
  ),
  ...['sensitive_words_detected', 'prompt_blocked', 'access_denied', 'invalid_request'].map(
    (code): Row => ({
      what: `the same again of the same request, ${code}`,
      status: code === 'prompt_blocked' ? 503 : 500,
      body: envelope('no', code),
      code: 'service.rejected',
      post: 'permanent',
      get: 'permanent',
    }),
  ),
  {
    what: 'a 400 whose JSON is cut',
    status: 400,
    body: '{"description":"do_requ',
    code: 'service.ambiguous',
    post: 'lost',
    get: 'retry',
  },
  { what: 'a page', status: 400, body: page, code: 'service.rejected', post: 'permanent', get: 'permanent' },
  { what: 'nothing', status: 400, body: '', code: 'service.rejected', post: 'permanent', get: 'permanent' },
  {
    what: 'an unknown code',
    status: 400,
    body: envelope('no', null),
    code: 'service.rejected',
    post: 'permanent',
    get: 'permanent',
  },
  {
    what: 'the key',
    status: 401,
    body: envelope('invalid token'),
    code: 'service.unauthorized',
    post: 'stop',
    get: 'stop',
  },
  {
    what: 'the key, as a page',
    status: 401,
    body: page,
    code: 'service.unauthorized',
    post: 'stop',
    get: 'stop',
  },
  {
    what: 'payment',
    status: 402,
    body: envelope('pay'),
    code: 'service.rejected',
    post: 'permanent',
    get: 'permanent',
  },
  {
    what: 'forbidden',
    status: 403,
    body: envelope('not allowed'),
    code: 'service.forbidden',
    post: 'permanent',
    get: 'permanent',
  },
  {
    what: 'a firewall page',
    status: 403,
    body: page,
    code: 'service.forbidden',
    post: 'permanent',
    get: 'permanent',
  },
  {
    what: 'a JSON 404',
    status: 404,
    body: envelope('no such thing'),
    code: 'service.not-found',
    post: 'permanent',
    get: 'retry',
    getCode: 'service.task-unknown',
  },
  {
    what: 'a path it does not have',
    status: 404,
    body: envelope('Invalid URL (POST /img/submit/imagine)'),
    code: 'service.not-found',
    post: 'stop',
    get: 'stop',
  },
  { what: 'a page 404', status: 404, body: page, code: 'service.not-json', post: 'stop', get: 'stop' },
  {
    what: 'a text 404',
    status: 404,
    body: '404 page not found',
    code: 'service.not-json',
    post: 'stop',
    get: 'stop',
  },
  {
    what: 'a method',
    status: 405,
    body: envelope('no'),
    code: 'service.rejected',
    post: 'permanent',
    get: 'permanent',
  },
  { what: 'too slow', status: 408, body: '', code: 'service.unavailable', post: 'retry', get: 'retry' },
  {
    what: 'too large',
    status: 413,
    body: page,
    code: 'service.too-large',
    post: 'permanent',
    get: 'permanent',
  },
  {
    what: 'a teapot',
    status: 418,
    body: envelope('short and stout'),
    code: 'service.rejected',
    post: 'permanent',
    get: 'permanent',
  },
  {
    what: 'saturation',
    status: 429,
    body: envelope('slow down'),
    code: 'service.throttled',
    post: 'throttle',
    get: 'throttle',
  },
  {
    what: 'saturation, code 30',
    status: 429,
    body: gateway(30, '当前分组负载已饱和'),
    code: 'service.throttled',
    post: 'throttle',
    get: 'throttle',
  },
  {
    what: 'saturation, as a page',
    status: 429,
    body: page,
    code: 'service.throttled',
    post: 'throttle',
    get: 'throttle',
  },
  {
    what: 'an internal failure',
    status: 500,
    body: envelope('oops'),
    code: 'service.unavailable',
    post: 'retry',
    get: 'retry',
  },
  {
    what: 'a malformed request as 500',
    status: 500,
    body: envelope('bad', 'invalid_request'),
    code: 'service.rejected',
    post: 'permanent',
    get: 'permanent',
  },
  {
    what: 'not implemented',
    status: 501,
    body: page,
    code: 'service.rejected',
    post: 'permanent',
    get: 'permanent',
  },
  {
    what: 'a server error without advice',
    status: 507,
    body: '',
    code: 'service.unavailable',
    post: 'lost',
    get: 'retry',
  },
  {
    what: 'a tunnel error',
    status: 530,
    body: page,
    code: 'service.unavailable',
    post: 'lost',
    get: 'retry',
  },
  ...[502, 503, 504, 520, 521, 522, 523, 524].map(
    (status): Row => ({
      what: 'a gateway error',
      status,
      body: page,
      code: 'service.unavailable',
      post: 'retry',
      get: 'retry',
    }),
  ),
  ...[301, 302, 303, 307, 308].map(
    (status): Row => ({
      what: 'a redirect',
      status,
      body: page,
      code: 'service.redirect',
      post: 'stop',
      get: 'stop',
    }),
  ),
  { what: 'a page as success', status: 200, body: page, code: 'service.not-json', post: 'stop', get: 'stop' },
  {
    what: 'text as success',
    status: 200,
    body: 'OK, whatever',
    code: 'service.not-json',
    post: 'stop',
    get: 'stop',
  },
  {
    what: 'cut JSON',
    status: 200,
    body: '{"code":1,"result":"17',
    code: 'service.malformed',
    post: 'lost',
    get: 'retry',
  },
  { what: 'a JSON list', status: 200, body: [1], code: 'service.malformed', post: 'lost', get: 'retry' },
  { what: 'a JSON text', status: 200, body: '"done"', code: 'service.malformed', post: 'lost', get: 'retry' },
  { what: 'an empty object', status: 200, body: {}, code: 'service.malformed', post: 'lost', get: 'retry' },
  {
    what: 'JSON too deep',
    status: 200,
    body: `${'['.repeat(100)}${']'.repeat(100)}`,
    code: 'service.malformed',
    post: 'lost',
    get: 'retry',
  },
  {
    what: 'an empty success',
    status: 200,
    body: '',
    code: 'service.malformed',
    post: 'lost',
    get: 'retry',
    getCode: 'service.task-unknown',
  },
  {
    what: 'no content',
    status: 204,
    body: '',
    code: 'service.malformed',
    post: 'lost',
    get: 'retry',
    getCode: 'service.task-unknown',
  },
  {
    what: 'null',
    status: 200,
    body: 'null',
    code: 'service.malformed',
    post: 'lost',
    get: 'retry',
    getCode: 'service.task-unknown',
  },
];

describe('what a status and a body mean', () => {
  test.each(rows)('$status $what: $code', async ({ status, body, code, post, get, getCode }) => {
    const headers = { location: 'https://www.example.com/there' };
    const service = answering(status, body, headers);
    const submitted = await imagine(service);
    const fetched = await service.fetchTask('1700000000000001', never);
    expect(submitted).toMatchObject({ ok: false, error: { code, class: post, status } });
    expect(fetched).toMatchObject({ ok: false, error: { code: getCode ?? code, class: get, status } });
  });

  test('bytes that are no UTF-8 are a broken answer', async () => {
    const bytes = Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]);
    expect(await imagine(answering(200, bytes))).toMatchObject({
      ok: false,
      error: { code: 'service.malformed', class: 'lost' },
    });
  });

  test('JSON counts whatever its Content-Type says, a BOM before it too', async () => {
    const answer = await imagine(
      answering(200, '\ufeff{"code":1,"result":"1700000000000001"}', { 'content-type': 'text/html' }),
    );
    expect(answer).toEqual({ ok: true, value: { kind: 'accepted', taskId: '1700000000000001', code: 1 } });
  });

  test('text that calls itself JSON comes from an API, and is a broken answer of it', async () => {
    const service = answering(200, 'upstream hiccup', { 'content-type': 'application/json' });
    expect(await imagine(service)).toMatchObject({ error: { code: 'service.malformed', class: 'lost' } });
  });

  test('an error envelope inside a 200 is judged by its own status', async () => {
    expect(await imagine(answering(200, coded(429)))).toMatchObject({ error: { class: 'throttle' } });
    expect(await imagine(answering(200, coded(503)))).toMatchObject({ error: { class: 'retry' } });
    expect(await imagine(answering(200, coded('banned')))).toMatchObject({
      error: { code: 'service.rejected', class: 'permanent' },
    });
    const fetched = (code: unknown) => answering(200, coded(code)).fetchTask('1', never);
    expect(await fetched(429)).toMatchObject({ error: { class: 'throttle' } });
    expect(await fetched('401')).toMatchObject({ error: { code: 'service.unauthorized', class: 'stop' } });
    expect(await fetched('')).toMatchObject({ error: { code: 'service.malformed', class: 'retry' } });
  });
});

describe('what a failure tells', () => {
  test.each([
    [
      'no money left',
      403,
      envelope('no', 'insufficient_user_quota'),
      'Top it up and run the same command again',
    ],
    ['an unknown button', 400, gateway(4, 'unknown_action:x '), 'press another one'],
    ['an unready parent', 400, gateway(4, 'task_status_not_success '), 'Nothing was made'],
  ])('what to do about %s', async (_what, status, body, advice) => {
    const answer = await imagine(answering(status, body));
    expect(answer.ok ? '' : answer.error.message).toContain(advice);
  });

  test('the request id is taken out of the message, and the words stand alone', async () => {
    const body = envelope('model name is required (request id: 20261101aB3xYz)');
    const answer = await imagine(answering(400, body));
    expect(answer).toMatchObject({
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
    expect(await imagine(answering(400, body))).toMatchObject({ error: { serviceMessage, requestId } });
  });

  test.each(['x-oneapi-request-id', 'x-request-id'])('else it comes from %s', async (name) => {
    const answer = await imagine(answering(500, page, { [name]: 'R7' }));
    expect(answer).toMatchObject({ error: { requestId: 'R7', serviceMessage: 'Just a moment...' } });
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
    const answer = await imagine(answering(429, envelope('slow'), headers));
    expect(answer.ok ? undefined : answer.error.retryAfterMs).toBe(expected);
  });

  test('RetryInfo in the body serves where the header is missing', async () => {
    const details = [
      { '@type': 'type.googleapis.com/google.rpc.Help' },
      { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '22s' },
    ];
    const body = { error: { code: 429, message: 'quota', status: 'RESOURCE_EXHAUSTED', details } };
    expect(await imagine(answering(429, body))).toMatchObject({ error: { retryAfterMs: 22_000 } });
    expect(await imagine(answering(429, body, { 'retry-after': '3' }))).toMatchObject({
      error: { retryAfterMs: 3000 },
    });
  });

  test('a redirect names the origin it leads to and nothing more of it', async () => {
    const location = 'https://user:pw@www.example.com/img/submit/imagine?token=abc';
    const answer = await imagine(answering(301, page, { location }));
    const message = answer.ok ? '' : answer.error.message;
    expect(message).toContain('https://www.example.com (HTTP 301)');
    expect(message).not.toMatch(/token|abc|pw/);
  });

  test.each([
    ['https://api.example.com/v1', 'try https://api.example.com.'],
    ['https://api.example.com/v1/', 'try https://api.example.com.'],
    ['https://api.example.com', 'Check the base address (https://api.example.com)'],
    ['http://www.example.com', 'Write the base address with https: https://www.example.com.'],
  ])('a redirect from %s says what to do', async (baseUrl, advice) => {
    const headers = { location: 'https://www.example.com/' };
    const answer = await imagine(answering(302, '', headers, { baseUrl }));
    expect(answer.ok ? '' : answer.error.message).toContain(advice);
  });

  test('a redirect without a place to go is one all the same', async () => {
    const answer = await imagine(answering(302, ''));
    expect(answer).toMatchObject({ error: { code: 'service.redirect', class: 'stop' } });
  });
});
