import { afterEach, expect, test } from 'vitest';
import { failReasons } from '../../../src/sandbox/faults/fault.ts';
import { parseFault } from '../../../src/sandbox/faults/parse.ts';
import type { Client } from '../client.ts';
import { dataUri, maskOf, plain } from '../pixels.ts';
import { struck } from '../struck.ts';

let client: Client;
afterEach(() => client.sandbox.close());

test.each(Object.entries(failReasons))('a task fails for the reason %s', async (name, reason) => {
  client = await struck({}, `imagine:fail=${name}:first 1`);
  const byFault = await client.finished('a fox');
  const byMark = await client.finished(`a fox [fail:${name}]`);
  for (const id of [byFault, byMark]) {
    expect(await client.task(id)).toMatchObject({
      status: 'FAILURE',
      failReason: reason,
      progress: '',
      buttons: [],
    });
  }
});

test('a task is cancelled: by its prompt, by a fault, by a request', async () => {
  client = await struck({}, 'imagine:cancel:at 2');
  const marked = await client.finished('a fox [cancelled]');
  const byFault = await client.finished('a fox');
  const asked = (await client.imagine('an owl')).body.result;
  const response = await client.send('POST', `/img/task/${asked}/cancel`);
  expect([response.status, response.body]).toEqual([200, '']);
  for (const id of [marked, byFault, asked]) {
    expect(await client.task(id)).toMatchObject({ status: 'CANCEL', buttons: [], imageUrl: null });
  }
  expect((await client.action(asked, 'IMG::JOB::upsample::1::x')).body).toMatchObject({ code: 4 });
  const kept = await client.finished('a cat');
  await client.send('POST', `/img/task/${kept}/cancel`);
  expect((await client.task(kept)).status).toBe('SUCCESS');
});

test('a late task finishes in the end', async () => {
  client = await struck({ lateBy: 7_200_000 });
  const id = await client.finished('a fox [late]');
  expect((await client.task(id)).status).toBe('IN_PROGRESS');
  client.wait();
  client.wait();
  expect((await client.task(id)).status).toBe('SUCCESS');
});

test('buttons are null until a task is done, progress is given in words', async () => {
  client = await struck({ quirks: new Set(['null-buttons', 'progress-texts']) });
  const { body } = await client.imagine('a fox');
  expect(await client.task(body.result)).toMatchObject({
    status: 'NOT_START',
    buttons: null,
    progress: 'Waiting to start',
  });
  client.clock.time += 1200;
  expect(await client.task(body.result)).toMatchObject({ status: 'IN_PROGRESS', buttons: null });
  client.wait();
  expect((await client.task(body.result)).buttons).toHaveLength(9);
  const failed = await client.finished('a fox [moderated]');
  expect(await client.task(failed)).toMatchObject({ status: 'FAILURE', buttons: null, progress: '100%' });
});

test.each([
  [
    'envelope',
    400,
    { error: { code: '', message: expect.stringContaining('prompt is required'), type: 'svc_api_error' } },
  ],
  ['flat', 400, { description: 'prompt is required ', type: 'upstream_error', code: 4 }],
  ['submit', 200, { code: 4, description: 'prompt is required', result: null, properties: {} }],
] as const)('a wrong body is refused in the shape %s', async (errorShape, status, body) => {
  client = await struck({ errorShape });
  const response = await client.imagine('');
  expect({ status: response.status, body: response.body }).toEqual({ status, body });
});

test.each([
  ['hidden-timeout', 1],
  ['hidden-timeout-before', 0],
])('%s answers 400 with code 5, and the task exists or not', async (fault, made) => {
  client = await struck({}, `submit:${fault}:first 1`);
  const response = await client.imagine('a fox');
  expect(response).toMatchObject({ status: 400, body: { description: 'do_request_failed ', code: 5 } });
  expect(client.sandbox.counters().tasks.made).toBe(made);
});

test.each([
  ['not-noted', 400, 'insert_midjourney_task_failed ', 1],
  ['no-channel-400', 400, '当前分组 default 下对于模型 mj_imagine 无可用渠道 ', 0],
  ['queue-limit', 200, '队列数已达上限', 0],
])('refuse=%s answers %i %s, and the task exists or not', async (name, status, description, made) => {
  client = await struck({}, `submit:refuse=${name}:first 1`);
  expect(await client.imagine('a fox')).toMatchObject({ status, body: { description } });
  expect(client.sandbox.counters().tasks.made).toBe(made);
});

