import { afterEach, expect, test } from 'vitest';
import { defaultSettings } from '../../../src/sandbox/settings.ts';
import { type Client, start } from '../client.ts';

let client: Client;
afterEach(() => client.sandbox.close());

test('only the clock moves a task through its states', async () => {
  client = await start({ settings: { spread: 0 } });
  const { status, body } = await client.imagine('a fox', '/img-fast');
  expect(status).toBe(200);
  expect(body).toEqual({
    code: 1,
    description: 'Submit success',
    result: expect.stringMatching(/^\d{16}$/),
    properties: {},
  });
  const submitted = client.clock.time;
  const seen: [number, string, string][] = [];
  for (let at = 0; at <= 1200; at += 40) {
    client.clock.time = submitted + at;
    const task = await client.task(body.result);
    const last = seen.at(-1);
    if (last?.[1] !== task.status || last?.[2] !== task.progress) seen.push([at, task.status, task.progress]);
    expect(task.buttons.length).toBe(task.status === 'SUCCESS' ? 9 : 0);
  }
  expect(seen.map(([, status, progress]) => `${status} ${progress}`)).toEqual([
    'NOT_START ',
    'SUBMITTED 0%',
    'IN_PROGRESS 0%',
    'IN_PROGRESS 15%',
    'IN_PROGRESS 31%',
    'IN_PROGRESS 46%',
    'IN_PROGRESS 62%',
    'IN_PROGRESS 78%',
    'IN_PROGRESS 93%',
    'SUCCESS 100%',
  ]);
  expect(seen.at(-1)?.[0]).toBe(1200);
  const task = await client.task(body.result);
  expect(task).toMatchObject({
    id: body.result,
    action: 'IMAGINE',
    prompt: 'a fox',
    submitTime: submitted,
    startTime: submitted,
    finishTime: submitted + 1200,
    failReason: '',
  });
});

test('the path prefix decides how long a task works', async () => {
  client = await start({ settings: { spread: 0 } });
  const { relax, fast, turbo } = defaultSettings.durations.imagine;
  for (const [prefix, duration] of [
    ['', relax],
    ['/img-fast', fast],
    ['/img-turbo', turbo],
  ] as const) {
    const { body } = await client.imagine(`a fox ${prefix}`, prefix);
    client.clock.time += duration - 1;
    expect((await client.task(body.result)).status).toBe('IN_PROGRESS');
    client.clock.time += 1;
    expect((await client.task(body.result)).status).toBe('SUCCESS');
  }
});

test('ids rise and differ even when the clock stands still or goes back', async () => {
  client = await start({ settings: { queue: 1000 } });
  const ids: string[] = [];
  for (let index = 0; index < 30; index += 1) {
    if (index === 15) client.clock.time -= 60_000;
    ids.push((await client.imagine(`fox ${index}`)).body.result);
  }
  expect(new Set(ids).size).toBe(30);
  expect([...ids].sort()).toEqual(ids);
});

test('bare ids are 17-digit numbers without quotes', async () => {
  client = await start({ settings: { quirks: new Set(['bare-ids']) } });
  const response = await fetch(`${client.sandbox.url}/img/submit/imagine`, {
    method: 'POST',
    headers: { authorization: 'Bearer sandbox-key' },
    body: JSON.stringify({ botType: 'IMG_JOURNEY', prompt: 'a fox' }),
  });
  const id = /"result":(\d{17})[,}]/.exec(await response.text())?.[1];
  expect(id).toBeDefined();
  expect((await client.task(id ?? '')).id).toBe(id);
});

