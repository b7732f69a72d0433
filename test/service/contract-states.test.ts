import { describe, expect, test } from 'vitest';

import type { SubmitResult, Task } from '../../src/service/image-service.ts';
import type { ServiceResult } from '../../src/service/result.ts';
import { exchanged, never, respondingWith, scriptedFetch, serviceWith } from './scripted-fetch.ts';

/** The rules of the gateway about states and errors that concern the image workflow's client, each by its section. */

const base = 'https://api.example.com';
const id = '1700000000000001';
const image = { mimeType: 'image/png', data: 'AAAA' };
const uri = 'data:image/png;base64,AAAA';

const accepted: ServiceResult<SubmitResult> = { ok: true, value: { kind: 'accepted', taskId: id, code: 1 } };

const fetched = async (record: object, status = 200): Promise<Task> => {
  const result = await respondingWith(status, record).fetchTask(id, never);
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
};

const buttons = [
  { customId: 'IMG::JOB::upsample::1::x', label: 'U1', emoji: '' },
  { customId: 'IMG::JOB::reroll::0::x::SOLO', label: '', emoji: '🔄' },
];

describe('gateway 4.3', () => {
  test('gateway 4.3: SUCCESS fills imageUrl and buttons', async () => {
    const task = await fetched({ status: 'SUCCESS', imageUrl: 'https://x.test/a.png', buttons });
    expect(task).toMatchObject({ state: 'success', imageUrl: 'https://x.test/a.png', buttons });
  });

  test('gateway 4.6: a click that shows MODAL, its response, and the new task', async () => {
    const next = '1700000000000002';
    const answers: readonly unknown[] = [
      { code: 1, result: id },
      { status: 'MODAL', buttons: [] },
      { code: 1, result: next },
      { status: 'SUCCESS', imageUrl: 'https://x.test/b.png', buttons },
    ];
    let at = 0;
    const { fetch, sent } = scriptedFetch(() => Response.json(answers[at++]));
    const service = serviceWith({ fetch });
    const speed = 'relax' as const;
    const customId = 'IMG::Inpaint::1::x::SOLO';
    expect(await service.action({ taskId: '17', customId, enableRemix: true, speed }, never)).toEqual(
      accepted,
    );
    expect(await service.fetchTask(id, never)).toMatchObject({ value: { state: 'modal' } });
    const answered = await service.modal({ taskId: id, prompt: 'a scarf', mask: image, speed }, never);
    expect(answered).toMatchObject({ value: { kind: 'accepted', taskId: next } });
    expect(await service.fetchTask(next, never)).toMatchObject({ value: { state: 'success' } });
    expect(sent.map(({ body }) => body)).toEqual([
      { taskId: '17', customId, enableRemix: true },
      undefined,
      { taskId: id, prompt: 'a scarf', maskBase64: uri },
      undefined,
    ]);
  });

  test('gateway 2.4: a button of a finished task is pressed by its customId, and its new task is polled', async () => {
    const next = '1700000000000002';
    const answers: readonly unknown[] = [
      { status: 'SUCCESS', imageUrl: 'https://x.test/a.png', buttons },
      { code: 1, result: next },
      { status: 'SUCCESS', imageUrl: 'https://x.test/b.png', buttons: [] },
    ];
    let at = 0;
    const { fetch, sent } = scriptedFetch(() => Response.json(answers[at++]));
    const service = serviceWith({ fetch });
    const done = await service.fetchTask(id, never);
    const customId = done.ok ? done.value.buttons[0]?.customId : undefined;
    if (customId === undefined) throw new Error('There is no button to press.');
    expect(await service.action({ taskId: id, customId, speed: 'relax' }, never)).toEqual({
      ok: true,
      value: { kind: 'accepted', taskId: next, code: 1 },
    });
    expect(await service.fetchTask(next, never)).toMatchObject({
      value: { state: 'success', imageUrl: 'https://x.test/b.png' },
    });
    expect(sent.map(({ url }) => new URL(url).pathname)).toEqual([
      `/img/task/${id}/fetch`,
      '/img/submit/action',
      `/img/task/${next}/fetch`,
    ]);
    expect(sent[1]?.body).toEqual({ taskId: id, customId: 'IMG::JOB::upsample::1::x' });
  });

  test('gateway 3.1: an accepted imagine returns the id of its new task in result', async () => {
    const {
      answer: result,
      line,
      request,
    } = await exchanged(
      (service) => service.begin({ kind: 'imagine', fields: { prompt: 'a fox' }, speed: 'relax' }, never),
      { code: 1, result: '1700000000000003' },
    );
    expect(line).toBe('POST /img/submit/imagine');
    expect(request.body).toMatchObject({ prompt: 'a fox' });
    expect(result).toEqual({
      ok: true,
      value: { kind: 'accepted', taskId: '1700000000000003', code: 1 },
    });
  });

  test.each(['NOT_START', 'SUBMITTED', 'IN_PROGRESS', '', 'MODAL', 'ANYTHING'])(
    'gateway 4.3: at status %j the buttons of the record are not read',
    async (status) => {
      const task = await fetched({ status, imageUrl: 'https://x.test/preview.png', buttons });
      expect(task.buttons).toEqual([]);
      expect(task).not.toHaveProperty('imageUrl');
    },
  );

  test('gateway 4.6: MODAL is neither finished nor failed', async () => {
    expect((await fetched({ status: 'MODAL' })).state).toBe('modal');
  });
});

