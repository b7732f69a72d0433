import { MockAgent } from 'undici';
import { describe, expect, test } from 'vitest';
import { rawServer } from '../../raw-server.ts';
import { imagine, key, never, serviceWith } from '../../scripted-fetch.ts';
import { serveEach } from './served.ts';

const served = serveEach();
const { client } = served;

describe('against a real server', () => {
  test('imagine, fetch, click, fetch', async () => {
    const service = client();
    const submitted = await imagine(service);
    if (!submitted.ok || submitted.value.kind !== 'accepted') throw new Error('not accepted');
    const { taskId } = submitted.value;
    expect(await service.fetchTask(taskId, never)).toMatchObject({
      value: { state: 'unfinished', progress: 15, buttons: [] },
    });
    const grid = await service.fetchTask(taskId, never);
    if (!grid.ok) throw new Error('no grid');
    expect(grid.value).toMatchObject({ state: 'success', progress: 100 });
    expect(grid.value.imageUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/images\//);
    expect(grid.value.buttons.map((button) => button.label || button.emoji).join(' ')).toBe(
      'U1 U2 U3 U4 🔄 V1 V2 V3 V4',
    );
    const { customId = '' } = grid.value.buttons[0] ?? {};
    expect(await service.action({ taskId, customId, speed: 'fast' }, never)).toMatchObject({
      value: { kind: 'accepted' },
    });
    expect(served.gateway.submits.all[1]?.task).toMatchObject({ speed: 'fast', path: 'U1' });
  });

  test('ids of 17 digits survive as bare numbers in both directions', async () => {
    await using big = await rawServer((socket, head) => {
      const body = head.startsWith('POST')
        ? '{"code":1,"result":14001929738841621}'
        : '{"id":14001929738841621,"status":"MODAL"}';
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    });
    const service = client({ baseUrl: big.url });
    expect(await imagine(service)).toMatchObject({ value: { taskId: '14001929738841621' } });
    await service.fetchTask('14001929738841621', never);
    expect(big.heads[1]).toMatch(/^GET \/img\/task\/14001929738841621\/fetch /);
  });

  test('a redirect is never followed, so that the key goes nowhere else', async () => {
    await using elsewhere = await rawServer((socket) => {
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
    });
    served.gateway.fault('any', {
      status: 307,
      headers: { location: `${elsewhere.url}/img/submit/imagine` },
    });
    const service = client();
    expect(await imagine(service)).toMatchObject({ error: { code: 'service.redirect' } });
    expect(await service.fetchTask('1', never)).toMatchObject({ error: { code: 'service.redirect' } });
    expect(elsewhere.connections).toBe(0);
    expect(served.gateway.strayKeys).toBe(0);
  });

  test('the redirect of a wrong base address is not followed', async () => {
    const service = client({ baseUrl: `${served.gateway.url}/v1` });
    const result = await imagine(service);
    expect(result).toMatchObject({ error: { code: 'service.redirect', class: 'stop' } });
    expect(result.ok ? '' : result.error.message).toContain(`try ${served.gateway.url}.`);
    expect([served.gateway.count('unknown'), served.gateway.count('site')]).toEqual([1, 0]);
  });

  test('the key is sent exactly as it is', async () => {
    expect(await imagine(client({ apiKey: `${key}x` }))).toMatchObject({
      error: {
        code: 'service.unauthorized',
        class: 'stop',
        requestId: expect.stringMatching(/^20261101\d+$/),
      },
    });
    expect(served.gateway.tasks.size).toBe(0);
  });

  test.each([401, 407, 408, 421, 425, 429, 503])(
    'a request is sent once, even if the service answers %i',
    async (status) => {
      served.gateway.fault('any', { status, headers: { 'retry-after': '0', 'www-authenticate': 'Basic' } });
      const service = client();
      expect((await imagine(service)).ok).toBe(false);
      expect((await service.fetchTask('1', never)).ok).toBe(false);
      expect([served.gateway.count('imagine'), served.gateway.count('fetch')]).toEqual([1, 1]);
    },
  );

  test('one signal serves many requests without a warning about leaks', async () => {
    const warnings: Error[] = [];
    const note = (warning: Error): number => warnings.push(warning);
    process.on('warning', note);
    const { signal } = new AbortController();
    const service = client();
    const hang = served.gateway.fault('fetch', { hang: 'before' });
    const all = Array.from({ length: 40 }, () => service.fetchTask('1', signal));
    await hang.hit(4);
    hang.release();
    expect(await Promise.all(all)).toHaveLength(40);
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    process.off('warning', note);
    expect(warnings).toEqual([]);
  });

  test('closing the service leaves a given dispatcher open, and closes its own', async () => {
    const given = client();
    await given.close();
    expect((await imagine(given)).ok).toBe(true);
    const own = serviceWith({ baseUrl: served.gateway.url });
    expect((await imagine(own)).ok).toBe(true);
    await own.close();
    expect(await imagine(own)).toMatchObject({ ok: false, error: { class: 'unsent' } });
  });
});

test('a mock agent can stand in for the connections', async () => {
  const agent = new MockAgent();
  agent.disableNetConnect();
  const reply = { code: 1, result: '1700000000000003' };
  agent
    .get('https://api.example.com')
    .intercept({ method: 'POST', path: '/img/submit/imagine' })
    .reply(200, reply);
  expect(await imagine(serviceWith({ dispatcher: agent }))).toMatchObject({
    value: { taskId: '1700000000000003' },
  });
  await agent.close();
});
