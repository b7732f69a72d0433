import { gzipSync } from 'node:zlib';
import { Agent } from 'undici';
import { describe, expect, test } from 'vitest';
import { createDispatcher } from '../../../../src/service/http/connect/dispatcher.ts';
import type { Timer } from '../../../../src/service/http/timeout.ts';
import type { ImageService } from '../../../../src/service/image-service.ts';
import { Tally } from '../../../rig/faults.ts';
import { closedPort, rawServer } from '../../raw-server.ts';
import { imagine, never, serviceWith } from '../../scripted-fetch.ts';
import { serveEach } from './served.ts';

const served = serveEach();
const { client } = served;

/** Time that passes when the test says so. */
function manualTimer(): { readonly timer: Timer; readonly expire: () => void; readonly set: number[] } {
  const pending = new Set<() => void>();
  const set: number[] = [];
  return {
    set,
    expire: () => {
      for (const call of pending) call();
    },
    timer: (ms, expire) => {
      set.push(ms);
      pending.add(expire);
      return () => pending.delete(expire);
    },
  };
}

/** A response of this status whose body breaks off. */
const cut = (status: number): string =>
  `HTTP/1.1 ${status} X\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{"error":`;

const failing = (cause: Error): ImageService =>
  serviceWith({ fetch: () => Promise.reject(new TypeError('fetch failed', { cause })) });

const coded = (code: string, syscall?: string): Error => Object.assign(new Error(code), { code, syscall });

describe('requests that never left', () => {
  test('a refused connection', async () => {
    const service = client({ baseUrl: `http://127.0.0.1:${await closedPort()}` });
    const expected = { ok: false, error: { code: 'connection.refused', class: 'unsent' } };
    expect(await imagine(service)).toMatchObject(expected);
    expect(await service.fetchTask('1', never)).toMatchObject(expected);
  });

  test('a host name that does not exist', async () => {
    const unknown = Object.assign(new Error('not found'), { code: 'ENOTFOUND', syscall: 'getaddrinfo' });
    const lost = new Agent({ connect: { lookup: (_host, _options, answer) => answer(unknown, []) } });
    const service = client({ baseUrl: 'http://api.example.com', dispatcher: lost });
    expect(await imagine(service)).toMatchObject({ error: { code: 'connection.dns', class: 'unsent' } });
    await lost.close();
  });

  test.each<readonly [string, string | Buffer]>([
    ['mail', '220 mail.example.com ESMTP\r\n'],
    ['HTTP', 'HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n'],
    ['HTTP/2', Buffer.from([0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 100])],
  ])(
    'https at a port that speaks %s stops the run, and the message says what to try',
    async (_what, says) => {
      await using plain = await rawServer(
        () => undefined,
        (socket) => socket.once('data', () => socket.end(says)),
      );
      const service = client({ baseUrl: plain.url.replace('http:', 'https:') });
      expect(await imagine(service)).toMatchObject({
        error: {
          code: 'connection.protocol',
          class: 'stop',
          message: expect.stringContaining('try http://'),
        },
      });
      expect(plain.connections).toBe(1);
    },
  );

  test('a connection that is reset while it is being secured', async () => {
    await using rude = await rawServer(
      () => undefined,
      (socket) => socket.once('data', () => socket.resetAndDestroy()),
    );
    const service = client({ baseUrl: rude.url.replace('http:', 'https:') });
    expect(await imagine(service)).toMatchObject({ error: { code: 'connection.refused', class: 'unsent' } });
  });

  test('waiting for a connection when time runs out, or the run is left', async () => {
    const narrow = createDispatcher({ connections: 1, connectMs: 5000 });
    const hang = served.gateway.fault('imagine', { hang: 'before' }, { times: 1 });
    const { timer, expire } = manualTimer();
    const first = imagine(client({ dispatcher: narrow }));
    await hang.hit();
    const leave = new AbortController();
    const second = imagine(client({ dispatcher: narrow, timer }));
    const third = imagine(client({ dispatcher: narrow }), leave.signal);
    expire();
    leave.abort();
    expect(await second).toMatchObject({ error: { code: 'connection.timeout', class: 'unsent' } });
    expect(await third).toMatchObject({ error: { code: 'connection.aborted', class: 'unsent' } });
    hang.release();
    expect((await first).ok).toBe(true);
    // It has the connection after them, so that nothing of theirs can come later.
    expect((await imagine(client({ dispatcher: narrow }))).ok).toBe(true);
    expect(served.gateway.count('imagine')).toBe(2);
    await narrow.close();
  });

  test('a request that was given up before it began', async () => {
    const service = client();
    const signal = AbortSignal.abort(new Error('second signal'));
    expect(await imagine(service, signal)).toMatchObject({
      error: { code: 'connection.aborted', class: 'unsent', cause: { message: 'second signal' } },
    });
    expect(served.gateway.count('imagine')).toBe(0);
  });
});

