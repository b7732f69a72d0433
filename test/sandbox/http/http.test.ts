import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import { startSandbox } from '../../../src/sandbox/sandbox.ts';
import { type Client, start } from '../client.ts';

let client: Client;
afterEach(() => client.sandbox.close());

/** Sends a request with this Host header, which `fetch` does not let a test choose. */
function statusFor(url: string, path: string, host: string): Promise<number> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const headers = { host, authorization: 'Bearer sandbox-key' };
    httpRequest({ hostname, port, path, headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .on('error', reject)
      .end();
  });
}

test('every request for another host name is refused, because a web page could lead its name here', async () => {
  client = await start();
  const { url } = client.sandbox;
  const { port } = new URL(url);
  for (const path of ['/sandbox/counters', '/sandbox/requests', '/img/task/1/fetch', '/nothing']) {
    for (const host of [
      'evil.example',
      `evil.example:${port}`,
      'localhost.evil.example',
      '127.0.0.1.evil.example',
      '1',
    ])
      expect([host, path, await statusFor(url, path, host)]).toEqual([host, path, 421]);
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, 'LOCALHOST', `[::1]:${port}`])
      expect([host, path, await statusFor(url, path, host)]).not.toEqual([host, path, 421]);
  }
  expect(await statusFor(url, '/sandbox/counters', `localhost:${port}`)).toBe(200);
});

test.each([
  ['none', { authorization: '' }],
  ['another key', { authorization: 'Bearer other' }],
  ['lower case', { authorization: 'bearer sandbox-key' }],
  ['no scheme', { authorization: 'sandbox-key' }],
  ['two spaces', { authorization: 'Bearer  sandbox-key' }],
  ['a prefix of the key', { authorization: 'Bearer sandbox-ke' }],
])('a wrong key is refused: %s', async (_name, headers) => {
  client = await start();
  for (const [method, path] of [
    ['POST', '/img/submit/imagine'],
    ['POST', '/img-fast/img/submit/action'],
    ['GET', '/img/task/1/fetch'],
  ] as const) {
    const { status, body } = await client.send(method, path, method === 'POST' ? {} : undefined, headers);
    expect(status).toBe(401);
    expect(body).toEqual({
      error: {
        code: '',
        message: expect.stringMatching(/^invalid token \(request id: \w{20,}\)$/),
        type: 'svc_api_error',
      },
    });
  }
});

test.each([
  ['POST', '/submit/imagine'],
  ['POST', '/img/submit/imagin'],
  ['POST', '/img/submit/imagine/'],
  ['GET', '/img/submit/imagine'],
  ['POST', '/img-slow/img/submit/imagine'],
  ['POST', '/v1/img/submit/imagine'],
  ['POST', '/chat/completions'],
  ['GET', '/img/task//fetch'],
])('%s %s is redirected to a web page on another host', async (method, path) => {
  client = await start();
  const response = await client.send(method, path, method === 'POST' ? {} : undefined);
  expect(response.status).toBe(301);
  const location = response.headers.get('location') ?? '';
  expect(new URL(location).pathname).toBe(path);
  expect(new URL(location).origin).not.toBe(client.sandbox.url);
  const page = await fetch(location);
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
});

