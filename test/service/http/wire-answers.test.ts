import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';

import * as fc from 'fast-check';
import { Agent, type Dispatcher } from 'undici';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { ImageServiceOptions } from '../../../src/service/client.ts';
import { createDispatcher } from '../../../src/service/http/connect/dispatcher.ts';
import { connectionPool, ResponseHeads } from '../../../src/service/http/connect/pool.ts';
import type { ImageService } from '../../../src/service/image-service.ts';
import { Tally } from '../../rig/faults.ts';
import { type RawServer, rawServer } from '../raw-server.ts';
import { imagine, never, serviceWith } from '../scripted-fetch.ts';
import { call, plainReply, textServiceWith } from '../text/text-service.ts';

const taskId = '1700000000000001';
const accepted = JSON.stringify({ code: 1, result: taskId });
const whole = (body: string | Uint8Array, headers = ''): string =>
  `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n`;
const answer = whole(accepted) + accepted;

let dispatcher: Dispatcher;

beforeEach(() => {
  dispatcher = createDispatcher({ connections: 1, connectMs: 5000 });
});

afterEach(() => dispatcher.destroy());

const client = (server: RawServer, options: Partial<ImageServiceOptions> = {}): ImageService =>
  serviceWith({ baseUrl: server.url, dispatcher, ...options });

/** A server that gives these pieces as its response, each one when the machine has taken the one before. */
async function saying(...pieces: readonly (string | Uint8Array)[]): Promise<RawServer> {
  const server = await rawServer((socket) => {
    const next = (at: number): void => {
      const piece = pieces[at];
      if (piece !== undefined) socket.write(piece, () => setImmediate(next, at + 1));
    };
    next(0);
  });
  onTestFinished(() => server[Symbol.asyncDispose]());
  return server;
}