test('tasks queue for the working places, then the queue is full', async () => {
  client = await start({ settings: { spread: 0, concurrency: 3, queue: 2 } });
  const responses = [];
  for (let index = 0; index < 7; index += 1)
    responses.push((await client.imagine(`fox ${index}`, '/img-fast')).body);
  expect(responses.map(({ code }) => code)).toEqual([1, 1, 1, 1, 22, 23, 23]);
  expect(responses[4].properties).toEqual({ numberOfQueues: 1 });
  expect(responses[5].result).toBeNull();
  client.clock.time += 1199;
  expect((await client.task(responses[3].result)).status).toBe('NOT_START');
  client.clock.time += 1201;
  expect((await client.task(responses[3].result)).status).toBe('SUCCESS');
  expect((await client.task(responses[4].result)).status).toBe('SUCCESS');
  expect(client.sandbox.counters().tasks.made).toBe(5);
});

test('marked prompts are refused or moderated, fail once, or get stuck', async () => {
  client = await start();
  const banned = await client.imagine('a fox [banned]');
  expect(banned.body).toMatchObject({ code: 24, result: null, properties: { bannedWord: '[banned]' } });

  const moderated = await client.task(await client.finished('a fox [moderated]'));
  expect(moderated.status).toBe('FAILURE');
  expect(moderated.failReason).toMatch(/^\[Banned prompt detected\]/);
  expect(moderated.imageUrl).toBeNull();

  const broken = await client.task(await client.finished('a fox [broken]'));
  expect(broken).toMatchObject({ status: 'FAILURE', failReason: '[Internal error] Something went wrong' });
  expect((await client.task(await client.finished('a fox [broken]'))).status).toBe('SUCCESS');

  const stuck = await client.task(await client.finished('a fox [stuck]'));
  expect(stuck).toMatchObject({ status: 'IN_PROGRESS', progress: '93%' });
});

test('a prompt with an impossible flag is accepted and its task fails', async () => {
  client = await start();
  for (const flag of ['--ar 0:0', '--v 99', '--chaos 101', '--seed -3']) {
    const task = await client.task(await client.finished(`a fox ${flag}`));
    expect(task.failReason).toMatch(/^\[Invalid parameter\]/);
  }
  expect((await client.task(await client.finished('a fox --ar 3:2 --foo bar --no text'))).status).toBe(
    'SUCCESS',
  );
});

test('a refreshing gateway shows an empty status first and then only its last reading', async () => {
  client = await start({ settings: { refresh: 15_000 } });
  const { body } = await client.imagine('a fox');
  client.clock.time += 14_999;
  expect(await client.task(body.result)).toMatchObject({ status: '', progress: '0%', buttons: null });
  client.clock.time += 1;
  expect((await client.task(body.result)).status).toBe('SUCCESS');
});

test('in memory the oldest finished tasks are forgotten beyond the limit', async () => {
  client = await start({ settings: { taskLimit: 3 } });
  const first = await client.finished('fox 1');
  for (const number of [2, 3, 4]) await client.finished(`fox ${number}`);
  expect(await client.task(first)).toEqual({
    description: 'task_no_found ',
    type: 'upstream_error',
    code: 4,
  });
});

test('links show previews while a task works, and expire', async () => {
  client = await start({ settings: { linkLife: 1000, spread: 0 } });
  const { body } = await client.imagine('a fox', '/img-fast');
  client.clock.time += 800;
  const { imageUrl } = await client.task(body.result);
  const preview = await fetch(imageUrl);
  expect(preview.headers.get('content-type')).toBe('image/png');
  client.clock.time += 1000;
  expect((await fetch(imageUrl)).status).toBe(403);
  const fresh = (await client.task(body.result)).imageUrl;
  const whole = await fetch(fresh);
  expect(whole.status).toBe(200);
  expect(
    Buffer.from(await whole.arrayBuffer())
      .subarray(1, 4)
      .toString(),
  ).toBe('PNG');
});

test('links have the host name that the client used', async () => {
  client = await start();
  const id = await client.finished('a fox');
  const url = client.sandbox.url.replace('127.0.0.1', 'localhost');
  const response = await fetch(`${url}/img/task/${id}/fetch`, {
    headers: { authorization: 'Bearer sandbox-key' },
  });
  const task = (await response.json()) as { imageUrl: string };
  expect(new URL(task.imageUrl).origin).toBe(url);
});