test.each([
  ['{', /^invalid JSON: /],
  ['[]', /^invalid JSON: expected an object/],
  ['{}', /^prompt is required \(request id: /],
  ['{"prompt":"a fox"}', /^botType is required/],
  ['{"prompt":7,"botType":"IMG_JOURNEY"}', /^prompt: expected a string, got a number/],
  ['{"prompt":"  ","botType":"IMG_JOURNEY"}', /^prompt is required/],
  [
    '{"prompt":"a fox","botType":"MID_JOURNEY"}',
    /^botType: expected IMG_JOURNEY or NIJI_JOURNEY, got MID_JOURNEY/,
  ],
  ['{"prompt":"a fox","botType":"IMG_JOURNEY","accountFilter":[]}', /^accountFilter: /],
  ['{"prompt":"a fox","botType":"IMG_JOURNEY","accountFilter":{"modes":[1]}}', /^accountFilter\.modes: /],
  ['{"prompt":"a fox","botType":"IMG_JOURNEY","base64Array":"x"}', /^base64Array: /],
])('an invalid body is answered with 400: %s', async (body, message) => {
  client = await start();
  const response = await client.send('POST', '/img/submit/imagine', body);
  expect(response.status).toBe(400);
  expect(response.body.error.message).toMatch(message);
  expect(client.sandbox.counters().tasks.made).toBe(0);
});

test('a body beyond the limit is answered with 413', async () => {
  client = await start({ settings: { bodyLimit: 1000 } });
  const response = await client.imagine('x'.repeat(2000));
  expect(response.status).toBe(413);
  expect((await client.imagine('a fox')).status).toBe(200);
});

test('submissions beyond the rate are answered with 429 and Retry-After', async () => {
  client = await start({ settings: { submitsPerMinute: 12 } });
  const statuses = [];
  for (let index = 0; index < 4; index += 1) statuses.push((await client.imagine(`fox ${index}`)).status);
  expect(statuses).toEqual([200, 200, 429, 429]);
  expect((await client.imagine('fox')).headers.get('retry-after')).toBe('5');
  client.clock.time += 5000;
  expect((await client.imagine('fox')).status).toBe(200);
});

test('requests are counted by route and status, tasks by action', async () => {
  client = await start();
  await client.imagine('a fox');
  await client.imagine('a fox');
  await client.imagine('an owl');
  await client.imagine('');
  await client.send('POST', '/wrong', {});
  const { body } = await client.send('GET', '/sandbox/counters', undefined, { authorization: '' });
  expect(body).toMatchObject({
    requests: { imagine: { 200: 3, 400: 1 }, unknown: { 301: 1 } },
    tasks: { made: 3, byAction: { IMAGINE: 3 } },
    repeated: { tasks: 1, requests: [{ description: '/imagine a fox', tasks: 2 }] },
    text: { answers: 0, byModel: {}, untold: { answers: 0 } },
  });
  expect(client.sandbox.counters()).toEqual(body);
  const log = (await client.send('GET', '/sandbox/requests', undefined, { authorization: '' })).body;
  expect(log).toHaveLength(5);
  expect(log[0]).toMatchObject({
    number: 1,
    method: 'POST',
    path: '/img/submit/imagine',
    route: 'imagine',
    status: 200,
  });
  expect(JSON.stringify(log)).not.toContain('sandbox-key');
});

test('the request log is bounded', async () => {
  client = await start({ settings: { requestLog: 3 } });
  for (let index = 0; index < 8; index += 1) await client.send('GET', `/img/task/${index}/fetch`);
  expect(client.sandbox.requests().map(({ number }) => number)).toEqual([6, 7, 8]);
});

test('hostile bytes and bodies do not change the sandbox', async () => {
  client = await start();
  const { port } = new URL(client.sandbox.url);
  const raw = (bytes: Uint8Array): Promise<void> =>
    new Promise((resolve) => {
      const socket = connect(Number(port), '127.0.0.1', () => socket.end(bytes));
      socket.on('data', () => undefined);
      socket.on('error', () => resolve());
      socket.on('close', () => resolve());
    });
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), fc.boolean(), (bytes, framed) =>
      raw(
        framed
          ? Buffer.concat([
              Buffer.from(
                `POST /img/submit/imagine HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer sandbox-key\r\nContent-Length: ${bytes.length}\r\n\r\n`,
              ),
              bytes,
            ])
          : bytes,
      ),
    ),
    { numRuns: 60, seed: 7 },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.record(
        {
          prompt: fc.oneof(fc.string({ unit: 'binary', maxLength: 400 }), fc.jsonValue()),
          botType: fc.constantFrom('IMG_JOURNEY', 'NIJI_JOURNEY', 'x'),
          base64Array: fc.jsonValue(),
          state: fc.jsonValue(),
          accountFilter: fc.jsonValue(),
          taskId: fc.jsonValue(),
          customId: fc.jsonValue(),
          maskBase64: fc.jsonValue(),
          base64: fc.jsonValue(),
          link: fc.oneof(fc.jsonValue(), fc.constant('http://127.0.0.1:1/x')),
          image: fc.oneof(fc.jsonValue(), fc.constant('data:image/png;base64,AAAA')),
          motion: fc.jsonValue(),
          batchSize: fc.jsonValue(),
          dimensions: fc.jsonValue(),
          action: fc.constantFrom('extend', 'x', 7),
          index: fc.jsonValue(),
        },
        { requiredKeys: [] },
      ),
      fc.constantFrom('imagine', 'action', 'modal', 'blend', 'describe', 'video', 'edits'),
      async (body, route) => {
        const response = await client.send('POST', `/img/submit/${route}`, body);
        expect([200, 400, 404]).toContain(response.status);
      },
    ),
    { numRuns: 400, seed: 7 },
  );
  await fc.assert(
    fc.asyncProperty(fc.webPath(), fc.webQueryParameters(), async (path, query) => {
      const response = await client.send('GET', `${path.startsWith('/') ? path : `/${path}`}?${query}`);
      expect(response.status).toBeLessThan(500);
    }),
    { numRuns: 60, seed: 7 },
  );
  expect((await client.imagine('a fox')).body.code).toBe(1);
});

test('a sandbox refuses impossible settings and keys', async () => {
  client = await start();
  await expect(startSandbox({ apiKey: '' })).rejects.toThrow(RangeError);
  await expect(startSandbox({ apiKey: 'k', settings: { spread: 2 } })).rejects.toThrow(/spread/);
  const { port } = new URL(client.sandbox.url);
  await expect(startSandbox({ apiKey: 'k', port: Number(port) })).rejects.toThrow(/EADDRINUSE/);
});

test('many responses in flight cause no warning about a leak', async () => {
  client = await start({ settings: { textLatency: 20, pace: 1 } });
  const warnings: Error[] = [];
  const onWarning = (warning: Error): void => {
    warnings.push(warning);
  };
  process.on('warning', onWarning);
  try {
    const contents = [{ parts: [{ text: 'A fox.' }] }];
    const responses = await Promise.all(
      Array.from({ length: 24 }, () =>
        client.send('POST', '/v1beta/models/text-flash:generateContent', { contents }),
      ),
    );
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200));
    expect(warnings.map(({ name }) => name)).toEqual([]);
  } finally {
    process.off('warning', onWarning);
  }
});
