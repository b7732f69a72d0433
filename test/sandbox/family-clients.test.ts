import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { midjourneyProxyNames } from '../../src/sandbox/names.ts';
import { type Client, start, type TestResponse } from './client.ts';
import { dataUri, maskOf, plain } from './pixels.ts';

/** What clients of the midjourney-proxy family send (gateway 2.1, 1.4), as they send it. */

const key = 'a-key/of+the-family';

let client: Client;
beforeEach(async () => {
  client = await start({ apiKey: key, names: midjourneyProxyNames, settings: { pace: 0.1 } });
});
afterEach(() => client.sandbox.close());

type Headers = Record<string, string>;

/** One request with exactly these headers. */
async function send(
  method: string,
  path: string,
  body: unknown,
  headers: Headers,
  to: Client = client,
): Promise<TestResponse> {
  const response = await fetch(`${to.sandbox.url}${path}`, {
    method,
    redirect: 'manual',
    headers: { 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
}

const secret = { 'mj-api-secret': key };

const post = (route: string, body: unknown, headers: Headers = secret): Promise<TestResponse> =>
  send('POST', `/mj/submit/${route}`, body, headers);

const get = (path: string): Promise<TestResponse> => send('GET', `/mj/${path}`, undefined, secret);

/** The id of a finished grid. */
async function grid(prompt = 'a fox'): Promise<string> {
  const { body } = await post('imagine', { prompt });
  client.wait();
  return body.result;
}

const fox = { contents: [{ role: 'user', parts: [{ text: 'a fox' }] }] };

test('an imagine without botType is one of the ordinary bot', async () => {
  const body = { base64Array: [], notifyHook: '', prompt: 'a fox', state: '', botType: null };
  for (const sent of [{ prompt: 'a fox' }, body]) {
    const response = await post('imagine', sent);
    expect([response.status, response.body.code]).toEqual([200, 1]);
    expect((await get(`task/${response.body.result}/fetch`)).body.botType).toBe('MID_JOURNEY');
  }
  expect((await post('imagine', { prompt: 'a fox', botType: 'IMG_JOURNEY' })).status).toBe(400);
});

describe('the key', () => {
  test.each<[string, Headers, number]>([
    ['in mj-api-secret', secret, 200],
    ['in mj-api-secret, with Bearer before it', { 'mj-api-secret': `Bearer ${key}` }, 200],
    [
      'in mj-api-secret, behind the word of a proxy',
      { ...secret, authorization: 'Bearer midjourney-proxy' },
      200,
    ],
    ['in both headers', { ...secret, authorization: `Bearer ${key}` }, 200],
    ['in mj-api-secret, with another one as Bearer', { ...secret, authorization: 'Bearer other' }, 401],
    ['in mj-api-secret, and wrong', { 'mj-api-secret': 'other' }, 401],
    ['nowhere', {}, 401],
  ])('%s: %s responds with %i', async (_, headers, status) => {
    expect((await post('imagine', { prompt: 'a fox' }, headers)).status).toBe(status);
  });

  const native = '/v1beta/models/text-pro';
  test.each([
    [`${native}:generateContent?key=${encodeURIComponent(key)}`, 200],
    [`/v1/models/text-pro:generateContent?key=${encodeURIComponent(key)}`, 200],
    [`${native}:streamGenerateContent?alt=sse&key=${encodeURIComponent(key)}`, 200],
    [`${native}:generateContent?key=other`, 401],
    [`/v1/chat/completions?key=${encodeURIComponent(key)}`, 401],
    [`/mj/submit/imagine?key=${encodeURIComponent(key)}`, 401],
  ])('in the query of %s responds with %i', async (path, status) => {
    expect((await send('POST', path, path.startsWith('/mj') ? { prompt: 'a fox' } : fox, {})).status).toBe(
      status,
    );
  });

  test('in an address is not kept by the sandbox', async () => {
    const escaped = encodeURIComponent(key);
    for (const path of [
      `${native}:generateContent?key=${escaped}`,
      `${native}:generateContent?key=${escaped}wrong`,
      `/v1beta/models/${escaped}:generateContent?key=${escaped}`,
      `/v1beta/models/text-pro%3Fkey=${escaped}:generateContent`,
      `/v1beta/nothing/${escaped}?key=${escaped}`,
    ]) {
      await send('POST', path, fox, {});
    }
    await get(`task/${escaped}/fetch?key=${escaped}`);
    const kept = [client.sandbox.requests(), client.sandbox.counters()].map((what) => JSON.stringify(what));
    for (const path of ['requests', 'counters', 'tasks']) {
      kept.push(JSON.stringify((await send('GET', `/sandbox/${path}`, undefined, {})).body));
    }
    expect(client.sandbox.requests()).toHaveLength(6);
    for (const text of kept) {
      expect(text).not.toContain(key);
      expect(text).not.toContain(escaped);
    }
  });
});

describe('change', () => {
  test.each([
    [{ action: 'UPSCALE', index: 2 }, 'UPSCALE', 'U2'],
    [{ action: 'VARIATION', index: 4 }, 'VARIATION', 'V4'],
    [{ action: 'REROLL' }, 'REROLL', '🔄'],
  ])('%o is what the button does', async (asked, action, label) => {
    const taskId = await grid();
    const { status, body } = await post('change', { taskId, ...asked, state: 'tag' });
    expect([status, body.code]).toEqual([200, 1]);
    client.wait();
    const changed = (await get(`task/${body.result}/fetch`)).body;
    expect(changed).toMatchObject({
      action,
      status: 'SUCCESS',
      state: 'tag',
      description: `/up ${taskId} ${label}`,
    });
    const { buttons } = (await get(`task/${taskId}/fetch`)).body;
    const { customId } = buttons.find(
      (button: { label: string; emoji: string }) => (button.label || button.emoji) === label,
    );
    const pressed = await post('action', { taskId, customId });
    client.wait();
    expect((await get(`task/${pressed.body.result}/fetch`)).body.action).toBe(action);
    // The same work, however it was asked for.
    expect(client.sandbox.counters()).toMatchObject({
      tasks: { made: 3 },
      repeated: { tasks: 1 },
      requests: { change: { 200: 1 }, action: { 200: 1 } },
    });
  });

  test.each([
    ['U2', 'UPSCALE', 'U2'],
    ['v3', 'VARIATION', 'V3'],
    ['R', 'REROLL', '🔄'],
  ])('simple: %s', async (word, action, label) => {
    const taskId = await grid();
    const { body } = await post('simple-change', { content: `${taskId} ${word}` });
    client.wait();
    expect((await get(`task/${body.result}/fetch`)).body).toMatchObject({
      action,
      description: `/up ${taskId} ${label}`,
    });
  });

  test('is refused like a click for a task that cannot be changed', async () => {
    const taskId = await grid();
    const single = (await post('change', { taskId, action: 'UPSCALE', index: 1 })).body.result;
    const upscale = { action: 'UPSCALE', index: 1 };
    expect((await post('change', { taskId: single, ...upscale })).body).toMatchObject({
      code: 4,
      description: '关联任务状态错误',
    });
    client.wait();
    expect((await post('change', { taskId: single, ...upscale })).body).toMatchObject({
      code: 4,
      description: '关联任务不允许执行变化',
    });
    const missing = await post('change', { taskId: '1', ...upscale });
    expect([missing.status, missing.body.code]).toEqual([404, 3]);
    expect(client.sandbox.counters().tasks.made).toBe(2);
  });

  test.each([
    ['change', {}, /^taskId is required/],
    ['change', { taskId: '1' }, /^action is required/],
    ['change', { taskId: '1', action: 'ZOOM' }, /^action: expected UPSCALE, VARIATION, REROLL, got ZOOM/],
    ['change', { taskId: '1', action: 'UPSCALE' }, /^index is required/],
    ['change', { taskId: '1', action: 'UPSCALE', index: 5 }, /^index: expected 1, 2, 3, 4, got 5/],
    ['simple-change', {}, /^content is required/],
    ['simple-change', { content: '1' }, /^content: expected a task id and U1 to U4/],
    ['simple-change', { content: '1 U5' }, /^content: expected/],
  ])('%s refuses %o', async (route, body, message) => {
    const response = await post(route, body);
    expect([response.status, response.body.error.message]).toEqual([400, expect.stringMatching(message)]);
  });
});

describe('shorten', () => {
  test('finds shorter prompts, each with a button that draws it', async () => {
    const { body } = await post('shorten', { prompt: 'a red fox in the very deep snow at dusk --ar 3:2' });
    client.wait();
    const task = (await get(`task/${body.result}/fetch`)).body;
    expect(task).toMatchObject({ action: 'SHORTEN', status: 'SUCCESS', imageUrl: null });
    expect(task.properties.finalPrompt).toBe(
      '## Important tokens\nred, fox, deep, snow, dusk\n\n## Shortened prompts\n' +
        '1️⃣ red fox deep snow dusk --ar 3:2\n\n2️⃣ red fox deep snow --ar 3:2\n\n3️⃣ red fox deep --ar 3:2\n\n' +
        '4️⃣ red fox --ar 3:2\n\n5️⃣ red --ar 3:2',
    );
    const ids = task.buttons.map(({ customId }: { customId: string }) => customId);
    expect(ids).toEqual([1, 2, 3, 4, 5].map((number) => `MJ::Job::PromptAnalyzer::${number}`));
    const opened = await post('action', { taskId: body.result, customId: ids[3] });
    expect(opened.body).toMatchObject({ code: 21, properties: { finalPrompt: 'red fox --ar 3:2' } });
    const drawn = await post('modal', { taskId: opened.body.result });
    client.wait();
    expect((await get(`task/${drawn.body.result}/fetch`)).body).toMatchObject({
      action: 'IMAGINE',
      status: 'SUCCESS',
      prompt: 'red fox --ar 3:2',
    });
  });

  test('makes few prompts from few words, and refuses an empty prompt', async () => {
    const { body } = await post('shorten', { prompt: 'the' });
    client.wait();
    expect((await get(`task/${body.result}/fetch`)).body.buttons).toHaveLength(1);
    expect((await post('shorten', {})).status).toBe(400);
    expect((await post('shorten', { prompt: 'a fox [banned]' })).body.code).toBe(24);
  });
});

test('edit is another name of edits', async () => {
  const image = dataUri(await plain('#446688'));
  const mask = dataUri(await maskOf('<rect width="20" height="20"/>', 'cut'));
  const { status, body } = await post('edit', { prompt: 'a hat', image, maskBase64: mask });
  expect([status, body.code]).toEqual([200, 1]);
  expect(client.sandbox.counters().requests).toEqual({ edits: { 200: 1 } });
});

test('an image has the seed of its prompt, or one of its own', async () => {
  const own = await grid('a fox');
  const given = await grid('a fox --seed 77');
  expect((await get(`task/${given}/image-seed`)).body).toMatchObject({ code: 1, result: '77' });
  const chosen = (await get(`task/${own}/image-seed`)).body.result;
  expect(chosen).toMatch(/^\d{1,10}$/);
  expect((await get(`task/${own}/image-seed`)).body.result).toBe(chosen);
  const { body } = await post('imagine', { prompt: 'an owl' });
  expect((await get(`task/${body.result}/image-seed`)).status).toBe(400);
  expect((await get('task/1/image-seed')).status).toBe(404);
});

test('a sandbox with the neutral names accepts none of these requests', async () => {
  const neutral = await start({ apiKey: key });
  try {
    const bearer = { authorization: `Bearer ${key}` };
    const statuses: number[] = [];
    for (const [method, path, body, headers] of [
      ['POST', '/img/submit/imagine', { prompt: 'a fox' }, bearer],
      ['POST', '/img/submit/imagine', { prompt: 'a fox', botType: 'IMG_JOURNEY' }, secret],
      ['POST', '/img/submit/change', { taskId: '1', action: 'REROLL' }, bearer],
      ['POST', '/img/submit/simple-change', { content: '1 R' }, bearer],
      ['POST', '/img/submit/edit', {}, bearer],
      ['POST', `/v1beta/models/text-pro:generateContent?key=${encodeURIComponent(key)}`, fox, {}],
    ] as const) {
      statuses.push((await send(method, path, body, headers, neutral)).status);
    }
    expect(statuses).toEqual([400, 401, 301, 301, 301, 401]);
  } finally {
    await neutral.sandbox.close();
  }
});
