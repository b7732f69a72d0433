import type { IncomingMessage } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { Agent, type Dispatcher } from 'undici';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { createDispatcher } from '../../../../src/service/http/connect/dispatcher.ts';
import { poolsThrough } from '../../../../src/service/http/connect/pool.ts';
import {
  ProxyAddressError,
  type ProxyEnvironment,
  proxiesOf,
} from '../../../../src/service/http/connect/proxies.ts';
import { certificates } from '../../../rig/certificates.ts';
import { type ProxyRules, startProxy, type TestProxy } from '../../../rig/proxy.ts';
import { closedPort, rawServer } from '../../raw-server.ts';
import { imagine, key, never } from '../../scripted-fetch.ts';
import { serveEach } from './served.ts';

const served = serveEach();
const opened: Dispatcher[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((dispatcher) => dispatcher.destroy()));
});

const through = (env: ProxyEnvironment): Dispatcher => {
  const dispatcher = createDispatcher({ connections: 2, connectMs: 5000, env });
  opened.push(dispatcher);
  return dispatcher;
};

const asking = (env: ProxyEnvironment, baseUrl = served.gateway.url) =>
  imagine(served.client({ baseUrl, dispatcher: through(env) }));

/** The origin of the gateway as one of a scheme that a proxy needs CONNECT for: nothing gets as far as TLS. */
const secure = (): string => served.gateway.url.replace('http:', 'https:');

async function listening(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
}

/** A gateway with a certificate of the test's own authority. */
async function gatewayOverTls(note: (request: IncomingMessage) => void): Promise<AddressInfo> {
  const server = createTlsServer({ key: certificates.key, cert: certificates.good }, (request, response) => {
    note(request);
    response.end('{"code":1,"result":"1700000000000009"}');
  });
  await listening(server);
  return server.address() as AddressInfo;
}

async function askOverTls(env: ProxyEnvironment, port: number) {
  const dispatcher = new Agent({
    factory: poolsThrough(proxiesOf(env)),
    connect: { timeout: 5000, ca: certificates.ca },
  });
  opened.push(dispatcher);
  return await imagine(served.client({ baseUrl: `https://127.0.0.1:${port}`, dispatcher }));
}

