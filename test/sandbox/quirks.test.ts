import { afterEach, describe, expect, test } from 'vitest';
import { parseFault } from '../../src/sandbox/faults/parse.ts';
import type { SandboxSettings } from '../../src/sandbox/settings.ts';
import { failReasons } from '../../src/sandbox/tasks/fail-reasons.ts';
import { type Client, start } from './client.ts';
import { dataUri, maskOf, plain } from './pixels.ts';

let client: Client;
afterEach(() => client.sandbox.close());

/** A sandbox with these faults and settings. */
async function open(settings: Partial<SandboxSettings> = {}, ...faults: string[]): Promise<void> {
  const read = faults.map((text) => {
    const parsed = parseFault(text);
    if (!parsed.ok) throw new Error(parsed.error);
    return parsed.value;
  });
  client = await start({ settings: { spread: 0, ...settings, faults: read } });
}

test.each(Object.entries(failReasons))('a task fails for the reason %s', async (name, reason) => {
  await open({}, `imagine:fail=${name}:first 1`);
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
  await open({}, 'imagine:cancel:at 2');
  const marked = await client.finished('a fox [cancelled]');
  const struck = await client.finished('a fox');
  const asked = (await client.imagine('an owl')).body.result;
  const answer = await client.send('POST', `/img/task/${asked}/cancel`);
  expect([answer.status, answer.body]).toEqual([200, '']);
  for (const id of [marked, struck, asked]) {
    expect(await client.task(id)).toMatchObject({ status: 'CANCEL', buttons: [], imageUrl: null });
  }
  expect((await client.action(asked, 'IMG::JOB::upsample::1::x')).body).toMatchObject({ code: 4 });
  const kept = await client.finished('a cat');
  await client.send('POST', `/img/task/${kept}/cancel`);
  expect((await client.task(kept)).status).toBe('SUCCESS');
});

test('a late task is finished in the end', async () => {
  await open({ lateBy: 7_200_000 });
  const id = await client.finished('a fox [late]');
  expect((await client.task(id)).status).toBe('IN_PROGRESS');
  client.wait();
  client.wait();
  expect((await client.task(id)).status).toBe('SUCCESS');
});

test('buttons are null until a task is done, progress is told in words', async () => {
  await open({ nullButtons: true, progressTexts: true });
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
  await open({ errorShape });
  const answer = await client.imagine('');
  expect({ status: answer.status, body: answer.body }).toEqual({ status, body });
});

test.each([
  ['hidden-timeout', 1],
  ['hidden-timeout-before', 0],
])('%s says 400 with code 5, and the task exists or not', async (fault, made) => {
  await open({}, `submit:${fault}:first 1`);
  const answer = await client.imagine('a fox');
  expect(answer).toMatchObject({ status: 400, body: { description: 'do_request_failed ', code: 5 } });
  expect(client.sandbox.counters().tasks.made).toBe(made);
});

test.each(['imagine', 'generate'])(
  'invalid-request on %s is a 500 that must not be tried again',
  async (route) => {
    await open({}, `${route}:invalid-request`);
    const path = route === 'imagine' ? '/img/submit/imagine' : '/v1beta/models/text-pro:generateContent';
    const answer = await client.send('POST', path, {});
    expect(answer).toMatchObject({ status: 500, body: { error: { code: 'invalid_request' } } });
  },
);

describe('the parent of a click is not ready, and is the next time', () => {
  const refusals = [
    ['', 400, { description: 'task_status_not_success ', type: 'upstream_error', code: 4 }],
    ['=status', 200, { code: 4, description: '关联任务状态错误', result: null, properties: {} }],
    ['=missing', 200, { code: 3, description: '关联任务不存在或失效', result: null, properties: {} }],
  ] as const;
  test.each(refusals)('action:not-ready%s', async (words, status, body) => {
    await open({}, `action:not-ready${words}:at 1`);
    const id = await client.finished('a fox');
    const answer = await client.click(id, 'U1');
    expect([answer.status, answer.body]).toEqual([status, body]);
    expect(client.sandbox.counters().tasks.made).toBe(1);
    expect((await client.click(id, 'U1')).body.code).toBe(1);
  });
});

test('a saturated channel is code 30 and 429', async () => {
  await open({}, 'submit:code=30:at 1');
  const answer = await client.imagine('a fox');
  expect([answer.status, answer.body]).toEqual([
    429,
    {
      description: '当前分组负载已饱和，请稍后再试，或升级账户以提升服务质量。 ',
      type: 'upstream_error',
      code: 30,
    },
  ]);
  expect((await client.imagine('a fox')).body.code).toBe(1);
});