test.each(['imagine', 'generate'])(
  'invalid-request on %s is a 500 that must not be tried again',
  async (route) => {
    client = await struck({}, `${route}:invalid-request`);
    const path = route === 'imagine' ? '/img/submit/imagine' : '/v1beta/models/text-pro:generateContent';
    const response = await client.send('POST', path, {});
    expect(response).toMatchObject({ status: 500, body: { error: { code: 'invalid_request' } } });
  },
);

test('a full queue answers 9 with queueFullCode 9', async () => {
  client = await struck({ queueFullCode: 9, concurrency: 1, queue: 0 });
  expect((await client.imagine('a fox')).body.code).toBe(1);
  expect((await client.imagine('an owl')).body).toMatchObject({ code: 9, result: null });
});

test('an imagine that exists already gets the existing task', async () => {
  client = await struck({ quirks: new Set(['deduplicate']) });
  const { body } = await client.imagine('a fox');
  client.wait();
  const again = (await client.imagine('a fox')).body;
  expect(again).toMatchObject({ code: 21, result: body.result, properties: { status: 'SUCCESS' } });
  expect(again.properties.imageUrl).toMatch(/\/img\/image\/\d{16}/);
  expect((await client.imagine('a fox --seed 2')).body.code).toBe(1);
  expect(client.sandbox.counters().tasks.made).toBe(2);
});

test.each([
  ['error', 400, { description: 'task_no_found ', type: 'upstream_error', code: 4 }],
  ['no-content', 204, ''],
] as const)('an unknown task gets the response: %s', async (unknownTask, status, body) => {
  client = await struck({ unknownTask });
  const response = await client.send('GET', '/img/task/17/fetch');
  expect([response.status, response.body]).toEqual([status, body]);
});

test('an unknown task gets an empty response', async () => {
  client = await struck({ unknownTask: 'empty' });
  const response = await client.send('GET', '/img/task/17/fetch');
  expect([response.status, response.body]).toEqual([200, '']);
});

test('an unknown status is shown only for an unfinished task', async () => {
  client = await struck({}, 'fetch:status=PAUSED');
  const { body } = await client.imagine('a fox');
  expect((await client.task(body.result)).status).toBe('PAUSED');
  client.wait();
  expect((await client.task(body.result)).status).toBe('SUCCESS');
});

test.each([
  [[], 500],
  [['no-account-modes' as const], 2400],
])('accountFilter.modes counts: %s', async (quirks, duration) => {
  client = await struck({ quirks: new Set(quirks) });
  const { body } = await client.imagine('a fox', '', { accountFilter: { modes: ['TURBO', 'FAST'] } });
  client.clock.time += duration - 1;
  expect((await client.task(body.result)).status).toBe('IN_PROGRESS');
  client.clock.time += 1;
  expect((await client.task(body.result)).status).toBe('SUCCESS');
});

test('tasks are listed by id, with their tags and without unknown ids', async () => {
  client = await struck();
  const ids: string[] = [];
  for (const state of ['one', 'two']) ids.push((await client.imagine('a fox', '', { state })).body.result);
  const { body } = await client.send('POST', '/img/task/list-by-condition', { ids: [...ids, '17', ids[0]] });
  expect(body.map(({ id, state }: { id: string; state: string }) => [id, state]).sort()).toEqual([
    [ids[0], 'one'],
    [ids[1], 'two'],
  ]);
  expect((await client.send('POST', '/img/task/list-by-ids', { ids: [] })).body).toEqual([]);
  expect((await client.send('POST', '/img/task/list-by-condition', { ids: 'all' })).status).toBe(400);
  expect((await client.send('GET', '/img/task/list')).body).toHaveLength(2);
  expect((await client.send('GET', '/img/task/list', undefined, { authorization: '' })).status).toBe(401);
});

test.each([
  ['same', 2],
  ['new', 1],
] as const)('a task that its modal went on in may be listed twice: %s', async (modalTask, rows) => {
  client = await struck({ quirks: new Set(['two-rows']), modalTask });
  const id = await client.press(await client.finished('a fox'), 'U1');
  const { body } = await client.click(id, 'Custom Zoom');
  const list = async (ids: readonly string[]) =>
    (await client.send('POST', '/img/task/list-by-condition', { ids })).body;
  expect(await list([id, body.result])).toHaveLength(2);
  await client.submit('modal', { taskId: body.result, prompt: 'a fox --zoom 2' });
  client.wait();
  const shown = (await list([body.result])).map(({ id: of, status }: { id: string; status: string }) => [
    of,
    status,
  ]);
  expect(shown).toEqual(
    [
      [body.result, 'SUCCESS'],
      [body.result, 'MODAL'],
    ].slice(0, rows),
  );
  const all = (await client.send('GET', '/img/task/list')).body;
  expect(all.filter((row: { id: string }) => row.id === body.result)).toHaveLength(rows);
});

