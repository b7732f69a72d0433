import { describe, expect, test } from 'vitest';

import type { Task } from '../../../src/service/image-service.ts';
import type { ServiceResult } from '../../../src/service/result.ts';
import { key, never, respondingWith, scriptedFetch, serviceWith } from '../scripted-fetch.ts';

const ids = ['1700000000000001', '14001929738841620', '0b1f1a5e-9d5c-4a55-8a1c-0d6b3f0f9a11'];

const listed = (status: number, body: unknown, headers = {}): Promise<ServiceResult<readonly Task[]>> =>
  respondingWith(status, body, headers).fetchTasks(ids, never);

const states = (result: ServiceResult<readonly Task[]>): unknown =>
  result.ok ? result.value.map(({ id, state }) => [id, state]) : result.error;

describe('several tasks in one request', () => {
  test('are requested by id, each once, without a speed', async () => {
    const { fetch, sent } = scriptedFetch(() => Response.json([]));
    await serviceWith({ fetch }).fetchTasks([...ids, ids[0] ?? '', 'a b', '..', ''], never);
    expect(sent.map(({ method, url, body }) => ({ method, url, body }))).toEqual([
      { method: 'POST', url: 'https://api.example.com/img/task/list-by-condition', body: { ids } },
    ]);
  });

  test('need no request if there are none', async () => {
    const { fetch, sent } = scriptedFetch(() => Response.json([]));
    expect(await serviceWith({ fetch }).fetchTasks(['', 'a,b'], never)).toEqual({ ok: true, value: [] });
    expect(sent).toEqual([]);
  });

  test('may come in any order, without unknown ones, with ids that no double can hold', async () => {
    const body = `[{"id":14001929738841620,"status":"SUCCESS","imageUrl":"https://x.test/a.png"},
      {"id":"1700000000000001","status":"MODAL","state":"k"}, {"id":"1700000000000999","status":"SUCCESS"}]`;
    const result = await listed(200, body);
    expect(result).toMatchObject({
      ok: true,
      value: [
        { id: ids[0], state: 'modal', tag: 'k' },
        { id: ids[1], state: 'success', imageUrl: 'https://x.test/a.png' },
      ],
    });
    expect(result.ok && result.value).toHaveLength(2);
  });

  test.each([
    ['[]', []],
    ['null', []],
    ['[null, 7, "x", {}, {"status":"SUCCESS"}]', []],
    [`[{"id":"${ids[0]}"}]`, [[ids[0], 'unfinished']]],
  ])('%s is a list', async (body, expected) => {
    expect(states(await listed(200, body))).toEqual(expected);
  });

  test.each([
    ['MODAL', 'SUBMITTED', 'unfinished'],
    ['MODAL', 'SUCCESS', 'success'],
    ['FAILURE', 'SUCCESS', 'success'],
    ['IN_PROGRESS', 'FAILURE', 'failure'],
  ])('count a click and its modal under one id, %s and %s, as %s', async (a, b, state) => {
    const [id] = ids;
    const records = [
      { id, status: a },
      { id, status: b },
    ];
    expect(states(await listed(200, records))).toEqual([[id, state]]);
    expect(states(await listed(200, records.toReversed()))).toEqual([[id, state]]);
  });

  const page = '<!doctype html><title>Hello</title>';
  test.each([
    ['a page', 404, page],
    ['a page as success', 200, page],
    ['a redirect', 301, page],
    ['a path it does not have', 404, { error: { message: 'Invalid URL (POST /x)', code: '' } }],
    ['a JSON 404', 404, { code: 3, description: 'not found' }],
    ['a method', 405, ''],
    ['a refusal', 400, { description: 'ids_is_required ', type: 'upstream_error', code: 4 }],
    ['a rule', 403, { error: { message: 'no', code: '' } }],
    ['not implemented', 501, page],
    ['an object', 200, { code: 4, description: 'no', result: null }],
    ['an envelope', 200, { error: { message: 'no such path', code: '' } }],
    ['nothing', 200, ''],
    ['no content', 204, ''],
    ['a text', 200, '"ok"'],
    ['plain text', 200, 'OK'],
  ])('are not offered by a gateway that answers: %s', async (_what, status, body) => {
    const result = await listed(status, body, { location: 'https://www.example.com/' });
    expect(result).toMatchObject({
      ok: false,
      error: { code: 'service.no-listing', class: 'permanent', status },
    });
  });

  test('are reported as not offered with the words and the request id of the service', async () => {
    const body = { error: { message: 'no such path (request id: r-1)', code: '' } };
    expect(await listed(404, body)).toMatchObject({
      error: { code: 'service.no-listing', requestId: 'r-1', serviceMessage: 'no such path', status: 404 },
    });
  });

  test('are fetched one by one if the list is too large', async () => {
    const record = { id: ids[0], status: 'SUCCESS', maskBase64: 'A'.repeat(2_000) };
    const service = respondingWith(200, [record], {}, { maxBodyBytes: 1_000 });
    expect(await service.fetchTasks(ids, never)).toMatchObject({
      error: { code: 'service.no-listing', class: 'permanent' },
    });
  });

  test.each([
    ['the key', 401, {}, 'service.unauthorized', 'stop'],
    [
      'the money',
      403,
      { error: { message: 'no', code: 'insufficient_user_quota' } },
      'service.quota',
      'stop',
    ],
    ['a pause', 429, {}, 'service.throttled', 'throttle'],
    ['a pause inside a 200', 200, { error: { message: 'slow', code: 429 } }, 'service.throttled', 'throttle'],
    ['trouble', 503, page, 'service.unavailable', 'retry'],
    ['a cut list', 200, '[{"id":"17', 'service.malformed', 'retry'],
  ])(
    'keep the code of a passing failure, and of one that stops a run: %s',
    async (_what, status, body, code, kind) => {
      expect(await listed(status, body)).toMatchObject({ ok: false, error: { code, class: kind } });
    },
  );

  test('are requested again after a lost connection, because nothing was to be made', async () => {
    const service = serviceWith({ fetch: () => Promise.reject(new Error('reset')) });
    expect(await service.fetchTasks(ids, never)).toMatchObject({
      error: { code: 'connection.lost', class: 'retry' },
    });
  });

  test('never show the key in a message', async () => {
    const results = [
      await listed(404, `<title>${key}</title>`),
      await listed(200, { error: { message: key } }),
    ];
    expect(JSON.stringify(results)).not.toContain(key);
  });
});

