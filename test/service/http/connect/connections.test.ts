import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';

import { Agent, type Dispatcher, MockAgent } from 'undici';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ImageServiceOptions } from '../../../../src/service/client.ts';
import { createDispatcher, ProxyAddressError } from '../../../../src/service/http/connect/dispatcher.ts';
import type { Timer } from '../../../../src/service/http/timeout.ts';
import type { ImageService } from '../../../../src/service/image-service.ts';
import { type FakeService, startFakeService } from '../../../rig/fake-service.ts';
import { Tally } from '../../../rig/faults.ts';
import { closedPort, type RawServer, rawServer } from '../../raw-server.ts';
import { imagine, key, never, serviceWith } from '../../scripted-fetch.ts';

let gateway: FakeService;
let dispatcher: Dispatcher;

beforeEach(async () => {
  gateway = await startFakeService({ apiKey: key });
  dispatcher = createDispatcher({ connections: 4, connectMs: 5000 });
});

afterEach(async () => {
  await dispatcher.destroy();
  await gateway.close();
});

const client = (options: Partial<ImageServiceOptions> = {}): ImageService =>
  serviceWith({ baseUrl: gateway.url, dispatcher, ...options });

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

/** An answer of this status whose body breaks off. */
const cut = (status: number): string =>
  `HTTP/1.1 ${status} X\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{"error":`;

const failing = (cause: Error): ImageService =>
  serviceWith({ fetch: () => Promise.reject(new TypeError('fetch failed', { cause })) });
const coded = (code: string, syscall?: string): Error => Object.assign(new Error(code), { code, syscall });

/** A proxy that connects to wherever it is told. */
async function tunnel(answer = 'HTTP/1.1 200 Connection established\r\n\r\n'): Promise<RawServer> {
  return rawServer((socket, head) => {
    const target = /^CONNECT ([^:]+):(\d+) /.exec(head);
    if (target === null) return;
    socket.write(answer);
    if (!answer.includes(' 200 ')) return;
    socket.removeAllListeners('data');
    const onward = connect(Number(target[2]), target[1] ?? '');
    onward.on('error', () => socket.destroy());
    socket.pipe(onward).pipe(socket);
  });
}

