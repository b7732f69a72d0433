import { once } from 'node:events';
import { connect, type LookupFunction } from 'node:net';
import { Worker } from 'node:worker_threads';
import { Agent } from 'undici';
import { describe, expect, onTestFinished, test } from 'vitest';
import { connectionPool } from '../../../../src/service/http/connect/pool.ts';
import { closedPort } from '../../raw-server.ts';
import { imagine, serviceWith } from '../../scripted-fetch.ts';

/** A host of these addresses, at one port. */
async function ask(addresses: readonly string[], port: number, timeout: number) {
  const lookup: LookupFunction = (_host, _options, answer) =>
    answer(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  const dispatcher = new Agent({ factory: connectionPool, connect: { lookup, timeout } });
  onTestFinished(() => dispatcher.destroy());
  return await imagine(serviceWith({ baseUrl: `http://many.test:${port}`, dispatcher }));
}

/** An address that lets nobody in until `admit`: its queue is full, and the kernel drops what else comes. */
async function silentAt(address: string, port = 0): Promise<{ readonly port: number; admit(): void }> {
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(
    `const { parentPort, workerData: { address, port, gate } } = require('node:worker_threads');
    const server = require('node:net').createServer((socket) => {
      socket.on('error', () => {}).on('data', () => {
        const body = '{"code":1,"result":"1700000000000001"}';
        socket.end('HTTP/1.1 200 OK\\r\\ncontent-length: ' + body.length + '\\r\\n\\r\\n' + body);
      });
    }).listen({ host: address, port, backlog: 1 }, () => {
      parentPort.postMessage(server.address().port);
      Atomics.wait(gate, 0, 0);
    });`,
    { eval: true, workerData: { address, port, gate } },
  );
  const [at] = (await once(worker, 'message')) as [number];
  const fillers = [1, 2].map(() => connect(at, address).on('error', () => undefined));
  await Promise.all(fillers.map((filler) => once(filler, 'connect')));
  onTestFinished(async () => {
    for (const filler of fillers) filler.destroy();
    await worker.terminate();
  });
  const admit = (): void => {
    Atomics.store(gate, 0, 1);
    Atomics.notify(gate, 0);
  };
  return { port: at, admit };
}

// The kernels of other systems keep more in a queue than they are told.
describe.runIf(process.platform === 'linux')('a host with a silent address', () => {
  test('is reached at an address that takes longer to connect than Node waits by default', async () => {
    const slow = await silentAt('127.0.0.1');
    await silentAt('127.0.0.2', slow.port);
    const asked = ask(['127.0.0.1', '127.0.0.2'], slow.port, 10_000);
    // The kernel asks again after a second.
    slow.admit();
    expect(await asked).toMatchObject({ value: { taskId: '1700000000000001' } });
  });

  test('is reached at another address within a short limit', async () => {
    const silent = await silentAt('127.0.0.1');
    const live = await silentAt('127.0.0.2', silent.port);
    live.admit();
    expect(await ask(['127.0.0.1', '127.0.0.2'], silent.port, 5000)).toMatchObject({ ok: true });
  });

  test('is given up with a list of the tried addresses', async () => {
    const { port } = await silentAt('127.0.0.1');
    await silentAt('127.0.0.2', port);
    expect(await ask(['127.0.0.1', '127.0.0.2'], port, 60)).toMatchObject({
      error: {
        code: 'connection.timeout',
        class: 'unsent',
        message: expect.stringContaining(
          `no connection within 0.06 s, tried 127.0.0.1:${port}, 127.0.0.2:${port}. Nothing was sent.`,
        ),
      },
    });
  });
});

test('a host whose addresses all refuse is reported with its addresses', async () => {
  const port = await closedPort();
  expect(await ask(['127.0.0.1', '127.0.0.2'], port, 5000)).toMatchObject({
    error: {
      code: 'connection.refused',
      class: 'unsent',
      message: expect.stringContaining(
        `was refused (ECONNREFUSED, tried 127.0.0.1:${port}, 127.0.0.2:${port})`,
      ),
    },
  });
});

test('a silent name server is named as the cause', async () => {
  const dispatcher = new Agent({
    factory: connectionPool,
    connect: { lookup: () => undefined, timeout: 30 },
  });
  expect(await imagine(serviceWith({ baseUrl: 'http://many.test', dispatcher }))).toMatchObject({
    error: {
      code: 'connection.dns',
      class: 'unsent',
      message: expect.stringContaining('no name server has answered for many.test within 0.03 s'),
    },
  });
  await dispatcher.destroy();
});