describe('informational responses before the response', () => {
  const early = 'HTTP/1.1 103 Early Hints\r\nlink: </style.css>; rel=preload\r\n\r\n';
  const processing = 'HTTP/1.1 102 Processing\r\n\r\n';
  const continueReading = 'HTTP/1.1 100 Continue\r\n\r\n';

  test.each([
    ['102', processing],
    ['103', early],
    ['100', continueReading],
    ['several', continueReading + processing + continueReading + early + processing],
    ['a status that nobody knows', 'HTTP/1.1 199 Whatever\r\nx: y\r\n\r\n'],
  ])('are skipped in one piece and byte by byte: %s', async (_, before) => {
    const atOnce = await saying(before + answer);
    const service = client(atOnce);
    for (let time = 0; time < 2; time += 1)
      expect(await imagine(service)).toMatchObject({ ok: true, value: { kind: 'accepted', taskId } });
    expect(atOnce.connections).toBe(1);
    const dripping = await saying(...Array.from(before + answer));
    expect(await imagine(client(dripping))).toMatchObject({ ok: true, value: { taskId } });
  });

  test('are skipped by a service with its own connections', async () => {
    const service = serviceWith({ baseUrl: (await saying(continueReading, early, answer)).url });
    expect(await imagine(service)).toMatchObject({ ok: true, value: { taskId } });
    await service.close();
  });

  test('are skipped through a proxy', async () => {
    const server = await saying(continueReading, processing, answer);
    const proxy = await saying(continueReading, processing, answer);
    const proxied = createDispatcher({ connections: 2, connectMs: 5000, env: { http_proxy: proxy.url } });
    expect(await imagine(client(server, { dispatcher: proxied }))).toMatchObject({ value: { taskId } });
    expect(proxy.heads).toHaveLength(1);
    await proxied.destroy();
  });

  test('are skipped before a stream, which is read as it comes', async () => {
    const body = `data: ${JSON.stringify(plainReply)}\n\n`;
    const server = await saying(early, processing, whole(body), ...Array.from(body));
    const text = textServiceWith({ baseUrl: server.url, dispatcher });
    expect(await text.ask(call({ prompt: 'a' }, { stream: true }), never)).toMatchObject({
      ok: true,
      value: { candidates: [{ text: 'yes' }] },
    });
  });

  test('are not found in the body of a response', async () => {
    const body = JSON.stringify({ code: 4, description: `${continueReading}x`, result: null });
    const server = await saying(
      `HTTP/1.1 200 OK\r\nx-100: HTTP/1.1 100\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    const said = await imagine(client(server));
    expect(said.ok && said.value.kind === 'refused' && said.value.message).toContain('HTTP/1.1 100 Continue');
  });

  test('are given up if they never end', async () => {
    const server = await saying(processing.repeat(1001), answer);
    expect(await imagine(client(server))).toMatchObject({
      error: { code: 'connection.lost', class: 'lost' },
    });
  });

  test.each(['connection: upgrade\r\nupgrade: websocket\r\n', ''])(
    'exclude a switch to another protocol (%j)',
    async (headers) => {
      const server = await saying(`HTTP/1.1 101 Switching Protocols\r\n${headers}\r\n`, answer);
      expect(await imagine(client(server))).toMatchObject({
        error: { code: 'connection.lost', class: 'lost' },
      });
      expect(await client(server).fetchTask(taskId, never)).toMatchObject({ error: { class: 'retry' } });
    },
  );
});

test('a 100 in heads becomes a 102 in any chunks, and nothing else changes', () => {
  const head = fc
    .tuple(
      fc.constantFrom(100, 102, 103, 199),
      fc.array(fc.constantFrom('x: HTTP/1.1 100', 'link: </a>', 'a: \r b'), { maxLength: 3 }),
      fc.constantFrom('\r\n', '\n'),
    )
    .map(([status, headers, end]) => [`HTTP/1.1 ${status} Go on`, ...headers, '', ''].join(end));
  const last = 'HTTP/1.1 200 OK\r\nx: 100\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n';
  fc.assert(
    fc.property(fc.array(head, { maxLength: 4 }), fc.array(fc.nat(40), { minLength: 1 }), (heads, sizes) => {
      const bytes = Buffer.from(heads.join('') + last);
      const reader = new ResponseHeads();
      reader.expect();
      for (let at = 0, n = 0; at < bytes.length; n += 1) {
        const size = 1 + (sizes[n % sizes.length] ?? 0);
        reader.rewrite(bytes.subarray(at, at + size));
        at += size;
      }
      const expected = heads.map((one) => one.replace(/^HTTP\/1.1 100/, 'HTTP/1.1 102')).join('');
      expect(bytes.toString()).toBe(expected + last);
    }),
  );
});

describe('content codings', () => {
  const coded = (body: Uint8Array, coding: string): Promise<RawServer> =>
    saying(whole(body, `content-encoding: ${coding}\r\n`), body);

  test.each([
    ['gzip', gzipSync(accepted)],
    ['X-GZIP', gzipSync(accepted)],
    ['deflate', deflateSync(accepted)],
    ['deflate', deflateRawSync(accepted)],
    ['br', brotliCompressSync(accepted)],
    ['identity', Buffer.from(accepted)],
    ['gzip, identity', gzipSync(accepted)],
    ['deflate, gzip, br', brotliCompressSync(gzipSync(deflateSync(accepted)))],
    ['gzip', gzipSync(accepted).subarray(0, -8)],
  ])('%s is decoded (%#)', async (coding, body) => {
    expect(await imagine(client(await coded(body, coding)))).toMatchObject({ ok: true, value: { taskId } });
  });

  test('are requested if they are supported', async () => {
    const server = await saying(answer);
    await imagine(client(server));
    expect(server.heads[0]).toMatch(/\r\naccept-encoding: gzip, deflate, br\r\n/);
  });

  test.each(['zstd', 'gzip, x-odd', 'constructor', Array(6).fill('gzip').join(', ')])(
    'without being requested (%j) make a response useless',
    async (coding) => {
      const server = await coded(gzipSync(accepted), coding);
      const service = client(server);
      expect(await imagine(service)).toMatchObject({
        error: { code: 'response.coding', class: 'lost', status: 200 },
      });
      expect(await service.fetchTask(taskId, never)).toMatchObject({
        error: { code: 'response.coding', class: 'retry' },
      });
    },
  );

  test('that do not match the body make a response useless, but the status still counts', async () => {
    expect(await imagine(client(await coded(Buffer.from(accepted), 'gzip')))).toMatchObject({
      error: { code: 'response.coding', class: 'lost' },
    });
    const refused = await saying('HTTP/1.1 401 No\r\ncontent-encoding: br\r\ncontent-length: 3\r\n\r\nabc');
    expect(await imagine(client(refused))).toMatchObject({ error: { code: 'service.unauthorized' } });
  });

  test('of an empty body are ignored', async () => {
    const server = await saying('HTTP/1.1 204 No Content\r\ncontent-encoding: gzip\r\n\r\n');
    expect(await imagine(client(server))).toMatchObject({
      error: { code: 'service.malformed', status: 204 },
    });
  });

  const MiB = 1024 * 1024;
  test.each([
    ['of one coding', gzipSync(Buffer.alloc(64 * MiB, ' ')), 'gzip'],
    ['of two', gzipSync(gzipSync(Buffer.alloc(256 * MiB, ' '))), 'gzip, gzip'],
    // Each member of the inner body decodes to nothing.
    [
      'that comes to nothing',
      gzipSync(Buffer.concat(Array<Buffer>(400_000).fill(gzipSync('')))),
      'gzip, gzip',
    ],
    ['of bare deflate', deflateRawSync(Buffer.alloc(64 * MiB, ' ')), 'deflate'],
  ])('of a bomb %s are given up at the bound', async (_, bomb, coding) => {
    expect(bomb.length).toBeLessThan(MiB);
    const server = await coded(bomb, coding);
    expect(await imagine(client(server, { maxBodyBytes: 2 * MiB }))).toMatchObject({
      error: { code: 'response.too-large', class: 'lost' },
    });
  });
});

/** Keeps idle connections for whatever is asked next, as ours are kept for polls alone. */
function keeping(): Agent {
  const agent = new Agent({ factory: connectionPool, connections: 1 });
  onTestFinished(() => agent.destroy());
  return agent;
}

describe('a reused connection', () => {
  /** Answers the first request of a connection, and lets the second one `end`. */
  const dying = async (end: 'end' | 'resetAndDestroy'): Promise<RawServer> => {
    const met = new Set<unknown>();
    const server = await rawServer((socket) => {
      if (met.has(socket)) socket[end]();
      else socket.write(answer);
      met.add(socket);
    });
    onTestFinished(() => server[Symbol.asyncDispose]());
    return server;
  };

  test.each(['end', 'resetAndDestroy'] as const)(
    'that closes as a submission arrives (%s) leaves it in doubt; a poll is repeated',
    async (end) => {
      const server = await dying(end);
      const service = client(server, { dispatcher: keeping() });
      expect((await imagine(service)).ok).toBe(true);
      expect(await imagine(service)).toMatchObject({ error: { code: 'connection.lost', class: 'lost' } });
      expect((await imagine(service)).ok).toBe(true);
      expect(await service.fetchTask(taskId, never)).toMatchObject({
        error: { code: 'connection.lost', class: 'retry' },
      });
      expect([server.connections, server.heads.length]).toEqual([2, 4]);
    },
  );

  test('that was closed before is replaced by a new one for the submission', async () => {
    const closed = new Tally();
    const server = await rawServer((socket) =>
      socket.end(answer, () => socket.on('close', () => closed.add())),
    );
    const service = client(server);
    expect((await imagine(service)).ok).toBe(true);
    await closed.reached(1);
    expect((await imagine(service)).ok).toBe(true);
    expect([server.connections, server.heads.length]).toEqual([2, 2]);
    await server[Symbol.asyncDispose]();
  });
});

test('the rest after a chunked body is skipped', async () => {
  const chunk = `${accepted.length.toString(16)}\r\n${accepted}\r\n`;
  const server = await saying(
    `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntrailer: x-sum\r\n\r\n${chunk}0\r\nx-sum: 1\r\n\r\n`,
  );
  const service = client(server, { dispatcher: keeping() });
  expect((await imagine(service)).ok).toBe(true);
  expect((await imagine(service)).ok).toBe(true);
  expect(server.connections).toBe(1);
});

test('a submission that is cancelled before it has a connection never leaves', async () => {
  const narrow = new Agent({ connections: 1 });
  onTestFinished(() => narrow.destroy());
  const waiting: (() => void)[] = [];
  const server = await rawServer((socket) => waiting.push(() => socket.write(answer)));
  onTestFinished(() => server[Symbol.asyncDispose]());
  const service = client(server, { dispatcher: narrow });
  const first = imagine(service);
  while (waiting.length === 0) await new Promise(setImmediate);
  const leave = new AbortController();
  const second = imagine(service, leave.signal);
  leave.abort();
  expect(await second).toMatchObject({ error: { code: 'connection.aborted', class: 'unsent' } });
  waiting[0]?.();
  expect((await first).ok).toBe(true);
  const third = imagine(service);
  while (waiting.length === 1) await new Promise(setImmediate);
  waiting[1]?.();
  expect((await third).ok).toBe(true);
  expect(server.heads).toHaveLength(2);
});