describe('codes are rewritten on the way', () => {
  test('22 is 1', async () => {
    await open({ rewriteCodes: true, concurrency: 1 });
    // One works and one waits.
    for (const prompt of ['a fox', 'a cat']) await client.imagine(prompt);
    expect((await client.imagine('an owl')).body).toMatchObject({
      code: 1,
      properties: { numberOfQueues: 1 },
    });
  });

  test('21 is 1, but for Vary (Region) and Custom Zoom', async () => {
    await open({ rewriteCodes: true });
    const id = await client.press(await client.finished('a fox'), 'U1');
    const codes: Record<string, number> = {};
    for (const label of [
      'Vary (Region)',
      'Custom Zoom',
      'Vary (Strong)',
      '⬅️',
      '🔄',
      'Animate (Low motion)',
    ]) {
      const { body } = await client.click(id, label, { enableRemix: true });
      codes[label] = body.code;
      expect((await client.task(body.result)).status).toBe('MODAL');
    }
    expect(codes).toEqual({
      'Vary (Region)': 21,
      'Custom Zoom': 21,
      'Vary (Strong)': 1,
      '⬅️': 1,
      '🔄': 1,
      'Animate (Low motion)': 1,
    });
  });
});

describe('a stock gateway knows the ordinary buttons alone', () => {
  const flat = (customId: string): object => ({
    description: `unknown_action:${customId} `,
    type: 'upstream_error',
    code: 4,
  });

  test('of an image', async () => {
    await open({ stockButtons: true, errorShape: 'flat', bookmarks: true, manualAnimate: true });
    const id = await client.press(await client.finished('a fox'), 'U1');
    const { buttons } = await client.task(id);
    const refused: string[] = [];
    for (const { customId, label, emoji } of buttons) {
      const { status, body } = await client.action(id, customId);
      if (status === 200) continue;
      expect([status, body]).toEqual([400, flat(customId)]);
      refused.push(label === '' ? emoji : label);
    }
    expect(buttons).toHaveLength(18);
    expect(refused).toEqual([
      'Animate (High motion)',
      'Animate (Low motion)',
      'Manual High Motion',
      'Manual Low Motion',
      '❤️',
    ]);
  });

  test('of a video and of a describe', async () => {
    await open({ stockButtons: true });
    const image = dataUri(await plain('#446688'));
    const ids: string[] = [];
    for (const [route, body] of [
      ['video', { image, motion: 'low' }],
      ['describe', { base64: image }],
    ] as const) {
      ids.push((await client.submit(route, body)).body.result);
    }
    client.wait();
    const answers: string[] = [];
    for (const id of ids) {
      for (const { customId } of (await client.task(id)).buttons) {
        const { status, body } = await client.action(id, customId);
        const isNamed = body.error?.message.startsWith(`unknown_action:${customId} (request id: `);
        answers.push(`${status}${isNamed === true ? ' unknown' : ''}`);
      }
    }
    const unknown = Array.from({ length: 4 }, () => '400 unknown');
    // U1 to U4 of the videos and their reroll; four prompts, describe again and imagine all.
    expect(answers).toEqual([...unknown, '200', ...unknown, '400 unknown', '400 unknown']);
  });
});

test('remix may be dropped on the way: no modal, and the prompt of before', async () => {
  await open({ ignoreRemix: true });
  const id = await client.press(await client.finished('a fox'), 'U1');
  const { body } = await client.click(id, 'Vary (Strong)', { enableRemix: true });
  expect(body.code).toBe(1);
  client.wait();
  expect(await client.task(body.result)).toMatchObject({ status: 'SUCCESS', prompt: 'a fox' });
  expect((await client.click(id, 'Vary (Region)', { enableRemix: true })).body.code).toBe(21);
});

test('remix that is dropped on the way is not refused', async () => {
  await open({ ignoreRemix: true, remix: false });
  const id = await client.finished('a fox');
  expect((await client.click(id, 'V1', { enableRemix: true })).body.code).toBe(1);
});

test('a full queue says 9 where it is set so', async () => {
  await open({ queueFullCode: 9, concurrency: 1, queue: 0 });
  expect((await client.imagine('a fox')).body.code).toBe(1);
  expect((await client.imagine('an owl')).body).toMatchObject({ code: 9, result: null });
});

test('an imagine that exists already is answered with it', async () => {
  await open({ deduplicate: true });
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
] as const)('an unknown task is answered: %s', async (unknownTask, status, body) => {
  await open({ unknownTask });
  const answer = await client.send('GET', '/img/task/17/fetch');
  expect([answer.status, answer.body]).toEqual([status, body]);
});

test('an unknown task is answered with nothing', async () => {
  await open({ unknownTask: 'empty' });
  const answer = await client.send('GET', '/img/task/17/fetch');
  expect([answer.status, answer.body]).toEqual([200, '']);
});

