import { describe, expect, test } from 'vitest';

import type { Task } from '../../../src/service/image-service.ts';
import { key, never, respondingWith, serviceWith } from '../scripted-fetch.ts';

const id = '1700000000000001';

async function fetched(record: unknown): Promise<Task> {
  const result = await respondingWith(200, record).fetchTask(id, never);
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}

const buttons = [
  { customId: 'IMG::JOB::upsample::1::x', emoji: '', label: 'U1', type: 2, style: 2 },
  { customId: 'IMG::JOB::reroll::0::x::SOLO', emoji: '🔄' },
  { customId: 'IMG::JOB::variation::1::x', label: null, emoji: null },
  { label: 'dead', customId: '' },
  'nonsense',
];

describe('a task', () => {
  test.each([
    ['SUCCESS', 'success'],
    ['FAILURE', 'failure'],
    ['CANCEL', 'failure'],
    ['MODAL', 'modal'],
    ['NOT_START', 'unfinished'],
    ['SUBMITTED', 'unfinished'],
    ['IN_PROGRESS', 'unfinished'],
    ['', 'unfinished'],
    [null, 'unfinished'],
    ['PAUSED_BY_MOON_PHASE', 'unfinished'],
    [7, 'unfinished'],
  ])('with status %j is %s', async (status, state) => {
    const task = await fetched({
      id,
      status,
      imageUrl: 'https://cdn.example.com/x.png',
      buttons,
      failReason: 'r',
    });
    expect(task.state).toBe(state);
    expect(task.status).toBe(typeof status === 'string' ? status : '');
    expect(task.imageUrl).toBe(state === 'success' ? 'https://cdn.example.com/x.png' : undefined);
    expect(task.buttons).toHaveLength(state === 'success' ? 3 : 0);
    expect(task.failReason).toBe(state === 'success' ? undefined : 'r');
  });

  test('keeps the buttons that can be pressed, with empty texts for absent ones', async () => {
    expect((await fetched({ id, status: 'SUCCESS', buttons })).buttons).toEqual([
      { customId: 'IMG::JOB::upsample::1::x', label: 'U1', emoji: '' },
      { customId: 'IMG::JOB::reroll::0::x::SOLO', label: '', emoji: '🔄' },
      { customId: 'IMG::JOB::variation::1::x', label: '', emoji: '' },
    ]);
  });

  test.each([null, [], {}, 'x'])('with buttons %j has no buttons', async (none) => {
    expect((await fetched({ id, status: 'SUCCESS', buttons: none })).buttons).toEqual([]);
  });

  test.each([
    ['93%', 93],
    ['100%', 100],
    [' 46 % ', 46],
    [15, 15],
    ['', undefined],
    [null, undefined],
    ['Waiting to start', undefined],
    ['250%', 100],
    [`${' '.repeat(90)}7%`, 7],
    [`${' '.repeat(100)}7%`, undefined],
    [`1${' '.repeat(100)}x`, undefined],
  ])('with progress %j has %j', async (progress, expected) => {
    expect((await fetched({ id, status: 'IN_PROGRESS', progress })).progress).toBe(expected);
  });

  test.each(['', null, '  '])('with the image link %j has no image', async (imageUrl) => {
    expect(await fetched({ id, status: 'SUCCESS', imageUrl })).not.toHaveProperty('imageUrl');
  });

  test('keeps the requested id, even if the response writes it as a long number', async () => {
    const long = '14001929738841620';
    const service = respondingWith(200, `{"id":${long},"status":"SUCCESS"}`);
    expect(await service.fetchTask(long, never)).toMatchObject({ ok: true, value: { id: long } });
  });

  test('shows the reason of the service without the key and control characters', async () => {
    const task = await fetched({ id, status: 'FAILURE', failReason: `bad ${key}\n\u001b[31mred` });
    expect(task.failReason).toBe('bad [secret] \\u{1b}[31mred');
  });
});

