import { createServer as createHttp2Server, type Http2Server } from 'node:http2';
import { type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ImageServiceOptions } from '../../../src/service/client.ts';
import { createDispatcher } from '../../../src/service/http/connect/dispatcher.ts';
import type { Timer } from '../../../src/service/http/timeout.ts';
import { certificates } from '../../rig/certificates.ts';
import { rawServer } from '../raw-server.ts';
import { imagine, never, serviceWith } from '../scripted-fetch.ts';
import { call, textServiceWith } from '../text/text-service.ts';

/** Rests end at once, bounds never. */
function quickTimer(): { readonly timer: Timer; readonly rests: number[] } {
  const rests: number[] = [];
  const timer: Timer = (ms, expire) => {
    if (ms !== 5_000 || rests.length >= 100) return () => undefined;
    rests.push(ms);
    const immediate = setImmediate(expire);
    return () => clearImmediate(immediate);
  };
  return { timer, rests };
}

const connected = (): Pick<ImageServiceOptions, 'dispatcher'> => {
  const dispatcher = createDispatcher({ connectMs: 5000 });
  onTestFinished(() => dispatcher.destroy());
  return { dispatcher };
};

async function listening(server: Server | Http2Server, scheme = 'http'): Promise<string> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const protocol = (words: string | RegExp) => ({
  ok: false,
  error: { code: 'connection.protocol', class: 'stop', message: expect.stringMatching(words) },
});

describe('a request over http to a port', () => {
  test('that speaks TLS is reported after three free requests, and nothing is in doubt', async () => {
    const { timer, rests } = quickTimer();
    const tls = createTlsServer({ key: certificates.key, cert: certificates.good });
    const result = await imagine(serviceWith({ baseUrl: await listening(tls), timer, ...connected() }));
    expect(result).toMatchObject(protocol(/this port seems to speak TLS: write https:\/\/\.$/));
    expect(result).not.toHaveProperty('error.mayBeDone');
    expect(rests.length).toBeGreaterThanOrEqual(2);
  });

  test('that speaks only HTTP/2 is reported at once', async () => {
    const { timer, rests } = quickTimer();
    const baseUrl = await listening(createHttp2Server());
    const result = await imagine(serviceWith({ baseUrl, timer, ...connected() }));
    expect(result).toMatchObject(protocol(/speaks only HTTP\/2/));
    expect(result).not.toHaveProperty('error.mayBeDone');
    expect(rests).toEqual([]);
  });

  test('that speaks TLS and answers with an alert is reported at once', async () => {
    await using port = await rawServer((socket) => socket.end(Buffer.from('15030300020246', 'hex')));
    const result = await imagine(serviceWith({ baseUrl: port.url, ...connected() }));
    expect(result).toMatchObject(protocol(/this port speaks TLS: write https/));
    expect(port.heads).toHaveLength(1);
  });

  test.each([
    ['nginx', '<html><head><title>400 The plain HTTP request was sent to HTTPS port</title></head></html>'],
    ['Go', 'Client sent an HTTP request to an HTTPS server.\n'],
    ['Tomcat', 'Bad Request\r\nThis combination of host and port requires TLS.\r\n'],
  ])('that speaks TLS and says so in HTTP, as %s does, is reported at once', async (_who, body) => {
    await using port = await rawServer((socket) =>
      socket.end(`HTTP/1.0 400 Bad Request\r\ncontent-length: ${body.length}\r\n\r\n${body}`),
    );
    const service = serviceWith({ baseUrl: port.url, ...connected() });
    expect(await imagine(service)).toMatchObject({
      error: { ...protocol(/write https/).error, about: 'address' },
    });
    expect(await service.fetchTask('1', never)).toMatchObject(protocol(/write https/));
  });

  test.each<readonly [string, (socket: Socket) => void]>([
    ['resets', (socket) => socket.resetAndDestroy()],
    ['closes', (socket) => socket.end()],
    ['says something else', (socket) => socket.end('550 go away\r\n')],
  ])('that %s ends the run, with one submission in doubt', async (_what, act) => {
    const { timer, rests } = quickTimer();
    await using port = await rawServer(act);
    const result = await imagine(serviceWith({ baseUrl: port.url, timer, ...connected() }));
    expect(result).toMatchObject(
      protocol(/has never answered in HTTP: check the host and the port.*may have carried/),
    );
    expect(result).toMatchObject({ error: { mayBeDone: true } });
    // The rests; the bounds of the requests are the other ones.
    expect(rests.length).toBeGreaterThanOrEqual(2);
    expect(port.heads.map((head) => head.slice(0, 6))).toEqual(['POST /', 'GET / ', 'GET / ', 'GET / ']);
    expect(port.heads.slice(1).join('')).not.toContain('authorization');
  });

  test('is checked once for all requests', async () => {
    const { timer } = quickTimer();
    await using port = await rawServer((socket) => socket.resetAndDestroy());
    const service = textServiceWith({ baseUrl: port.url, timer, ...connected() });
    const all = await Promise.all([1, 2, 3, 4].map(() => service.ask(call({ prompt: 'a' }), never)));
    for (const result of all)
      expect(result).toMatchObject({ error: { code: 'connection.protocol', class: 'stop' } });
    expect(port.heads.filter((head) => head.startsWith('GET')).length).toBeLessThanOrEqual(6);
  });
});

