import type { Socket } from 'node:net';
import { Agent, buildConnector, Dispatcher } from 'undici';
import { describe, expect, onTestFinished, test } from 'vitest';
import { connectionPool } from '../../../../src/service/http/connect/pool.ts';
import { BrokenConnection } from '../../../../src/service/http/connect/reading.ts';
import { openResponse } from '../../../../src/service/http/dispatch.ts';
import type { ImageService } from '../../../../src/service/image-service.ts';
import { saveLink } from '../../../artifacts/download/download-rig.ts';
import { openRig } from '../../../artifacts/store/s3/rig.ts';
import { startFramingServer } from '../../../rig/framing.ts';
import { imagine, never, serviceWith } from '../../scripted-fetch.ts';

const url = 'http://127.0.0.1:9';
const bug = new TypeError('client.connect is not a function');
const memory = new RangeError(
  'WebAssembly.instantiate(): Out of memory: Cannot allocate Wasm memory for new instance',
);

/** A dispatcher whose connections are made so. */
function agentOf(prepare: (socket: Socket) => void): Dispatcher {
  const connector = buildConnector({});
  const agent = new Agent({
    factory: connectionPool,
    connect: (target, done) =>
      connector(target, (...made) => {
        if (made[1]) prepare(made[1]);
        done(...made);
      }),
  });
  onTestFinished(() => agent.destroy());
  return agent;
}

/** A dispatcher on which every connection fails so. */
const failing = (error: Error): Dispatcher => {
  const agent = new Agent({ factory: connectionPool, connect: (_target, done) => done(error, null) });
  onTestFinished(() => agent.destroy());
  return agent;
};

function service(dispatcher: Dispatcher, baseUrl = url): ImageService {
  const made = serviceWith({ baseUrl, dispatcher });
  onTestFinished(() => made.close());
  return made;
}

describe('an error thrown by a listener of a connection', () => {
  test.each(['readable', 'end'])(
    'at "%s" ends the request of that connection, and no other',
    async (name) => {
      const body = Buffer.from(JSON.stringify({ code: 1, description: '', result: '1700000000000001' }));
      await using server = await startFramingServer(false, () => ({
        bytes: body,
        type: 'application/json',
        framing: 'no length',
      }));
      let connections = 0;
      const agent = agentOf((socket) => {
        connections += 1;
        if (connections > 1) return;
        socket.on(name, () => {
          throw bug;
        });
      });
      const asked = service(agent, server.url);
      expect(await imagine(asked)).toMatchObject({
        ok: false,
        error: { code: 'connection.lost', class: 'lost' },
      });
      expect(await imagine(asked)).toMatchObject({ ok: true });
    },
  );

  test('after a whole response does not change the response', async () => {
    const body = Buffer.from(JSON.stringify({ code: 1, description: '', result: '1700000000000001' }));
    await using server = await startFramingServer(false, () => ({
      bytes: body,
      type: 'application/json',
      framing: 'length, close',
    }));
    const agent = agentOf((socket) => {
      socket.on('close', () => {
        throw bug;
      });
    });
    const asked = service(agent, server.url);
    expect(await imagine(asked)).toMatchObject({ ok: true });
    expect(await imagine(asked)).toMatchObject({ ok: true });
  });

  test('when a request is cancelled is reported to the request, not to the canceller', async () => {
    class Breaking extends Dispatcher {
      override dispatch(_options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
        const abort = (): void => {
          throw bug;
        };
        handler.onRequestStart?.({ abort } as unknown as Dispatcher.DispatchController, undefined);
        return true;
      }
    }
    const stop = new AbortController();
    const opened = openResponse(new Breaking(), { method: 'GET', url, headers: {} }, { signal: stop.signal });
    stop.abort(new Error('enough'));
    await expect(opened).rejects.toBeInstanceOf(BrokenConnection);
  });
});

describe('an error without a code of the network is not a network failure', () => {
  test.each([bug, memory, Object.assign(new Error('bad header'), { code: 'UND_ERR_INVALID_ARG' })])(
    '%s',
    async (error) => {
      await expect(imagine(service(failing(error)))).rejects.toBe(error);
      await expect(service(failing(error)).fetchTask('1', never)).rejects.toBe(error);
      await expect(saveLink(`${url}/a.png`, { dispatcher: failing(error), baseUrl: url })).rejects.toBe(
        error,
      );
      const { client, clock } = await openRig({}, { dispatcher: failing(error) });
      await expect(client.ask({ method: 'GET', name: 'a', doing: 'read a' })).rejects.toBe(error);
      expect(clock.waits).toEqual([]);
    },
  );

  test('a bug of ours when a request leaves is not a network failure', async () => {
    await using server = await startFramingServer(false, () => ({
      bytes: Buffer.from('{}'),
      type: 'application/json',
      framing: 'length',
    }));
    const agent = agentOf(() => undefined);
    const opened = openResponse(
      agent,
      { method: 'GET', url: server.url, headers: {} },
      {
        signal: never,
        onStart: () => {
          throw bug;
        },
      },
    );
    await expect(opened).rejects.toBe(bug);
  });
});
