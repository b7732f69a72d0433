import { gzipSync } from 'node:zlib';

import { expect, onTestFinished, test } from 'vitest';

import type { ImageServiceOptions } from '../../../src/service/client.ts';
import type { Timer } from '../../../src/service/http/timeout.ts';
import { Tally } from '../../rig/faults.ts';
import { rawServer } from '../raw-server.ts';
import { imagine, never, serviceWith } from '../scripted-fetch.ts';

const taskId = '1700000000000001';
const accepted = JSON.stringify({ code: 1, result: taskId });

/** A service that sends this to each request and leaves its connections open; `closed` counts those that we close. */
async function leftOpen(sent: string | Uint8Array, options: Partial<ImageServiceOptions> = {}) {
  const closed = new Tally();
  const server = await rawServer((socket) => {
    socket.on('close', () => closed.add());
    socket.write(sent);
  });
  const service = serviceWith({ baseUrl: server.url, ...options });
  onTestFinished(async () => {
    await server[Symbol.asyncDispose]();
    await service.close();
  });
  return { service, closed };
}

test.each(['', 'content-encoding: gzip\r\n'])(
  'does not wait for the body of a redirect, and closes its connection (%j)',
  async (header) => {
    const head = `HTTP/1.1 301 Moved\r\nlocation: /x\r\n${header}content-length: 99\r\n\r\n`;
    const { service, closed } = await leftOpen(head);
    expect(await service.fetchTask(taskId, never)).toMatchObject({ error: { code: 'service.redirect' } });
    await closed.reached(1);
  },
);

test('does not wait for a body in an unknown coding, and closes its connection', async () => {
  const { service, closed } = await leftOpen(
    'HTTP/1.1 200 OK\r\ncontent-encoding: zstd\r\ncontent-length: 99\r\n\r\nx',
  );
  expect(await service.fetchTask(taskId, never)).toMatchObject({ error: { code: 'response.coding' } });
  await closed.reached(1);
});

test('does not wait for a body that is too large, and closes its connection', async () => {
  const { service, closed } = await leftOpen(
    `HTTP/1.1 200 OK\r\ncontent-length: 99999\r\n\r\n${' '.repeat(5_000)}`,
    { maxBodyBytes: 1_000 },
  );
  expect(await service.fetchTask(taskId, never)).toMatchObject({ error: { code: 'response.too-large' } });
  await closed.reached(1);
});

test('counts every content coding, even in several header lines', async () => {
  const body = gzipSync(gzipSync(accepted));
  const lines = 'content-encoding: gzip\r\n'.repeat(2);
  const head = `HTTP/1.1 200 OK\r\n${lines}content-length: ${body.length}\r\n\r\n`;
  const { service } = await leftOpen(Buffer.concat([Buffer.from(head), body]));
  expect(await imagine(service)).toMatchObject({ ok: true, value: { taskId } });
});

test('skips a thousand informational answers before a response', async () => {
  const early = 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(1_000);
  const head = `HTTP/1.1 200 OK\r\ncontent-length: ${accepted.length}\r\n\r\n`;
  const { service } = await leftOpen(early + head + accepted);
  expect(await imagine(service)).toMatchObject({ ok: true, value: { taskId } });
});

test('reports the first reason that ends a request, and passes it to the transport', async () => {
  const pending = new Set<() => void>();
  const timer: Timer = (_ms, expire) => {
    pending.add(expire);
    return () => pending.delete(expire);
  };
  const asked = (): {
    readonly fail: () => void;
    readonly reason: () => unknown;
    readonly fetch: typeof fetch;
  } => {
    let fail = (): void => undefined;
    let given: AbortSignal | null | undefined;
    return {
      fail: () => fail(),
      reason: () => given?.reason,
      fetch: (_url, init) => {
        given = init?.signal;
        return new Promise((_resolve, reject) => {
          fail = () => reject(new Error('later'));
        });
      },
    };
  };
  const stop = new AbortController();
  const late = asked();
  const timedOut = imagine(serviceWith({ fetch: late.fetch, timer }), stop.signal);
  for (const expire of pending) expire();
  stop.abort(new Error('enough'));
  late.fail();
  expect(await timedOut).toMatchObject({ error: { code: 'connection.timeout' } });

  const left = new AbortController();
  const early = asked();
  const aborted = imagine(serviceWith({ fetch: early.fetch, timer }), left.signal);
  left.abort(new Error('enough'));
  for (const expire of pending) expire();
  early.fail();
  expect(await aborted).toMatchObject({
    error: { code: 'connection.aborted', cause: { message: 'enough' } },
  });
  expect(early.reason()).toEqual(new Error('enough'));
});
