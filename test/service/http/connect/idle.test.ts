import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createDispatcher } from '../../../../src/service/http/connect/dispatcher.ts';
import { type RawServer, rawServer } from '../../raw-server.ts';
import { imagine, never, serviceWith } from '../../scripted-fetch.ts';

/** A server that never closes a connection by itself, and promises to keep each for a minute. */
let server: RawServer;
/** Methods of the requests of each connection, in the order in which the connections came. */
let asked: string[][];
let sockets: Socket[];

const accepted = JSON.stringify({ code: 1, result: '1700000000000001' });

beforeEach(async () => {
  [asked, sockets] = [[], []];
  server = await rawServer(
    (socket, head) => {
      asked[sockets.indexOf(socket)]?.push(head.slice(0, head.indexOf(' ')));
      socket.write(
        `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nkeep-alive: timeout=60\r\ncontent-length: ${accepted.length}\r\n\r\n${accepted}`,
      );
    },
    (socket) => {
      sockets.push(socket);
      asked.push([]);
    },
  );
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
});

const closed = (socket: Socket | undefined): Promise<void> =>
  new Promise((resolve) => {
    if (socket === undefined || socket.closed) resolve();
    else socket.once('close', () => resolve());
  });

describe('a connection that is idle', () => {
  test('is closed before a server would close it, if a paid request may be sent on it', async () => {
    const dispatcher = createDispatcher({ connections: 4, connectMs: 5000 });
    const service = serviceWith({ baseUrl: server.url, dispatcher });
    await service.fetchTask('1', never);
    // The connection of the poll may be about to end: the submission has one of its own.
    expect((await imagine(service)).ok).toBe(true);
    expect(asked).toEqual([['GET'], ['POST']]);
    // By us alone, whatever the server has promised; that of the poll stays.
    await closed(sockets[1]);
    expect(sockets[0]?.closed).toBe(false);
    await service.fetchTask('1', never);
    expect((await imagine(service)).ok).toBe(true);
    expect(asked).toEqual([['GET', 'GET'], ['POST'], ['POST']]);
    await dispatcher.destroy();
    await Promise.all(sockets.map(closed));
  });

  test('is used at once by waiting submissions, one after the other', async () => {
    const dispatcher = createDispatcher({ connections: 1, connectMs: 5000 });
    const service = serviceWith({ baseUrl: server.url, dispatcher });
    const submitted = await Promise.all([1, 2, 3].map(() => imagine(service)));
    expect(submitted.map(({ ok }) => ok)).toEqual([true, true, true]);
    expect(asked).toEqual([['POST', 'POST', 'POST']]);
    await dispatcher.close();
    await Promise.all(sockets.map(closed));
  });

  test('is closed with a service that has its own dispatcher', async () => {
    const service = serviceWith({ baseUrl: server.url });
    await service.fetchTask('1', never);
    expect((await imagine(service)).ok).toBe(true);
    expect(asked).toEqual([['GET'], ['POST']]);
    await service.close();
    await Promise.all(sockets.map(closed));
  });
});