describe('the list of all tasks', () => {
  test('is requested without a body, and read whole, in any order, each task once', async () => {
    const { fetch, sent } = scriptedFetch(() =>
      Response.json([
        { id: 'T2', status: 'SUCCESS', state: 'tag two' },
        'no task',
        { id: 'T1', status: 'IN_PROGRESS', state: '' },
        { id: 'T2', status: 'MODAL', state: 'tag two' },
      ]),
    );
    const result = await serviceWith({ fetch }).listTasks?.(never);
    expect(sent).toMatchObject([{ method: 'GET', url: 'https://api.example.com/img/task/list' }]);
    expect(result).toMatchObject({
      ok: true,
      value: [
        { id: 'T2', state: 'success', tag: 'tag two' },
        { id: 'T1', state: 'unfinished' },
      ],
    });
  });

  test('that does not arrive is requested again', async () => {
    const service = serviceWith({ fetch: () => Promise.reject(new Error('reset')) });
    expect(await service.listTasks?.(never)).toMatchObject({
      error: { code: 'connection.lost', class: 'retry' },
    });
  });

  test('contains the submission times of its tasks, if the service knows them', async () => {
    const { fetch } = scriptedFetch(() =>
      Response.json([
        { id: 'T1', status: 'SUCCESS', submitTime: 1_700_000_000_000 },
        { id: 'T2', status: 'SUCCESS', submitTime: 0 },
        { id: 'T3', status: 'SUCCESS', submitTime: null },
      ]),
    );
    const result = await serviceWith({ fetch }).listTasks?.(never);
    const times = result?.ok ? result.value.map(({ submittedAt }) => submittedAt) : [];
    expect(times).toEqual([1_700_000_000_000, undefined, undefined]);
  });

  test('may be larger than any other response, and is reported when it is too large', async () => {
    const long = [{ id: 'T1', status: 'SUCCESS', maskBase64: 'A'.repeat(2_000) }];
    const wide = respondingWith(200, long, {}, { maxBodyBytes: 1_000 });
    expect(await wide.listTasks?.(never)).toMatchObject({ ok: true, value: [{ id: 'T1' }] });
    const narrow = respondingWith(200, long, {}, { maxListBytes: 1_000 });
    expect(await narrow.listTasks?.(never)).toMatchObject({
      error: { code: 'service.no-listing', message: expect.stringContaining('too large to be read') },
    });
  });

  test.each([
    [404, '{"error":{"message":"Invalid URL (GET /img/task/list)"}}'],
    [200, '<!doctype html><title>Home</title>'],
    [200, '{"page":1}'],
  ])('may be missing from a gateway: %i %s', async (status, body) => {
    const result = await respondingWith(status, body).listTasks?.(never);
    expect(result).toMatchObject({ ok: false, error: { code: 'service.no-listing', class: 'permanent' } });
    expect(JSON.stringify(result)).not.toContain('each task is polled by itself');
  });
});