describe('gateway 8.1, 8.2', () => {
  const envelope = (message: string): unknown => ({
    error: { code: '', message, type: 'svc_api_error' },
  });

  test('gateway 8.1: the message is that of the envelope without its request id', async () => {
    const body = envelope('no such button (request id: 20261121abc)');
    expect(await respondingWith(400, body).modal({ taskId: id, speed: 'relax' }, never)).toMatchObject({
      error: { serviceMessage: 'no such button', requestId: '20261121abc' },
    });
  });

  test.each([
    [400, 'service.rejected', 'permanent'],
    [401, 'service.unauthorized', 'stop'],
    [403, 'service.forbidden', 'permanent'],
    [413, 'service.too-large', 'permanent'],
    [429, 'service.throttled', 'throttle'],
    [500, 'service.unavailable', 'retry'],
    [503, 'service.unavailable', 'retry'],
    [504, 'service.unavailable', 'retry'],
    [524, 'service.unavailable', 'retry'],
  ])('gateway 8.2: %i is %s, class %s, for every request', async (status, code, kind) => {
    const service = respondingWith(status, envelope('no'));
    const speed = 'relax' as const;
    const results = [
      await service.begin({ kind: 'imagine', fields: { prompt: 'x' }, speed }, never),
      await service.action({ taskId: id, customId: 'c', speed }, never),
      await service.modal({ taskId: id, speed }, never),
      await service.begin({ kind: 'describe', fields: {}, images: [image], speed }, never),
      await service.fetchTask(id, never),
    ];
    for (const result of results) expect(result).toMatchObject({ error: { code, class: kind, status } });
  });
});

describe('gateway 8.3', () => {
  const page = '<!doctype html><title>Welcome</title>';
  const failureOf = async (
    status: number,
    body: unknown,
    baseUrl = base,
  ): Promise<{ readonly code: string; readonly class: string; readonly message: string }> => {
    const headers = { location: 'https://www.example.com/img/submit/modal' };
    const service = respondingWith(status, body, headers, { baseUrl });
    const result = await service.modal({ taskId: id, speed: 'relax' }, never);
    if (result.ok) throw new Error('It was taken.');
    return result.error;
  };

  test('gateway 8.3: a redirect is a wrong address', async () => {
    const failure = await failureOf(301, page);
    expect(failure).toMatchObject({ code: 'service.redirect', class: 'stop' });
    expect(failure.message).toContain('https://www.example.com');
  });

  test.each([200, 404])('gateway 8.3: HTML under %i is a wrong address', async (status) => {
    expect(await failureOf(status, page)).toMatchObject({ code: 'service.not-json', class: 'stop' });
  });

  test('gateway 8.3: redirects are not followed, and an address that ends in /v1 is reported', async () => {
    const { fetch, sent } = scriptedFetch(() => Response.json({ code: 1, result: id }));
    const service = serviceWith({ fetch });
    await service.modal({ taskId: id, speed: 'relax' }, never);
    await service.fetchTasks([id], never);
    expect(sent.map(({ redirect }) => redirect)).toEqual(['manual', 'manual']);
    expect((await failureOf(301, page, `${base}/v1`)).message).toContain(`try ${base}.`);
  });
});

describe('gateway 5.6', () => {
  const refusal = async (code: number, description: string): Promise<ServiceResult<SubmitResult>> =>
    respondingWith(200, { code, description, result: null }).action(
      { taskId: id, customId: 'IMG::JOB::upsample::1::old', speed: 'relax' },
      never,
    );

  test('gateway 5.6: an outdated customId is refused with the words of the service', async () => {
    expect(await refusal(4, 'customId is out of date')).toMatchObject({
      value: { kind: 'refused', code: 4, message: expect.stringContaining('customId is out of date') },
    });
  });

  test('gateway 5.3: a grid has no Vary (Region) button, and none is added', async () => {
    const task = await fetched({ status: 'SUCCESS', buttons });
    expect(task.buttons.map(({ label }) => label)).toEqual(['U1', '']);
  });

  test('gateway 4.6: a task stays in MODAL until its modal is submitted, however often it is polled', async () => {
    const service = respondingWith(200, { status: 'MODAL' });
    for (let polls = 0; polls < 3; polls++)
      expect(await service.fetchTask(id, never)).toMatchObject({ value: { state: 'modal' } });
    const { answer: result } = await exchanged((other) =>
      other.modal({ taskId: id, prompt: 'x', speed: 'relax' }, never),
    );
    expect(result).toEqual(accepted);
  });

  test.each([[], null])('gateway 4.3: a task with buttons %j is in progress', async (none) => {
    expect(await fetched({ status: 'IN_PROGRESS', buttons: none })).toMatchObject({
      state: 'unfinished',
      buttons: [],
    });
  });
});
