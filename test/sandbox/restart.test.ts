import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { type Client, Clock, key, start } from './client.ts';
import { dataUri, maskOf, plain } from './pixels.ts';

let folder: string;
let open: Client[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sandbox-'));
});
afterEach(async () => {
  for (const client of open) await client.sandbox.close();
  open = [];
  rmSync(folder, { recursive: true, force: true });
});

async function opened(clock: Clock, settings: object = {}): Promise<Client> {
  const client = await start({ state: folder, settings: { spread: 0, ...settings } }, clock);
  open.push(client);
  return client;
}

async function closed(client: Client): Promise<void> {
  open = open.filter((each) => each !== client);
  await client.sandbox.close();
}

test('a restarted sandbox continues by the clock, with links for its new port', async () => {
  const clock = new Clock();
  const first = await opened(clock);
  const done = await first.finished('a fox, ink');
  const before = await first.task(done);
  const picture = Buffer.from(await (await fetch(before.imageUrl)).arrayBuffer());
  const { body } = await first.imagine('an owl', '/img-fast');
  clock.time += 700;
  const working = await first.task(body.result);
  await closed(first);

  const second = await opened(clock);
  expect(second.sandbox.url).not.toBe(first.sandbox.url);
  const again = await second.task(body.result);
  expect({ ...again, imageUrl: '' }).toEqual({ ...working, imageUrl: '' });
  clock.time += 500;
  expect((await second.task(body.result)).status).toBe('SUCCESS');

  const after = await second.task(done);
  expect(after.buttons).toEqual(before.buttons);
  expect(new URL(after.imageUrl).origin).toBe(second.sandbox.url);
  expect(Buffer.from(await (await fetch(after.imageUrl)).arrayBuffer()).equals(picture)).toBe(true);
  expect((await second.action(done, after.buttons[0].customId)).body.code).toBe(1);
  expect(BigInt((await second.imagine('a lynx')).body.result)).toBeGreaterThan(BigInt(body.result));
});

test.each(['new', 'same'] as const)(
  'a waiting modal is confirmed after a restart, and its images are still there: %s',
  async (modalTask) => {
    const clock = new Clock();
    const first = await opened(clock, { modalTask });
    const parent = await first.press(await first.finished('a fox'), 'U1');
    const maskBase64 = dataUri(await maskOf('<circle cx="30" cy="30" r="20"/>', 'white'));
    const taskId = (await first.click(parent, 'Vary (Region)')).body.result;
    await closed(first);

    const second = await opened(clock, { modalTask });
    expect((await second.task(taskId)).status).toBe('MODAL');
    const { body } = await second.submit('modal', { taskId, prompt: 'an owl', maskBase64 });
    const blend = await second.submit('blend', {
      base64Array: [maskBase64, dataUri(await plain('#aa3311'))],
    });
    await closed(second);

    const third = await opened(clock, { modalTask });
    expect((await third.submit('modal', { taskId, prompt: 'an owl', maskBase64 })).body.code).toBe(4);
    third.wait();
    const ids = [body.result, taskId, blend.body.result];
    const pictures: Buffer[] = [];
    for (const id of ids) pictures.push(await third.picture(id));
    await closed(third);

    const fourth = await opened(clock, { modalTask });
    for (const [index, id] of ids.entries()) {
      expect((await fourth.picture(id)).equals(pictures[index] ?? Buffer.alloc(0))).toBe(true);
    }
  },
);

test('a restarted sandbox knows its queue and what was submitted before', async () => {
  const clock = new Clock();
  const first = await opened(clock, { concurrency: 1, queue: 1 });
  await first.imagine('a fox [broken]');
  expect((await first.imagine('an owl')).body.code).toBe(1);
  expect((await first.imagine('a cat')).body.code).toBe(23);
  await closed(first);
  const second = await opened(clock, { concurrency: 1, queue: 1 });
  expect((await second.imagine('a cat')).body.code).toBe(23);
  clock.time += 60_000;
  const { body } = await second.imagine('a fox [broken]');
  clock.time += 60_000;
  expect((await second.task(body.result)).status).toBe('SUCCESS');
});

test('a state folder serves one sandbox at a time', async () => {
  await opened(new Clock());
  await expect(startSandbox({ apiKey: key, state: folder })).rejects.toThrow(/another sandbox holds it/);
});

test('a new sandbox knows the responses of the killed one', async () => {
  const script = `
    import { startSandbox } from ${JSON.stringify(new URL('../../src/sandbox/sandbox.ts', import.meta.url).href)};
    const sandbox = await startSandbox({ apiKey: ${JSON.stringify(key)}, state: ${JSON.stringify(folder)}, settings: { queue: 1000 } });
    console.log(sandbox.url);
  `;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [url] = (await once(createInterface(child.stdout), 'line')) as [string];
  const ids: string[] = [];
  for (let index = 0; index < 20; index += 1) {
    const response = await fetch(`${url}/img/submit/imagine`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({ botType: 'IMG_JOURNEY', prompt: `fox ${index}` }),
    });
    ids.push(((await response.json()) as { result: string }).result);
  }
  child.kill('SIGKILL');
  await once(child, 'exit');

  const clock = new Clock();
  clock.time = Date.now() + 3_600_000;
  const client = await opened(clock);
  for (const id of ids) expect((await client.task(id)).status).toBe('SUCCESS');
});