describe('a port that speaks HTTP', () => {
  const ok = 'HTTP/1.1 404 Not Found\r\ncontent-length: 2\r\n\r\n{}';

  test.each([1, 2, 3])('and broke off %i times leaves its submission in doubt', async (times) => {
    const { timer } = quickTimer();
    let asked = 0;
    await using port = await rawServer((socket) => {
      asked += 1;
      if (asked <= times) socket.resetAndDestroy();
      else socket.end(ok);
    });
    expect(await imagine(serviceWith({ baseUrl: port.url, timer, ...connected() }))).toMatchObject({
      error: { code: 'connection.lost', class: 'lost' },
    });
    expect(port.heads).toHaveLength(times + 1);
  });

  test('and has done so before is not checked again', async () => {
    let asked = 0;
    await using port = await rawServer((socket) => {
      asked += 1;
      if (asked > 1) socket.resetAndDestroy();
      else socket.end(ok);
    });
    const service = serviceWith({ baseUrl: port.url, ...connected() });
    await service.fetchTask('1', never);
    expect(await imagine(service)).toMatchObject({ error: { code: 'connection.lost', class: 'lost' } });
    expect(port.heads).toHaveLength(2);
  });

  test('is no longer waited for once the run ends', async () => {
    const stop = new AbortController();
    await using port = await rawServer((socket, head) => {
      socket.resetAndDestroy();
      if (head.startsWith('GET')) stop.abort();
    });
    const result = await imagine(serviceWith({ baseUrl: port.url, ...connected() }), stop.signal);
    expect(result).toMatchObject({ error: { code: 'connection.lost', class: 'lost' } });
  });
});

describe('a request over https to a port that breaks off', () => {
  const atPort = async (plain: string | undefined) => {
    const port = await rawServer(
      (socket) => (plain === undefined ? socket.destroy() : socket.end(plain)),
      (socket) =>
        socket.once('data', (chunk: Buffer) => {
          // The first byte of a handshake.
          if (chunk[0] === 0x16) socket.destroy();
        }),
    );
    onTestFinished(() => port[Symbol.asyncDispose]());
    const baseUrl = port.url.replace('http:', 'https:');
    return imagine(serviceWith({ baseUrl, ...connected() }));
  };

  test('and answers plain requests is reported', async () => {
    expect(await atPort('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n')).toMatchObject(
      protocol(/speaks plain HTTP: try http:\/\/\.$/),
    );
  });

  test.each([undefined, 'HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n'])(
    'and does not (%j) is retried, because nothing was sent',
    async (plain) => {
      expect(await atPort(plain)).toMatchObject({ error: { code: 'connection.refused', class: 'unsent' } });
    },
  );
});