describe('against a real server', () => {
  test('imagine, fetch, click, fetch', async () => {
    const service = client();
    const submitted = await imagine(service);
    if (!submitted.ok || submitted.value.kind !== 'accepted') throw new Error('not accepted');
    const { taskId } = submitted.value;
    expect(await service.fetchTask(taskId, never)).toMatchObject({
      value: { state: 'unfinished', progress: 15, buttons: [] },
    });
    const grid = await service.fetchTask(taskId, never);
    if (!grid.ok) throw new Error('no grid');
    expect(grid.value).toMatchObject({ state: 'success', progress: 100 });
    expect(grid.value.imageUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/images\//);
    expect(grid.value.buttons.map((button) => button.label || button.emoji).join(' ')).toBe(
      'U1 U2 U3 U4 🔄 V1 V2 V3 V4',
    );
    const { customId = '' } = grid.value.buttons[0] ?? {};
    expect(await service.action({ taskId, customId, speed: 'fast' }, never)).toMatchObject({
      value: { kind: 'accepted' },
    });
    expect(gateway.submits.all[1]?.task).toMatchObject({ speed: 'fast', path: 'U1' });
  });

  test('ids of 17 digits survive as bare numbers, there and back', async () => {
    await using big = await rawServer((socket, head) => {
      const body = head.startsWith('POST')
        ? '{"code":1,"result":14001929738841621}'
        : '{"id":14001929738841621,"status":"MODAL"}';
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    });
    const service = client({ baseUrl: big.url });
    expect(await imagine(service)).toMatchObject({ value: { taskId: '14001929738841621' } });
    await service.fetchTask('14001929738841621', never);
    expect(big.heads[1]).toMatch(/^GET \/img\/task\/14001929738841621\/fetch /);
  });

  test('a redirect is never followed, and the key goes nowhere else', async () => {
    await using elsewhere = await rawServer((socket) => {
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
    });
    gateway.fault('any', { status: 307, headers: { location: `${elsewhere.url}/img/submit/imagine` } });
    const service = client();
    expect(await imagine(service)).toMatchObject({ error: { code: 'service.redirect' } });
    expect(await service.fetchTask('1', never)).toMatchObject({ error: { code: 'service.redirect' } });
    expect(elsewhere.connections).toBe(0);
    expect(gateway.strayKeys).toBe(0);
  });

  test('a wrong base address leads to a redirect that nobody follows', async () => {
    const service = client({ baseUrl: `${gateway.url}/v1` });
    const answer = await imagine(service);
    expect(answer).toMatchObject({ error: { code: 'service.redirect', class: 'stop' } });
    expect(answer.ok ? '' : answer.error.message).toContain(`try ${gateway.url}.`);
    expect([gateway.count('unknown'), gateway.count('site')]).toEqual([1, 0]);
  });

  test('the key is exact', async () => {
    expect(await imagine(client({ apiKey: `${key}x` }))).toMatchObject({
      error: {
        code: 'service.unauthorized',
        class: 'stop',
        requestId: expect.stringMatching(/^20261101\d+$/),
      },
    });
    expect(gateway.tasks.size).toBe(0);
  });

  test.each([401, 407, 408, 421, 425, 429, 503])(
    'the service is asked once, though it says %i',
    async (status) => {
      gateway.fault('any', { status, headers: { 'retry-after': '0', 'www-authenticate': 'Basic' } });
      const service = client();
      expect((await imagine(service)).ok).toBe(false);
      expect((await service.fetchTask('1', never)).ok).toBe(false);
      expect([gateway.count('imagine'), gateway.count('fetch')]).toEqual([1, 1]);
    },
  );

  test('one signal serves many requests without a warning about leaks', async () => {
    const warnings: Error[] = [];
    const note = (warning: Error): number => warnings.push(warning);
    process.on('warning', note);
    const { signal } = new AbortController();
    const service = client();
    const hang = gateway.fault('fetch', { hang: 'before' });
    const all = Array.from({ length: 40 }, () => service.fetchTask('1', signal));
    await hang.hit(4);
    hang.release();
    expect(await Promise.all(all)).toHaveLength(40);
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    process.off('warning', note);
    expect(warnings).toEqual([]);
  });

  test('closing it leaves a given dispatcher open, and closes its own', async () => {
    const given = client();
    await given.close();
    expect((await imagine(given)).ok).toBe(true);
    const own = serviceWith({ baseUrl: gateway.url });
    expect((await imagine(own)).ok).toBe(true);
    await own.close();
    expect(await imagine(own)).toMatchObject({ ok: false, error: { class: 'unsent' } });
  });
});

describe('what never left', () => {
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

  test('a connection that came about but not in a secure way', async () => {
    await using plain = await rawServer(
      () => undefined,
      (socket) => socket.end('220 mail.example.com ESMTP\r\n'),
    );
    const service = client({ baseUrl: plain.url.replace('http:', 'https:') });
    expect(await imagine(service)).toMatchObject({ error: { code: 'connection.tls', class: 'unsent' } });
  });

  test('a connection that is reset while it is being secured', async () => {
    await using rude = await rawServer(
      () => undefined,
      (socket) => socket.once('data', () => socket.resetAndDestroy()),
    );
    const service = client({ baseUrl: rude.url.replace('http:', 'https:') });
    expect(await imagine(service)).toMatchObject({ error: { code: 'connection.refused', class: 'unsent' } });
  });

  test('what waited for a connection when time ran out, or the run was left', async () => {
    const narrow = createDispatcher({ connections: 1, connectMs: 5000 });
    const hang = gateway.fault('imagine', { hang: 'before' }, { times: 1 });
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
    expect(gateway.count('imagine')).toBe(2);
    await narrow.close();
  });

  test('a request that was given up before it began', async () => {
    const service = client();
    const signal = AbortSignal.abort(new Error('second signal'));
    expect(await imagine(service, signal)).toMatchObject({
      error: { code: 'connection.aborted', class: 'unsent', cause: { message: 'second signal' } },
    });
    expect(gateway.count('imagine')).toBe(0);
  });
});

describe('what was sent and not answered', () => {
  test.each(['before', 'after'] as const)('a reset %s the work was done looks the same', async (reset) => {
    gateway.fault('any', { reset });
    const service = client();
    expect(await imagine(service)).toMatchObject({ error: { code: 'connection.lost', class: 'lost' } });
    expect(await service.fetchTask('1', never)).toMatchObject({
      error: { code: 'connection.lost', class: 'retry' },
    });
    expect(gateway.tasks.size).toBe(reset === 'after' ? 1 : 0);
  });

  test('time that runs out before the headers', async () => {
    const hang = gateway.fault('any', { hang: 'after' });
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

  test('time that runs out in a fetch that is given, which does not tell what has left', async () => {
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
    const hang = gateway.fault('any', { hang: 'after' });
    const leave = new AbortController();
    const submitted = imagine(client(), leave.signal);
    const fetched = client().fetchTask('1', leave.signal);
    await hang.hit(2);
    leave.abort();
    expect(await submitted).toMatchObject({ error: { code: 'connection.aborted', class: 'lost' } });
    expect(await fetched).toMatchObject({ error: { code: 'connection.aborted', class: 'retry' } });
  });

  test('an answer that is cut off', async () => {
    gateway.fault('any', { truncate: 20 });
    const service = client();
    expect(await imagine(service)).toMatchObject({
      error: { code: 'connection.lost', class: 'lost', status: 200 },
    });
    expect(await service.fetchTask('1', never)).toMatchObject({ error: { status: 400, class: 'retry' } });
    expect(gateway.tasks.size).toBe(1);
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

  test('an answer that is no HTTP', async () => {
    await using mail = await rawServer((socket) => socket.end('550 go away\r\n'));
    expect(await imagine(client({ baseUrl: mail.url }))).toMatchObject({
      error: { code: 'connection.lost', class: 'lost' },
    });
  });

  test('an answer without end', async () => {
    gateway.fault('any', { endless: true });
    const service = client({ maxBodyBytes: 1 << 20 });
    const code = 'response.too-large';
    expect(await imagine(service)).toMatchObject({ error: { code, class: 'lost' } });
    expect(await service.fetchTask('1', never)).toMatchObject({ error: { class: 'retry' } });
  });

  test('an answer that is small on the wire only', async () => {
    const bomb = gzipSync(Buffer.alloc(32 << 20, 0x20));
    gateway.fault('imagine', { status: 200, body: bomb, headers: { 'content-encoding': 'gzip' } });
    expect(bomb.length).toBeLessThan(1 << 16);
    expect(await imagine(client({ maxBodyBytes: 1 << 20 }))).toMatchObject({
      error: { code: 'response.too-large', class: 'lost' },
    });
  });

  test('a compressed answer is read', async () => {
    const body = gzipSync('{"code":1,"result":"1700000000000009"}');
    gateway.fault('imagine', { status: 200, body, headers: { 'content-encoding': 'gzip' } });
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
      [coded('ERR_SSL_WRONG_VERSION_NUMBER'), 'connection.tls', 'unsent'],
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
        const answer = await imagine(failing(cause));
        return answer.ok ? [] : [cause, answer.error.code, answer.error.class];
      }),
    );
    expect(verdicts).toEqual(cases);
  });
});

describe('a proxy', () => {
  test.each(['http_proxy', 'HTTP_PROXY'])('given as %s is used, and never sees the key', async (name) => {
    await using proxy = await tunnel();
    const proxied = createDispatcher({ connections: 2, connectMs: 5000, env: { [name]: proxy.url } });
    expect((await imagine(client({ dispatcher: proxied }))).ok).toBe(true);
    expect(proxy.connections).toBe(1);
    expect(proxy.heads.join('')).not.toContain(key);
    await proxied.destroy();
  });

  test.each(['no_proxy', 'NO_PROXY'])(
    'may lack its scheme, and is passed by for what %s names',
    async (name) => {
      await using proxy = await tunnel();
      const env = { http_proxy: proxy.url.replace('http://', '') };
      const proxied = createDispatcher({ connections: 2, connectMs: 5000, env });
      expect((await imagine(client({ dispatcher: proxied }))).ok).toBe(true);
      const direct = createDispatcher({
        connections: 2,
        connectMs: 5000,
        env: { ...env, [name]: '127.0.0.1' },
      });
      expect((await imagine(client({ dispatcher: direct }))).ok).toBe(true);
      expect(proxy.connections).toBe(1);
      await proxied.destroy();
      await direct.destroy();
    },
  );

  test("is not taken from the process's own environment", async () => {
    const dead = `http://127.0.0.1:${await closedPort()}`;
    process.env['HTTP_PROXY'] = dead;
    process.env['NO_PROXY'] = '*';
    await using proxy = await tunnel();
    const none = createDispatcher({ connections: 2, connectMs: 5000 });
    const given = createDispatcher({ connections: 2, connectMs: 5000, env: { http_proxy: proxy.url } });
    try {
      expect((await imagine(client({ dispatcher: none }))).ok).toBe(true);
      expect((await imagine(client({ dispatcher: given }))).ok).toBe(true);
      expect(proxy.connections).toBe(1);
    } finally {
      delete process.env['HTTP_PROXY'];
      delete process.env['NO_PROXY'];
      await none.destroy();
      await given.destroy();
    }
  });

  test('that refuses has let nothing through', async () => {
    await using proxy = await tunnel(
      'HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n',
    );
    const proxied = createDispatcher({ connections: 2, connectMs: 5000, env: { http_proxy: proxy.url } });
    expect(await imagine(client({ dispatcher: proxied }))).toMatchObject({
      error: { code: 'connection.proxy', class: 'unsent', message: expect.stringContaining('407') },
    });
    expect(gateway.count('imagine')).toBe(0);
    await proxied.destroy();
  });

  test('that is no address is refused, and its value not shown', () => {
    const env = { http_proxy: 'http://user:hunter2@' };
    const make = (): Dispatcher => createDispatcher({ connections: 1, connectMs: 1, env });
    expect(make).toThrow(ProxyAddressError);
    expect(make).toThrow(/^The value of http_proxy (?!.*hunter2)/);
  });
});

test('a mock agent can stand in for the connections', async () => {
  const agent = new MockAgent();
  agent.disableNetConnect();
  const reply = { code: 1, result: '1700000000000003' };
  agent
    .get('https://api.example.com')
    .intercept({ method: 'POST', path: '/img/submit/imagine' })
    .reply(200, reply);
  expect(await imagine(serviceWith({ dispatcher: agent }))).toMatchObject({
    value: { taskId: '1700000000000003' },
  });
  await agent.close();
});