test('a gateway may lack lists', async () => {
  client = await struck({ quirks: new Set(['no-listing']) });
  expect((await client.send('POST', '/img/task/list-by-condition', { ids: [] })).status).toBe(404);
  expect((await client.send('GET', '/img/task/list')).status).toBe(404);
});

test.each(['modal', 'blend', 'describe', 'video', 'edits'])(
  'faults meet %s by its name, and as a submission',
  async (route) => {
    client = await struck({}, `${route}:503:at 1`, 'submit:code=23:at 2');
    const image = dataUri(await plain('#446688'));
    const bodies: Record<string, object> = {
      modal: { taskId: '17' },
      blend: { base64Array: [image, image] },
      describe: { base64: image },
      video: { image, motion: 'low' },
      edits: {
        image,
        maskBase64: dataUri(await maskOf('<rect width="30" height="30"/>', 'cut')),
        prompt: 'a cat',
      },
    };
    const submit = () => client.submit(route, bodies[route] ?? {});
    expect((await submit()).status).toBe(503);
    expect((await submit()).body).toMatchObject({ code: 23, result: null });
    expect(client.sandbox.counters()).toMatchObject({
      tasks: { made: 0 },
      requests: { [route]: { 200: 1, 503: 1 } },
    });
  },
);

test.each([
  ['imagine:json=403', 'json is a fault of image'],
  ['image:link=expired', 'link is a fault of fetch'],
  ['fetch:link=old', 'expected expired, foreign, missing, loopback, path or stale-videos'],
  ['fetch:status', 'expected a word'],
  ['image:json=418', 'expected 200 or one of'],
  ['fetch:cancel', 'is a fault of submissions'],
  ['imagine:not-ready', 'not-ready is a fault of action'],
  ['action:not-ready=gone', 'expected status, missing or button'],
])('the fault %s is refused', async (text, words) => {
  client = await struck();
  const parsed = parseFault(text);
  expect(parsed.ok ? '' : parsed.error).toContain(words);
});

test('every fifth task of a burst gets the id of the one before, and takes its place', async () => {
  client = await struck({ quirks: new Set(['shared-ids']) });
  const ids: string[] = [];
  for (const animal of ['fox', 'owl', 'cat', 'hare', 'lynx', 'deer'])
    ids.push((await client.imagine(animal, '', { state: animal })).body.result);
  expect([ids[4], new Set(ids).size]).toEqual([ids[3], 5]);
  expect(await client.task(ids[3] ?? '')).toMatchObject({ prompt: 'lynx', state: 'lynx' });
  for (let n = 7; n < 12; n++) {
    client.clock.time += 1000;
    ids.push((await client.imagine(`a fox ${n}`)).body.result);
  }
  expect(new Set(ids).size).toBe(10);
});

test('a restarted proxy knows only its later tasks', async () => {
  client = await struck({}, 'submit:forget:at 3');
  const before = [await client.finished('a fox'), await client.finished('an owl')];
  const after = await client.finished('a cat');
  for (const id of before)
    expect((await client.send('GET', `/img/task/${id}/fetch`)).body).toMatchObject({ code: 4 });
  expect((await client.task(after)).status).toBe('SUCCESS');
});

test('a task of four images shows four separate images', async () => {
  client = await struck({ quirks: new Set(['no-grids']) });
  const grid = await client.task(await client.finished('a fox'));
  expect(grid).toMatchObject({ status: 'SUCCESS', imageUrl: null });
  expect(new Set(grid.imageUrls).size).toBe(4);
  const button = grid.buttons[0].customId;
  const single = (await client.action(grid.id, button)).body.result;
  client.wait();
  expect((await client.task(single)).imageUrl).toContain(single);
});

test('the links of videoUrls have expired, and that of videoUrl has not', async () => {
  client = await struck({}, 'fetch:link=stale-videos');
  const image = dataUri(await plain('#888888'));
  const id = (await client.send('POST', '/img/submit/video', { prompt: 'it runs', image, motion: 'high' }))
    .body.result;
  client.wait();
  const { videoUrl, videoUrls } = await client.task(id);
  const statusOf = async (url: string): Promise<number> => (await fetch(url)).status;
  expect([await statusOf(videoUrls[0].url), await statusOf(videoUrl)]).toEqual([403, 200]);
});
