import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { fetch as undiciFetch } from 'undici';

import { createImageService } from '../../src/service/client.ts';
import { createDispatcher } from '../../src/service/http/connect/dispatcher.ts';
import { namePresets } from '../../src/service/names.ts';
import { type Bench, microsecondsEach } from './comparison.ts';

const count = 2_000;
const atOnce = 16;

/** Looks at tasks on a server in this process, so that a half of the time is the server's. */
async function polls(how: 'dispatcher' | 'fetch'): Promise<number> {
  const body = JSON.stringify({ id: '1', status: 'IN_PROGRESS', progress: '15%' });
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(body);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const dispatcher = createDispatcher({ connections: atOnce, connectMs: 5_000 });
  const fetch = ((url: string, init: object) => undiciFetch(url, { ...init, dispatcher })) as unknown;
  const service = createImageService({
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    apiKey: 'key',
    names: namePresets.neutral,
    requestMs: 60_000,
    ...(how === 'fetch' ? { fetch: fetch as typeof globalThis.fetch } : { dispatcher }),
  });
  const { signal } = new AbortController();
  try {
    return await microsecondsEach(count, async () => {
      let left = count;
      const line = async (): Promise<void> => {
        while (left > 0) {
          left -= 1;
          const result = await service.fetchTask('1', signal);
          if (!result.ok) throw new Error(result.error.message);
        }
      };
      await Promise.all(Array.from({ length: atOnce }, line));
    });
  } finally {
    await dispatcher.destroy();
    server.close();
  }
}

export const http: Bench = {
  asks: 'what sending through the dispatcher saves over sending through fetch',
  prepare: () => ({
    unit: 'µs per request',
    left: { name: 'dispatcher', measure: () => polls('dispatcher') },
    right: { name: 'fetch', measure: () => polls('fetch') },
  }),
};