describe('a request over http', () => {
  test.each(['http_proxy', 'HTTP_PROXY'])('is forwarded by the proxy in %s', async (name) => {
    await using proxy = await startProxy();
    const service = served.client({ dispatcher: through({ [name]: proxy.url }) });
    expect(await imagine(service)).toMatchObject({ value: { kind: 'accepted' } });
    expect((await service.fetchTask('1700000000000001', never)).ok).toBe(true);
    expect(proxy.asked).toEqual([
      `POST ${served.gateway.url}/img/submit/imagine`,
      expect.stringMatching(`GET ${served.gateway.url}/img/task/`),
    ]);
  });

  test('carries the decoded user name and password, which the gateway never sees', async () => {
    await using proxy = await startProxy({ login: 'me@home:pass:word%' });
    const url = proxy.url.replace('//', '//me%40home:pass%3Aword%25@');
    expect((await asking({ http_proxy: url })).ok).toBe(true);
    expect(proxy.logins).toEqual([`Basic ${Buffer.from('me@home:pass:word%').toString('base64')}`]);
  });

  test('carries a user name without a password', async () => {
    await using proxy = await startProxy({ login: 'me:' });
    expect((await asking({ http_proxy: proxy.url.replace('//', '//me@') })).ok).toBe(true);
  });

  test("is not sent through a proxy of the process's own environment", async () => {
    const dead = `http://127.0.0.1:${await closedPort()}`;
    process.env['HTTP_PROXY'] = dead;
    try {
      expect((await asking({})).ok).toBe(true);
    } finally {
      delete process.env['HTTP_PROXY'];
    }
  });

  test('is refused by the proxy, and has not left', async () => {
    await using proxy = await startProxy({ login: 'me:secret' });
    const env = { http_proxy: proxy.url.replace('//', '//me:guessed@') };
    for (const [asked, what] of [
      [{ http_proxy: proxy.url }, `http_proxy=http://USER:PASSWORD@127.0.0.1:${proxy.port}`],
      [env, 'does not take the user name and the password in http_proxy (407)'],
    ] as const) {
      const result = await asking(asked);
      expect(result).toMatchObject({ error: { code: 'connection.proxy', class: 'stop' } });
      expect(result.ok ? '' : result.error.message).toContain(what);
      expect(result.ok ? '' : result.error.message).not.toContain('guessed');
    }
    expect(served.gateway.count('imagine')).toBe(0);
  });

  test.each<readonly [string, string, string, RegExp]>([
    [
      'squid forbids the host',
      'HTTP/1.1 403 Forbidden\r\nserver: squid/5.7\r\nx-squid-error: ERR_ACCESS_DENIED 0\r\n\r\n<html>',
      'stop',
      /does not let requests to 127.0.0.1:\d+ through \(403\)\. Ask its owner to allow/,
    ],
    [
      'tinyproxy forbids the host',
      'HTTP/1.0 403 Filtered\r\nserver: tinyproxy/1.11.1\r\n\r\n<html>',
      'stop',
      /\(403\)\. Ask its owner/,
    ],
    [
      'squid cannot reach the host',
      'HTTP/1.1 503 Service Unavailable\r\nx-squid-error: ERR_CONNECT_FAIL 111\r\n\r\n<html>',
      'unsent',
      /could not connect to 127.0.0.1:\d+ \(503\)/,
    ],
  ])('where %s', async (_what, says, kind, words) => {
    await using proxy = await startProxy({ says: () => says });
    expect(await asking({ http_proxy: proxy.url })).toMatchObject({
      error: { code: 'connection.proxy', class: kind, message: expect.stringMatching(words) },
    });
  });

  test.each([403, 503])("keeps the gateway's own status %i", async (status) => {
    await using proxy = await startProxy();
    served.gateway.fault('any', { status, headers: { server: 'nginx' } });
    expect(await asking({ http_proxy: proxy.url })).toMatchObject({ error: { status } });
  });
});