describe('links stand', () => {
  const link = expect.stringMatching(/^http/);
  test.each([
    ['videos', link, undefined, link, { url: link }],
    ['objects', link, { url: link, thumbnail: link }, link, { url: link, thumbnail: link }],
    ['texts', link, link, link, link],
    ['only-objects', null, { url: link, thumbnail: link }, '', { url: link, thumbnail: link }],
    ['only-texts', null, link, '', link],
  ] as const)('%s', async (linkLists, imageUrl, image, videoUrl, video) => {
    await open({ linkLists });
    const imageUrls = image === undefined ? {} : { imageUrls: [image] };
    const task = await client.task(await client.finished('a fox'));
    const noImages = image === undefined ? {} : { imageUrls: null };
    expect(task).toMatchObject({ imageUrl, ...imageUrls, videoUrl: '', videoUrls: null });
    expect('imageUrls' in task).toBe(image !== undefined);
    const { body } = await client.submit('video', {
      image: dataUri(await plain('#446688')),
      motion: 'low',
      batchSize: 2,
    });
    expect(await client.task(body.result)).toMatchObject({ imageUrl: null, ...noImages, videoUrls: null });
    client.wait();
    const film = await client.task(body.result);
    expect(film).toMatchObject({ imageUrl, ...imageUrls, videoUrl, videoUrls: [video, video] });
    for (const one of film.videoUrls) expect((await fetch(one.url ?? one)).status).toBe(200);
  });

  test('nowhere, where they are missing', async () => {
    await open({ linkLists: 'texts' }, 'fetch:link=missing');
    expect(await client.task(await client.finished('a fox'))).toMatchObject({
      imageUrl: null,
      imageUrls: null,
    });
  });
});

describe('links', () => {
  test('that are expired, foreign or missing, and right the next time', async () => {
    await open({}, 'fetch:link=expired:at 1', 'fetch:link=foreign:at 2', 'fetch:link=missing:at 3');
    const id = await client.finished('a fox');
    const [expired, foreign, missing, fine] = [
      await client.task(id),
      await client.task(id),
      await client.task(id),
      await client.task(id),
    ];
    expect([expired, foreign, missing, fine].map(({ status }) => status)).toEqual(Array(4).fill('SUCCESS'));
    expect((await fetch(expired.imageUrl)).status).toBe(403);
    expect(new URL(foreign.imageUrl).hostname).toBe('cdn.sandbox.invalid');
    expect(missing.imageUrl).toBeNull();
    expect((await fetch(fine.imageUrl)).status).toBe(200);
  });

  test('that answer JSON', async () => {
    await open({}, ...[200, 403, 404, 410].map((status, index) => `image:json=${status}:at ${index + 1}`));
    const { imageUrl } = await client.task(await client.finished('a fox'));
    for (const status of [200, 403, 404, 410]) {
      const answer = await fetch(imageUrl);
      expect([answer.status, await answer.json()]).toEqual([status, { error: 'http_get_image_failed' }]);
    }
    expect((await fetch(imageUrl)).headers.get('content-type')).toBe('image/png');
  });

  test('of a video expire as those of a picture do', async () => {
    await open({ linkLife: 1000 });
    const image = dataUri(await plain('#446688'));
    const { body } = await client.submit('video', { image, motion: 'low', batchSize: 1 });
    client.wait();
    const { videoUrl } = await client.task(body.result);
    expect((await fetch(videoUrl)).status).toBe(200);
    client.clock.time += 1000;
    expect((await fetch(videoUrl)).status).toBe(403);
    const fresh = (await client.task(body.result)).videoUrl;
    expect((await fetch(fresh.replace('/1?', '/2?'))).status).toBe(404);
  });
});

test('a status that nobody knows stands only where a task is not finished', async () => {
  await open({}, 'fetch:status=PAUSED');
  const { body } = await client.imagine('a fox');
  expect((await client.task(body.result)).status).toBe('PAUSED');
  client.wait();
  expect((await client.task(body.result)).status).toBe('SUCCESS');
});

test.each([
  [true, 500],
  [false, 2400],
])('accountFilter.modes counts: %s', async (accountModes, duration) => {
  await open({ accountModes });
  const { body } = await client.imagine('a fox', '', { accountFilter: { modes: ['TURBO', 'FAST'] } });
  client.clock.time += duration - 1;
  expect((await client.task(body.result)).status).toBe('IN_PROGRESS');
  client.clock.time += 1;
  expect((await client.task(body.result)).status).toBe('SUCCESS');
});

test('tasks are listed by id, with their tags; what is unknown is not among them', async () => {
  await open();
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
  await open({ twoRows: true, modalTask });
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

test('listing can be missing', async () => {
  await open({ listing: false });
  expect((await client.send('POST', '/img/task/list-by-condition', { ids: [] })).status).toBe(404);
  expect((await client.send('GET', '/img/task/list')).status).toBe(404);
});

test.each(['modal', 'blend', 'describe', 'video', 'edits'])(
  'faults meet %s by its name, and as a submission',
  async (route) => {
    await open({}, `${route}:503:at 1`, 'submit:code=23:at 2');
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
  ['fetch:link=old', 'expected expired, foreign or missing'],
  ['fetch:status', 'expected a word'],
  ['image:json=418', 'expected 200 or one of'],
  ['fetch:cancel', 'is a fault of submissions'],
  ['imagine:not-ready', 'not-ready is a fault of action'],
  ['action:not-ready=gone', 'expected status or missing'],
])('the fault %s is refused', async (text, words) => {
  await open();
  const parsed = parseFault(text);
  expect(parsed.ok ? '' : parsed.error).toContain(words);
});
