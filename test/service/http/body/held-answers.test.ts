import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { expect, onTestFinished, test } from 'vitest';
import type { ImageServiceOptions } from '../../../../src/service/client.ts';
import { BodyPool } from '../../../../src/service/http/body/budget.ts';
import type { Timer } from '../../../../src/service/http/timeout.ts';
import { imagine, never, serviceWith } from '../../scripted-fetch.ts';

const KiB = 1024;
const MiB = 1024 * KiB;
const accepted = JSON.stringify({ code: 1, description: '', result: '1700000000000001' });

/** An accepted submission of so many bytes, nearly all of them white space. */
const padded = (bytes: number): Buffer => Buffer.alloc(bytes, ' ').fill(accepted, 0, accepted.length);

/** A server on 127.0.0.1, closed with everything that is open when the test ends. */
async function serverWith(answer: (response: ServerResponse) => void): Promise<string> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => answer(response));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
    });
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('32 responses just under the limit, all sent at once, are all read, and at most the bound and one of them are held', async () => {
  const cap = 2 * MiB;
  const body = padded(cap - 1);
  const half = cap / 2;
  const begun: ServerResponse[] = [];
  const baseUrl = await serverWith((response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write(body.subarray(0, half));
    begun.push(response);
  });
  const bodies = new BodyPool(4 * MiB);
  const service = serviceWith({ baseUrl, bodies, maxBodyBytes: cap });
  // Until an address has answered, its submissions go one at a time.
  const first = service.fetchTask('1', never);
  while (begun.length === 0) await new Promise(setImmediate);
  begun.pop()?.end(body.subarray(half));
  await first;
  const answers = Promise.all(Array.from({ length: 32 }, () => imagine(service)));
  // No response can be read to its end before the bound is passed: each of them stops at its half until then.
  while (begun.length < 32 || bodies.waiting === 0) await new Promise(setImmediate);
  for (const response of begun) response.end(body.subarray(half));
  const results = await answers;
  expect(results.filter(({ ok }) => ok)).toHaveLength(32);
  expect(bodies.most).toBeGreaterThan(4 * MiB);
  expect(bodies.most).toBeLessThanOrEqual(6 * MiB);
  expect(bodies.held).toBe(0);
  await service.close();
});

test('past the bound the service cannot send: the rest stays at the service', async () => {
  const chunk = Buffer.alloc(64 * KiB, ' ');
  let written = 0;
  const baseUrl = await serverWith((response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const more = (): void => {
      while (written < 64 * MiB) {
        written += chunk.length;
        if (!response.write(chunk)) break;
      }
      response.once('drain', more);
    };
    more();
  });
  const bodies = new BodyPool(1 * MiB);
  // Somebody else has the pass and does not let go of it.
  const other = bodies.open(never);
  void other.take(2 * MiB);
  const service = serviceWith({ baseUrl, bodies, maxBodyBytes: 64 * MiB });
  const stop = new AbortController();
  const waiting = imagine(service, stop.signal);
  while (bodies.waiting === 0) await new Promise(setImmediate);
  // The server goes on while it can; the machine's own buffers fill up, and it comes to rest.
  let before = 0;
  while (written !== before) {
    before = written;
    for (let turn = 0; turn < 200; turn++) await new Promise(setImmediate);
  }
  expect(written).toBeLessThan(32 * MiB);
  expect(bodies.held).toBe(2 * MiB - 64 * KiB);
  stop.abort(new Error('enough'));
  expect(await waiting).toMatchObject({ ok: false, error: { code: 'connection.aborted', class: 'lost' } });
  other.release();
  expect(bodies.held).toBe(0);
  await service.close();
});

/** One response in two chunks, of which the second has to wait until `other` has read its own; time is the test's. */
function waitingForRoom(options: Partial<ImageServiceOptions> = {}) {
  const bodies = new BodyPool(0);
  const other = bodies.open(never);
  void other.take(128 * KiB);
  let now = 1000;
  const set: number[] = [];
  const pending = new Set<() => void>();
  const timer: Timer = (ms, expire) => {
    set.push(ms);
    pending.add(expire);
    return () => pending.delete(expire);
  };
  const isWaiting = async (): Promise<void> => {
    while (bodies.waiting === 0) await new Promise(setImmediate);
  };
  const text = padded(100 * KiB);
  const service = serviceWith({
    bodies,
    timer,
    elapsed: () => now,
    requestMs: 60_000,
    fetch: () => {
      now += 20_000;
      return Promise.resolve(
        new Response(
          new ReadableStream({
            start: (controller) => {
              controller.enqueue(text.subarray(0, 64 * KiB));
              controller.enqueue(text.subarray(64 * KiB));
              controller.close();
            },
          }),
        ),
      );
    },
    ...options,
  });
  return {
    bodies,
    other,
    set,
    pending,
    isWaiting,
    service,
    pass: (ms: number) => {
      now += ms;
    },
  };
}

test('waiting for room does not count as time of the request', async () => {
  const { other, set, pending, isWaiting, service, pass } = waitingForRoom();
  const result = imagine(service);
  await isWaiting();
  expect([set, pending.size]).toEqual([[60_000], 0]);
  pass(3_600_000);
  other.release();
  expect((await result).ok).toBe(true);
  expect([set, pending.size]).toEqual([[60_000, 40_000], 0]);
});

test('a wait for room ends with the run, and releases its bytes only once', async () => {
  const stop = new AbortController();
  const { bodies, other, pending, isWaiting, service } = waitingForRoom();
  const result = service.fetchTask('1700000000000001', stop.signal);
  await isWaiting();
  stop.abort(new Error('enough'));
  expect(await result).toMatchObject({ ok: false, error: { code: 'connection.aborted', class: 'retry' } });
  expect([bodies.held, pending.size]).toEqual([64 * KiB, 0]);
  other.release();
  expect(bodies.held).toBe(0);
});