describe('requests without a response', () => {
  test.each(['before', 'after'] as const)('a reset %s the work was done looks the same', async (reset) => {
    served.gateway.fault('imagine', { reset });
    served.gateway.fault('fetch', { reset });
    const service = client();
    expect(await imagine(service)).toMatchObject({ error: { code: 'connection.lost', class: 'lost' } });
    expect(await service.fetchTask('1', never)).toMatchObject({
      error: { code: 'connection.lost', class: 'retry' },
    });
    expect(served.gateway.tasks.size).toBe(reset === 'after' ? 1 : 0);
  });

  test('time that runs out before the headers', async () => {
    const hang = served.gateway.fault('any', { hang: 'after' });
    const { timer, expire, set } = manualTimer();
    const service = client({ timer, requestMs: 45_000 });
    const submitted = imagine(service);
    await hang.hit(1);
    expire();
    expect(await submitted).toMatchObject({
      error: { code: 'connection.timeout', class: 'lost', message: expect.stringContaining('within 45 s') },
    });
    const fetched = service.fetchTask('1', never);
    await hang.hit(2);
    expire();
    expect(await fetched).toMatchObject({ error: { code: 'connection.timeout', class: 'retry' } });
    expect(set).toEqual([45_000, 45_000]);
  });

  test('a time-out in an injected fetch, which does not report what has left', async () => {
    const { timer, expire } = manualTimer();
    const fetch: typeof globalThis.fetch = (_url, init) =>
      new Promise((_resolve, reject) => {
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason as Error));
      });
    const submitted = imagine(serviceWith({ fetch, timer }));
    expire();
    expect(await submitted).toMatchObject({ error: { code: 'connection.timeout', class: 'lost' } });
  });

  test('time that runs out in the middle of the body', async () => {
    const { timer, expire } = manualTimer();
    const beginning = new Tally();
    await using slow = await rawServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"code":1,', () => beginning.add());
    });
    const submitted = imagine(client({ baseUrl: slow.url, timer }));
    await beginning.reached(1);
    expire();
    expect(await submitted).toMatchObject({ error: { code: 'connection.timeout', class: 'lost' } });
  });

  test('a caller that gives up', async () => {
    const hang = served.gateway.fault('any', { hang: 'after' });
    const leave = new AbortController();
    const submitted = imagine(client(), leave.signal);
    const fetched = client().fetchTask('1', leave.signal);
    await hang.hit(2);
    leave.abort();
    expect(await submitted).toMatchObject({ error: { code: 'connection.aborted', class: 'lost' } });
    expect(await fetched).toMatchObject({ error: { code: 'connection.aborted', class: 'retry' } });
  });

  test('a response that is cut off', async () => {
    served.gateway.fault('any', { truncate: 20 });
    const service = client();
    expect(await imagine(service)).toMatchObject({
      error: { code: 'connection.lost', class: 'lost', status: 200 },
    });
    expect(await service.fetchTask('1', never)).toMatchObject({ error: { status: 400, class: 'retry' } });
    expect(served.gateway.tasks.size).toBe(1);
  });

  test('a status that came counts, though its body broke', async () => {
    let status = 401;
    await using breaking = await rawServer((socket) => socket.end(cut(status)));
    const service = client({ baseUrl: breaking.url });
    expect(await imagine(service)).toMatchObject({ error: { code: 'service.unauthorized', class: 'stop' } });
    status = 503;
    expect(await imagine(service)).toMatchObject({ error: { class: 'retry', cause: expect.any(Error) } });
    // A 400 may hide a time-out, which only its body would have told.
    status = 400;
    expect(await imagine(service)).toMatchObject({ error: { code: 'service.ambiguous', class: 'lost' } });
  });

  test('a response that is no HTTP', async () => {
    const answers = ['HTTP/1.1 404 Not Found\r\ncontent-length: 2\r\n\r\n{}', '550 go away\r\n'];
    await using mail = await rawServer((socket) => socket.end(answers.shift() ?? ''));
    const service = client({ baseUrl: mail.url });
    await service.fetchTask('1', never);
    expect(await imagine(service)).toMatchObject({ error: { code: 'connection.lost', class: 'lost' } });
  });

  test('a response without end', async () => {
    served.gateway.fault('any', { endless: true });
    const service = client({ maxBodyBytes: 1 << 20 });
    const code = 'response.too-large';
    expect(await imagine(service)).toMatchObject({ error: { code, class: 'lost' } });
    expect(await service.fetchTask('1', never)).toMatchObject({ error: { class: 'retry' } });
  });

  test('a response that is small on the wire only', async () => {
    const bomb = gzipSync(Buffer.alloc(32 << 20, 0x20));
    served.gateway.fault('imagine', { status: 200, body: bomb, headers: { 'content-encoding': 'gzip' } });
    expect(bomb.length).toBeLessThan(1 << 16);
    expect(await imagine(client({ maxBodyBytes: 1 << 20 }))).toMatchObject({
      error: { code: 'response.too-large', class: 'lost' },
    });
  });

  test('a compressed response is read', async () => {
    const body = gzipSync('{"code":1,"result":"1700000000000009"}');
    served.gateway.fault('imagine', { status: 200, body, headers: { 'content-encoding': 'gzip' } });
    expect(await imagine(client())).toMatchObject({ value: { taskId: '1700000000000009' } });
  });

  test('headers without end', async () => {
    await using flood = await rawServer((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\n${`x-flood: ${'a'.repeat(1000)}\r\n`.repeat(100)}`);
    });
    expect(await imagine(client({ baseUrl: flood.url }))).toMatchObject({
      error: { code: 'response.too-large', class: 'lost' },
    });
  });

  test('with an injected fetch only the error can prove that nothing left', async () => {
    const cases: readonly (readonly [Error, string, string])[] = [
      [coded('ECONNREFUSED', 'connect'), 'connection.refused', 'unsent'],
      [coded('EHOSTUNREACH', 'connect'), 'connection.refused', 'unsent'],
      [coded('ENOTFOUND', 'getaddrinfo'), 'connection.dns', 'unsent'],
      [coded('EAI_AGAIN'), 'connection.dns', 'unsent'],
      [coded('ETIMEDOUT', 'connect'), 'connection.timeout', 'unsent'],
      [coded('UND_ERR_CONNECT_TIMEOUT'), 'connection.timeout', 'unsent'],
      [coded('ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR'), 'connection.tls', 'unsent'],
      [coded('ERR_SSL_WRONG_VERSION_NUMBER'), 'connection.protocol', 'stop'],
      [coded('CERT_HAS_EXPIRED'), 'connection.certificate', 'stop'],
      [coded('ERR_TLS_CERT_ALTNAME_INVALID'), 'connection.certificate', 'stop'],
      [coded('DEPTH_ZERO_SELF_SIGNED_CERT'), 'connection.certificate', 'stop'],
      [coded('ETIMEDOUT', 'read'), 'connection.timeout', 'lost'],
      [coded('EHOSTUNREACH', 'read'), 'connection.lost', 'lost'],
      [coded('ECONNRESET', 'read'), 'connection.lost', 'lost'],
      [coded('EPIPE', 'write'), 'connection.lost', 'lost'],
      [coded('UND_ERR_SOCKET'), 'connection.lost', 'lost'],
      [coded('UND_ERR_HEADERS_TIMEOUT'), 'connection.timeout', 'lost'],
      [new Error('what?'), 'connection.lost', 'lost'],
      [
        new AggregateError([coded('ECONNREFUSED', 'connect'), coded('ENETUNREACH', 'connect')]),
        'connection.refused',
        'unsent',
      ],
      [
        new AggregateError([coded('ECONNREFUSED', 'connect'), coded('ECONNRESET', 'read')]),
        'connection.lost',
        'lost',
      ],
    ];
    const verdicts = await Promise.all(
      cases.map(async ([cause]) => {
        const result = await imagine(failing(cause));
        return result.ok ? [] : [cause, result.error.code, result.error.class];
      }),
    );
    expect(verdicts).toEqual(cases);
  });
});
