import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';

import { Agent } from 'undici';
import { expect, onTestFinished, test } from 'vitest';

import { BodyPool } from '../../../src/service/http/body/budget.ts';
import { createDispatcher } from '../../../src/service/http/connect/dispatcher.ts';
import type { TextServiceOptions } from '../../../src/service/text-client.ts';
import type { TextService } from '../../../src/service/text-service.ts';
import { never } from '../scripted-fetch.ts';
import { event } from './streams.ts';
import { call, plainReply, textServiceWith } from './text-service.ts';

const MiB = 1024 * 1024;

/** A text service over HTTP; server and client are closed when the test ends. */
async function serviceAt(
  answer: (response: ServerResponse, request: IncomingMessage) => void,
  options: Partial<TextServiceOptions> = {},
): Promise<TextService> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => answer(response, request));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const service = textServiceWith({ baseUrl, ...options });
  onTestFinished(async () => {
    server.closeAllConnections();
    await service.close();
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
    });
  });
  return service;
}

const streamed = call({ prompt: 'a' }, { stream: true });
const sse = (text: string, more: object = {}): string =>
  `data: ${JSON.stringify(event([{ text }], more, { promptTokenCount: 2 }))}\r\n\r\n`;

test('reads a stream over HTTP, in pieces and compressed', async () => {
  const text = `${sse('Rødt ')}${sse('🦊', { finishReason: 'STOP' })}`;
  const service = await serviceAt((response, request) => {
    if (request.url?.includes('model-gzip') === true) {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' });
      response.end(gzipSync(text));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream', 'x-request-id': 'r-1' });
    for (const byte of Buffer.from(text)) response.write(Uint8Array.of(byte));
    response.end();
  });
  const value = { candidates: [{ text: 'Rødt 🦊', finishReason: 'STOP' }] };
  expect(await service.ask(streamed, never)).toMatchObject({
    ok: true,
    value: { ...value, requestId: 'r-1' },
  });
  const compressed = call({ model: 'model-gzip', prompt: 'a' }, { stream: true });
  expect(await service.ask(compressed, never)).toMatchObject({ ok: true, value });
});

test('repeats a stream whose connection breaks, and reports the usage', async () => {
  const service = await serviceAt((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(sse('a', { finishReason: 'STOP' }), () => response.destroy());
  });
  expect(await service.ask(streamed, never)).toMatchObject({
    ok: false,
    error: { code: 'connection.lost', class: 'retry', usage: { prompt: 2, total: 2 }, status: 200 },
  });
});

test.each([true, false])('gives up a bomb at the bound of a reply (stream: %s)', async (stream) => {
  const bodies = new BodyPool();
  const start = stream ? 'data: {"candidates":[],"x":"' : '{"candidates":[],"x":"';
  const bomb = gzipSync(Buffer.concat([Buffer.from(start), Buffer.alloc(64 * MiB, 'a')]));
  const service = await serviceAt(
    (response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      response.end(bomb);
    },
    { maxBodyBytes: 4 * MiB, bodies },
  );
  expect(await service.ask(call({ prompt: 'a' }, { stream }), never)).toMatchObject({
    ok: false,
    error: { code: 'response.too-large', class: 'retry' },
  });
  expect(bodies.most).toBeLessThanOrEqual(4 * MiB);
  expect(bodies.held).toBe(0);
});

test('replies that are read at the same time share one bound', async () => {
  const image = 'A'.repeat(MiB);
  const parts = [{ inlineData: { mimeType: 'image/png', data: image } }];
  const body = `data: ${JSON.stringify(event(parts, { finishReason: 'STOP' }))}\n\n`;
  const bodies = new BodyPool(2 * MiB);
  const service = await serviceAt(
    (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(body);
    },
    { bodies },
  );
  const results = await Promise.all(Array.from({ length: 12 }, () => service.ask(streamed, never)));
  expect(results.filter(({ ok }) => ok)).toHaveLength(12);
  expect(bodies.most).toBeGreaterThan(2 * MiB);
  // The bound, and one body that may go beyond it.
  expect(bodies.most).toBeLessThanOrEqual(4 * MiB);
  expect(bodies.held).toBe(0);
});

test('a call that never left can be repeated at once', async () => {
  const service = textServiceWith({ baseUrl: 'http://127.0.0.1:1' });
  expect(await service.ask(streamed, never)).toMatchObject({
    ok: false,
    error: { code: 'connection.refused', class: 'unsent' },
  });
  await service.close();
});

test('a connection is reused after a reply, and also after a broken one', async () => {
  const ports: unknown[] = [];
  const dispatcher = createDispatcher({ connections: 1, connectMs: 10_000 });
  onTestFinished(() => dispatcher.close());
  const service = await serviceAt(
    (response, request) => {
      ports.push(request.socket.remotePort);
      response.end(ports.length === 2 ? 'data: {"error":{"code":503}}\n\n' : JSON.stringify(plainReply));
    },
    { dispatcher },
  );
  const oks: boolean[] = [];
  for (let i = 0; i < 4; i++) oks.push((await service.ask(streamed, never)).ok);
  expect(oks).toEqual([true, false, true, true]);
  // Of the reply that was given up early, the rest is not waited for.
  expect(new Set([ports[0], ports[1]]).size).toBe(1);
  expect(new Set([ports[2], ports[3]]).size).toBe(1);
});

test('no time limit of the connection cuts off a model that thinks for long', async () => {
  const seen: unknown[] = [];
  const agent = new Agent();
  onTestFinished(() => agent.close());
  const dispatcher = agent.compose((dispatch) => (options, handler) => {
    seen.push([options.headersTimeout, options.bodyTimeout]);
    return dispatch(options, handler);
  });
  const service = await serviceAt((response) => response.end(JSON.stringify(plainReply)), { dispatcher });
  expect((await service.ask(call({ prompt: 'a' }), never)).ok).toBe(true);
  expect(seen).toEqual([[0, 0]]);
});