describe('a task that the service does not know', () => {
  test.each([
    ['400 task_no_found', 400, { description: 'task_no_found ', type: 'upstream_error', code: 4 }],
    ['400 in Chinese', 400, { code: 3, description: '关联任务不存在或已失效', result: null }],
    ['404', 404, { error: { message: 'task not exist', code: '' } }],
    ['400, not found', 400, { code: 4, description: 'task_not_found', type: 'upstream_error' }],
    ['400, in words', 400, { code: 4, description: 'The task 17 was not found.', type: 'upstream_error' }],
    ['400, does not exist', 400, { code: 4, description: 'task 17 does not exist', type: 'upstream_error' }],
    ['400, not found in Chinese', 400, { code: 3, description: '任务未找到', result: null }],
    ['400, not found in other Chinese', 400, { code: 3, description: '未找到任务', result: null }],
    ['200 with a code', 200, { code: 3, description: '任务不存在' }],
    ['null', 200, 'null'],
    ['nothing', 204, ''],
  ])('is polled again after %s', async (_what, status, body) => {
    expect(await respondingWith(status, body).fetchTask(id, never)).toMatchObject({
      ok: false,
      error: { code: 'service.task-unknown', class: 'retry', status },
    });
  });
});

test('an unknown task is reported with the words and the request id', async () => {
  const body = { description: 'task_no_found (request id: r-7)', type: 'upstream_error', code: 4 };
  const result = await respondingWith(400, body, { 'x-request-id': 'r-8' }).fetchTask(id, never);
  expect(result).toMatchObject({ error: { serviceMessage: 'task_no_found', requestId: 'r-8' } });
});

test.each([
  [
    'a refused key',
    401,
    { error: { message: 'task not found for this token' } },
    'service.unauthorized',
    'stop',
  ],
  ['a pause', 429, { error: { message: 'task not found yet, slow down' } }, 'service.throttled', 'throttle'],
  ['a path', 404, { error: { message: 'Invalid URL (GET /img/task/1/fetch)' } }, 'service.not-found', 'stop'],
  ['a pause inside a 200', 200, { error: { message: 'slow', code: 429 } }, 'service.throttled', 'throttle'],
  [
    'a refused key inside a 200',
    200,
    { error: { message: 'x', code: '401' } },
    'service.unauthorized',
    'stop',
  ],
  ['a code that is no status', 200, { error: { message: 'x', code: 4 } }, 'service.malformed', 'retry'],
])('%s is not an answer about a task', async (_what, status, body, code, kind) => {
  expect(await respondingWith(status, body).fetchTask(id, never)).toMatchObject({
    ok: false,
    error: { code, class: kind },
  });
});

test('a record with only an id is a task that has not begun', async () => {
  expect(await fetched({ id })).toEqual({
    id,
    state: 'unfinished',
    status: '',
    stage: 'queued',
    buttons: [],
  });
});

test.each([
  ['an image', { imageUrl: 'https://x.test/1.png' }, 'success'],
  ['videos', { videoUrls: ['https://x.test/1.mp4'] }, 'success'],
  ['a reason', { imageUrl: 'https://x.test/1.png', failReason: 'r' }, 'failure'],
  ['nothing', {}, undefined],
  ['an image at 99 %', { progress: '99%', imageUrl: 'https://x.test/1.png' }, undefined],
])('an unknown status at 100 %% with %s seems to be final: %#', async (_what, record, state) => {
  const task = await fetched({ id, status: 'VERDE', progress: '100%', ...record });
  expect([task.state, task.seems?.state]).toEqual(['unfinished', state]);
});

test('a known status of an unfinished task is never judged by its image', async () => {
  const record = { progress: '100%', imageUrl: 'https://x.test/1.png' };
  for (const status of ['IN_PROGRESS', 'in_progress', 'QUEUED', '', 'MODAL'])
    expect((await fetched({ id, status, ...record })).seems).toBeUndefined();
});

test('a status is shown without control characters and without the key', async () => {
  expect((await fetched({ id, status: `\u001b[2J ${key}` })).status).toBe('\\u{1b}[2J [secret]');
});

test('numbers in place of texts become texts', async () => {
  const task = await fetched({ id, status: 'SUCCESS', buttons: [{ customId: 17, label: 1, emoji: 2 }] });
  expect(task.buttons).toEqual([{ customId: '17', label: '1', emoji: '2' }]);
});

describe('the address of a task', () => {
  test.each(['', '.', '..', 'a b', 'a,b', 'a\u0000', '1'.repeat(257), '\ud800'])(
    'cannot contain %j',
    async (bad) => {
      const service = serviceWith({
        fetch: () => {
          throw new Error('must not be asked');
        },
      });
      expect(await service.fetchTask(bad, never)).toMatchObject({
        ok: false,
        error: { code: 'service.bad-id', class: 'permanent' },
      });
    },
  );
});
