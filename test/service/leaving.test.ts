import { expect, test } from 'vitest';
import { createDispatcher } from '../../src/service/http/connect/dispatcher.ts';
import { namePresets } from '../../src/service/names.ts';
import { createTextService } from '../../src/service/text-client.ts';
import { closedPort, rawServer } from './raw-server.ts';
import { key, never, respondingWith, serviceWith } from './scripted-fetch.ts';

const accepted = JSON.stringify({ code: 1, result: '1700000000000001' });

test('every request reports once when its first byte leaves, before the service has it', async () => {
  const log: string[] = [];
  await using server = await rawServer((socket, head) => {
    log.push(`came ${head.slice(0, head.indexOf(' HTTP'))}`);
    socket.write(
      `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${accepted.length}\r\n\r\n${accepted}`,
    );
  });
  const dispatcher = createDispatcher({ connections: 4, connectMs: 5000 });
  const options = { baseUrl: server.url, dispatcher };
  const service = serviceWith(options);
  const text = createTextService({
    ...options,
    apiKey: key,
    names: namePresets.neutral,
    requestMs: 5000,
    textMs: 5000,
    firstByteMs: 5000,
    idleMs: 5000,
  });
  expect([service.tellsLeaving, text.tellsLeaving]).toEqual([true, true]);
  const onLeave = (): void => void log.push('left');
  const submission = { speed: 'relax', fields: { prompt: 'a fox' } } as const;
  await service.begin({ kind: 'imagine', ...submission }, never, onLeave);
  await service.action({ speed: 'relax', taskId: '1', customId: 'a' }, never, onLeave);
  await service.modal({ speed: 'relax', taskId: '1' }, never, onLeave);
  await service.begin({ kind: 'describe', images: [], ...submission }, never, onLeave);
  await service.fetchTask('1', never, onLeave);
  await service.fetchTasks(['1'], never, onLeave);
  await service.listTasks?.(never, onLeave);
  await text.ask(
    {
      kind: 'generate',
      fields: { model: 'text-pro', prompt: 'a' },
      stream: false,
      images: [],
      earlier: [],
      turns: [],
    },
    never,
    onLeave,
  );
  expect(log.map((line) => line.split(' ')[0]).join(' ')).toBe('left came '.repeat(8).trim());
  expect(new Set(log).size).toBe(9);
  await dispatcher.destroy();
});

test('a request that must not leave at its last moment sends nothing to the service', async () => {
  let came = 0;
  await using server = await rawServer((socket) => {
    came += 1;
    socket.end(`HTTP/1.1 200 OK\r\ncontent-length: ${accepted.length}\r\n\r\n${accepted}`);
  });
  const dispatcher = createDispatcher({ connections: 1, connectMs: 5000 });
  const service = serviceWith({ baseUrl: server.url, dispatcher });
  const submission = { speed: 'relax', fields: { prompt: 'a fox' } } as const;
  for (let i = 0; i < 2; i += 1)
    expect(await service.begin({ kind: 'imagine', ...submission }, never, () => false)).toMatchObject({
      ok: false,
      error: { code: 'connection.aborted', class: 'unsent' },
    });
  expect(came).toBe(0);
  // The next one finds a connection.
  await service.begin({ kind: 'imagine', ...submission }, never, () => true);
  expect(came).toBe(1);
  await dispatcher.destroy();
});

test('a request without a connection never reports that it left', async () => {
  const dispatcher = createDispatcher({ connectMs: 5000 });
  const service = serviceWith({ baseUrl: `http://127.0.0.1:${await closedPort()}`, dispatcher });
  let left = 0;
  const result = await service.fetchTask('1', never, () => {
    left += 1;
  });
  expect(result).toMatchObject({ ok: false, error: { class: 'unsent' } });
  expect(left).toBe(0);
  await dispatcher.destroy();
});

test('an injected fetch does not report when requests leave', () => {
  expect(respondingWith(200, accepted).tellsLeaving).toBe(false);
});