describe('a request over https', () => {
  const tunnelled = (proxy: TestProxy) => asking({ https_proxy: proxy.url }, secure());

  // mknj/node-keepalive-proxy-agent 14, google/martian 306, book/HTTP-Proxy 9; RFC 9110 9.3.6.
  test.each([
    ['in pieces', 'HTTP/1.1 200 Connection established\r\nvia: x\r\n\r\n'],
    ['as HTTP/1.0', 'HTTP/1.0 200 OK\r\n\r\n'],
    ['with a length', 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'],
    ['as if a body followed', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'],
    ['with another success', 'HTTP/1.1 204 No Content\r\n\r\n'],
  ])('uses a tunnel that is opened %s', async (_how, answer) => {
    const { port } = await gatewayOverTls(() => undefined);
    const proxy = createServer((socket) => {
      const onward = connect(port, '127.0.0.1').on('error', () => socket.destroy());
      socket
        .on('error', () => onward.destroy())
        .once('data', () => {
          const inPieces = async (): Promise<void> => {
            for (const byte of Buffer.from(answer)) {
              socket.write(Buffer.from([byte]));
              await setImmediate();
            }
            socket.pipe(onward).pipe(socket);
          };
          void inPieces();
        });
    });
    await listening(proxy);
    const { port: at } = proxy.address() as AddressInfo;
    expect(await askOverTls({ https_proxy: `http://127.0.0.1:${at}` }, port)).toMatchObject({
      value: { taskId: '1700000000000009' },
    });
  });

  test.each<ProxyRules>([{}, { tls: true }, { login: 'me:secret' }, { tls: true, login: 'me:secret' }])(
    'uses a tunnel of a proxy with %o, which never sees the key',
    async (rules) => {
      const heads: unknown[] = [];
      const { port } = await gatewayOverTls((request) => {
        heads.push(request.headers['proxy-authorization'], request.headers.authorization);
      });
      await using proxy = await startProxy(rules);
      const url = proxy.url.replace('//', rules.login === undefined ? '//' : `//${rules.login}@`);
      expect(await askOverTls({ HTTPS_PROXY: url }, port)).toMatchObject({
        value: { taskId: '1700000000000009' },
      });
      expect(new Set(proxy.asked)).toEqual(new Set([`CONNECT 127.0.0.1:${port}`]));
      expect(new Set(heads)).toEqual(new Set([undefined, `Bearer ${key}`]));
    },
  );

  test.each<readonly [string, string | undefined, string, RegExp]>([
    [
      'says 407',
      'HTTP/1.1 407 x\r\nproxy-authenticate: basic realm="a"\r\n\r\n',
      'stop',
      /https_proxy=http:\/\/USER:PASSWORD@/,
    ],
    [
      'asks for NTLM',
      'HTTP/1.1 407 x\r\nproxy-authenticate: NTLM\r\n\r\n',
      'stop',
      /407, NTLM\): only Basic/,
    ],
    ['says 403', 'HTTP/1.1 403 Forbidden\r\n\r\n', 'stop', /Ask its owner to allow 127\.0\.0\.1:\d+/],
    ['knows no CONNECT', 'HTTP/1.1 405 Not allowed\r\n\r\n', 'stop', /\(405\): check https_proxy/],
    [
      'is a login page',
      'HTTP/1.1 302 Found\r\nlocation: http://login/\r\n\r\n',
      'stop',
      /\(302\): check https_proxy/,
    ],
    [
      'cannot reach the host',
      'HTTP/1.1 502 Bad gateway\r\n\r\n',
      'unsent',
      /could not connect to 127.*\(502\)/,
    ],
    ['has too much to do', 'HTTP/1.1 429 Slow down\r\n\r\n', 'unsent', /\(429\)/],
    ['is no proxy', '220 mail ESMTP\r\n', 'stop', /is not an HTTP proxy: check https_proxy/],
    ['speaks TLS', '\u0015\u0003\u0001\0\u0002\u0002F', 'stop', /write https:\/\/ in https_proxy/],
    ['closes without an answer', '', 'unsent', /closed the connection without an answer/],
    ['has a head without end', `HTTP/1.1 200 ${'a'.repeat(20_000)}`, 'stop', /is not an HTTP proxy/],
  ])('is tried once where the proxy %s', async (_what, says, kind, words) => {
    await using proxy = await startProxy({ says: () => says });
    expect(await tunnelled(proxy)).toMatchObject({
      error: { code: 'connection.proxy', class: kind, message: expect.stringMatching(words) },
    });
    expect(proxy.asked).toHaveLength(1);
  });

  test('waits for a silent proxy no longer than for a connection', async () => {
    await using proxy = await rawServer(() => undefined);
    const dispatcher = createDispatcher({ connectMs: 50, env: { https_proxy: proxy.url } });
    opened.push(dispatcher);
    expect(await imagine(served.client({ baseUrl: secure(), dispatcher }))).toMatchObject({
      error: { code: 'connection.proxy', class: 'unsent' },
    });
  });

  test('is reported with a proxy that cannot be reached, or has no TLS', async () => {
    const port = await closedPort();
    expect(await asking({ https_proxy: `http://127.0.0.1:${port}` }, secure())).toMatchObject({
      error: {
        code: 'connection.proxy',
        class: 'unsent',
        message: expect.stringMatching(
          `the proxy 127.0.0.1:${port} \\(https_proxy\\) cannot be reached: .*ECONNREFUSED`,
        ),
      },
    });
    await using plain = await rawServer(
      (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'),
      (socket) => socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
    );
    expect(await asking({ https_proxy: plain.url.replace('http:', 'https:') }, secure())).toMatchObject({
      error: { class: 'stop', message: expect.stringContaining('write http:// in https_proxy') },
    });
  });

  test('is reported with the proxy whose certificate is not trusted', async () => {
    await using proxy = await startProxy({ tls: true });
    expect(await tunnelled(proxy)).toMatchObject({
      error: {
        code: 'connection.certificate',
        class: 'stop',
        message: expect.stringContaining('of the proxy'),
      },
    });
    expect(proxy.asked).toEqual([]);
  });
});

describe('a host is reached directly', () => {
  const proxy = 'http://proxy.test:3128';
  const isDirect = (list: string, link: string): boolean =>
    proxiesOf({ http_proxy: proxy, https_proxy: proxy, no_proxy: list })(new URL(link)) === undefined;

  test.each([
    ['*', 'https://a.test/', true],
    ['a.test, *', 'https://b.test/', true],
    ['example.com', 'https://example.com/', true],
    ['example.com', 'https://api.example.com/', true],
    ['example.com', 'https://notexample.com/', false],
    ['.example.com', 'https://api.example.com/', true],
    ['.example.com', 'https://example.com/', true],
    ['*.example.com', 'https://a.b.example.com/', true],
    ['EXAMPLE.com.', 'https://api.Example.COM./', true],
    ['a.test b.test', 'http://b.test/', true],
    ['a.test:8080', 'http://a.test:8080/', true],
    ['a.test:8080', 'http://a.test/', false],
    ['a.test:443', 'https://a.test/', true],
    ['.a.test:80', 'http://b.a.test/', true],
    ['10.1.2.3', 'http://10.1.2.3/', true],
    ['10.1.2.3:81', 'http://10.1.2.3/', false],
    ['10.0.0.0/8', 'http://10.255.0.1:99/', true],
    ['10.0.0.0/8', 'http://11.0.0.1/', false],
    ['10.0.0.0/8', 'http://10.example.com/', false],
    ['::1', 'http://[::1]:80/', true],
    ['[::1]:90', 'http://[::1]:90/', true],
    ['[::1]', 'http://[::2]/', false],
    ['fd00::/8', 'http://[fd12:3456::1]/', true],
    ['127.0.0.0/8', 'http://[::ffff:127.0.0.1]/', true],
    ['fd00::/8', 'http://10.0.0.1/', false],
    ['localhost', 'http://127.0.0.1/', false],
    ['1.2.3.4', 'http://x1.2.3.4.test/', false],
    ['', 'http://a.test/', false],
    ['.', 'http://a.test/', false],
    [', ,', 'http://a.test/', false],
    ['[', 'http://a.test/', false],
    ['10.0.0.0/99', 'http://10.0.0.1/', false],
  ])('by the list %j: %s %s', (list, link, direct) => {
    expect(isDirect(list, link)).toBe(direct);
  });

  test.each<readonly [string, ProxyEnvironment, string, string | undefined]>([
    [
      'lower case wins',
      { http_proxy: 'http://a.test', HTTP_PROXY: 'http://b.test' },
      'http://x.test',
      'a.test:80',
    ],
    [
      'lower case wins though it is blank',
      { http_proxy: ' ', HTTP_PROXY: 'b.test' },
      'http://x.test',
      undefined,
    ],
    [
      'lower case wins for exceptions',
      { http_proxy: 'a.test', no_proxy: '', NO_PROXY: '*' },
      'http://x.test',
      'a.test:80',
    ],
    ['the scheme may lack', { HTTP_PROXY: 'a.test:3128' }, 'http://x.test', 'a.test:3128'],
    ['white space is no part', { http_proxy: ' http://a.test\n' }, 'http://x.test', 'a.test:80'],
    ['https has its own', { http_proxy: 'http://a.test' }, 'https://x.test', undefined],
    ['http has its own', { https_proxy: 'http://a.test' }, 'http://x.test', undefined],
    ['a proxy may speak TLS', { https_proxy: 'https://a.test' }, 'https://x.test', 'a.test:443'],
    ['a proxy may have an address of IPv6', { http_proxy: 'http://[::1]:8' }, 'http://x.test', '[::1]:8'],
  ])('by variables: %s', (_what, env, link, name) => {
    expect(proxiesOf(env)(new URL(link))?.name).toBe(name);
  });

  test.each(['http://user:hunter2@', 'socks5://user:hunter2@a.test'])(
    'but never by a value that is not an address, which is not shown',
    (value) => {
      expect(() => proxiesOf({ HTTP_PROXY: value })).toThrow(ProxyAddressError);
      expect(() => proxiesOf({ HTTP_PROXY: value })).toThrow(/^The value of HTTP_PROXY (?!.*hunter2)/);
    },
  );
});
