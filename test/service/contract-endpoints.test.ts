import { describe, expect, test } from 'vitest';

import type { ImageService, SubmitResult, Task } from '../../src/service/image-service.ts';
import type { ServiceResult } from '../../src/service/result.ts';
import {
  exchanged,
  imagine,
  key,
  never,
  respondingWith,
  type SentRequest,
  scriptedFetch,
  serviceWith,
} from './scripted-fetch.ts';
import { call, failureOf, sentFor, textServiceWith } from './text/text-service.ts';

/** The rules of the gateway about fields, endpoints, limits and versions that concern the clients, each by its section. */

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

interface Row {
  readonly line: string;
  readonly ask: (service: ImageService) => Promise<ServiceResult<SubmitResult>>;
  readonly body: unknown;
}

const rows: readonly Row[] = [
  {
    line: 'POST /img/submit/imagine',
    ask: (service) =>
      service.begin(
        {
          kind: 'imagine',
          fields: { prompt: 'a fox --v 6.1', accountFilter: { modes: ['FAST'] } },
          speed: 'relax',
        },
        never,
      ),
    body: { botType: 'IMG_JOURNEY', prompt: 'a fox --v 6.1', accountFilter: { modes: ['FAST'] } },
  },
  {
    line: 'POST /img/submit/action',
    ask: (service) =>
      service.action({ taskId: id, customId: 'IMG::Inpaint::x', enableRemix: true, speed: 'relax' }, never),
    body: { taskId: id, customId: 'IMG::Inpaint::x', enableRemix: true },
  },
  {
    line: 'POST /img/submit/modal',
    ask: (service) => service.modal({ taskId: id, prompt: 'a scarf', mask: image, speed: 'relax' }, never),
    body: { taskId: id, prompt: 'a scarf', maskBase64: uri },
  },
  {
    line: 'POST /img/submit/blend',
    ask: (service) =>
      service.begin({ kind: 'blend', fields: {}, images: [image, image], speed: 'relax' }, never),
    body: { botType: 'IMG_JOURNEY', base64Array: [uri, uri] },
  },
  {
    line: 'POST /img/submit/describe',
    ask: (service) => service.begin({ kind: 'describe', fields: {}, images: [image], speed: 'relax' }, never),
    body: { botType: 'IMG_JOURNEY', base64: uri },
  },
  {
    line: 'POST /img/submit/shorten',
    ask: (service) => service.begin({ kind: 'shorten', fields: { prompt: 'a fox' }, speed: 'relax' }, never),
    body: { botType: 'IMG_JOURNEY', prompt: 'a fox' },
  },
  {
    line: 'POST /img/submit/video',
    ask: (service) =>
      service.begin({ kind: 'video', fields: { motion: 'high' }, images: [image], speed: 'relax' }, never),
    body: { botType: 'IMG_JOURNEY', motion: 'high', image: uri },
  },
  {
    line: 'POST /img/submit/edits',
    ask: (service) =>
      service.begin(
        { kind: 'edit', fields: { prompt: 'a scarf' }, images: [image], mask: image, speed: 'relax' },
        never,
      ),
    body: { botType: 'IMG_JOURNEY', prompt: 'a scarf', image: uri, maskBase64: uri },
  },
];

describe('gateway 2.1', () => {
  test.each(rows)('gateway 2.1: $line', async ({ line, ask, body }) => {
    const { answer: result, line: sent, request } = await exchanged(ask);
    expect(result).toEqual(accepted);
    expect(sent).toBe(line);
    expect(request.body).toEqual(body);
  });

  test('gateway 2.1: GET /img/task/{id}/fetch', async () => {
    const record = { status: 'SUCCESS', imageUrl: 'https://x.test/a.png', buttons };
    const {
      answer: result,
      line: sent,
      request,
    } = await exchanged((service) => service.fetchTask(id, never), record);
    expect(result).toEqual({
      ok: true,
      value: { id, state: 'success', status: 'SUCCESS', imageUrl: 'https://x.test/a.png', buttons },
    });
    expect(sent).toBe(`GET /img/task/${id}/fetch`);
    expect(request.body).toBeUndefined();
  });

  test.each(rows)(
    'gateway 2.1, 1.4: $line is JSON, with exactly `Authorization: Bearer <key>`',
    async ({ ask }) => {
      const { request } = await exchanged(ask);
      expect(request.headers.get('content-type')).toBe('application/json');
      expect(request.headers.get('authorization')).toBe(`Bearer ${key}`);
    },
  );
});

describe('gateway 1.5', () => {
  const submits = {
    imagine: (service: ImageService, speed: 'fast' | 'turbo' | 'relax') =>
      service.begin({ kind: 'imagine', fields: { prompt: 'x' }, speed }, never),
    action: (service: ImageService, speed: 'fast' | 'turbo' | 'relax') =>
      service.action({ taskId: id, customId: 'c', speed }, never),
    modal: (service: ImageService, speed: 'fast' | 'turbo' | 'relax') =>
      service.modal({ taskId: id, speed }, never),
    blend: (service: ImageService, speed: 'fast' | 'turbo' | 'relax') =>
      service.begin({ kind: 'blend', fields: {}, images: [image, image], speed }, never),
    describe: (service: ImageService, speed: 'fast' | 'turbo' | 'relax') =>
      service.begin({ kind: 'describe', fields: {}, images: [image], speed }, never),
    video: (service: ImageService, speed: 'fast' | 'turbo' | 'relax') =>
      service.begin({ kind: 'video', fields: {}, images: [image], speed }, never),
    edits: (service: ImageService, speed: 'fast' | 'turbo' | 'relax') =>
      service.begin({ kind: 'edit', fields: {}, images: [image], speed }, never),
  };

  describe.each([
    ['fast', '/img-fast/img/submit/'],
    ['turbo', '/img-turbo/img/submit/'],
    ['relax', '/img/submit/'],
  ] as const)('gateway 1.5: %s has the path %s…', (speed, path) => {
    test.each(Object.entries(submits))('%s', async (what, submit) => {
      const { line: sent } = await exchanged((service) => submit(service, speed));
      expect(sent).toBe(`POST ${path}${what}`);
    });
  });
});

describe('the fields of requests and responses', () => {
  test('gateway 3.1: code 1 and the id of the new task', async () => {
    expect(await imagine(respondingWith(200, { code: 1, result: id }))).toEqual(accepted);
  });

  test('gateway 4.2: a task of which only status, imageUrl and buttons are known', async () => {
    expect(await fetched({ status: 'IN_PROGRESS', buttons: [] })).toEqual({
      id,
      state: 'unfinished',
      status: 'IN_PROGRESS',
      buttons: [],
    });
  });

  test('gateway 5.1: label and emoji are optional, the customId is opaque', async () => {
    const odd = { customId: 'not::of::any\u00a0pattern' };
    const task = await fetched({ status: 'SUCCESS', buttons: [odd] });
    expect(task.buttons).toEqual([{ ...odd, label: '', emoji: '' }]);
    const [button] = task.buttons;
    const { request } = await exchanged((service) =>
      service.action({ taskId: id, customId: button?.customId ?? '', speed: 'relax' }, never),
    );
    expect(request.body).toEqual({ taskId: id, customId: odd.customId });
  });

  test('gateway 2.3: a submission always has a botType, the declared one if there is one', async () => {
    const { request } = await exchanged((service) =>
      service.begin(
        { kind: 'imagine', fields: { prompt: 'x', botType: 'NIJI_JOURNEY' }, speed: 'relax' },
        never,
      ),
    );
    expect(request.body).toEqual({ botType: 'NIJI_JOURNEY', prompt: 'x' });
  });

  test('gateway 2.5: a custom zoom has a prompt and no mask', async () => {
    const { request } = await exchanged((service) =>
      service.modal({ taskId: id, prompt: 'a fox --zoom 1.8', speed: 'relax' }, never),
    );
    expect(request.body).toEqual({ taskId: id, prompt: 'a fox --zoom 1.8' });
  });
});

describe('gateway 9', () => {
  test.each([2, 5])('gateway 2.6: a blend of %i images sends them all, in order', async (count) => {
    const images = Array.from({ length: count }, (_, n) => ({ ...image, data: `AAA${n}` }));
    const { request } = await exchanged((service) =>
      service.begin({ kind: 'blend', fields: {}, images, speed: 'relax' }, never),
    );
    expect(request.body).toMatchObject({ base64Array: images.map(({ data }) => uri.replace('AAAA', data)) });
  });

  test('gateway 9.1: a body of 8 MiB is sent', async () => {
    const large = { ...image, data: 'A'.repeat(8 * 1024 * 1024) };
    const { answer: result } = await exchanged((service) =>
      service.begin({ kind: 'describe', fields: {}, images: [large], speed: 'relax' }, never),
    );
    expect(result).toEqual(accepted);
  });

  test('gateway 9.2: a 429 is a pause and not a failure of the job, whatever the threshold', async () => {
    const result = await respondingWith(
      429,
      { error: { code: '', message: 'slow down', type: 'svc_api_error' } },
      { 'retry-after': '5' },
    ).modal({ taskId: id, speed: 'relax' }, never);
    expect(result).toMatchObject({
      error: { code: 'service.throttled', class: 'throttle', retryAfterMs: 5_000 },
    });
  });

  test('gateway 9.1: a request larger than gateways accept is refused before it leaves, and its largest part is named', async () => {
    const large = { ...image, data: 'A'.repeat(17 * 1024 * 1024) };
    const service = serviceWith({
      fetch: () => {
        throw new Error('must not be asked');
      },
    });
    const result = await service.begin(
      { kind: 'blend', fields: {}, images: [large, large], speed: 'relax' },
      never,
    );
    expect(result).toMatchObject({ error: { code: 'request.too-large', class: 'permanent' } });
  });
});

describe('gateway 1.3', () => {
  const pathOf = ({ url }: SentRequest): string => new URL(url).pathname;

  test('gateway 1.3: chat and the list of models are under /v1', async () => {
    const messages = [{ role: 'user', content: 'Is it a fox?' }];
    const chat = call({ model: 'text-pro', messages }, { kind: 'chat' });
    expect(pathOf(await sentFor(chat))).toBe('/v1/chat/completions');
    const { fetch, sent } = scriptedFetch(() => Response.json({ data: [{ id: 'text-pro' }] }));
    expect(await textServiceWith({ fetch }).models(never)).toMatchObject({ ok: true });
    expect(sent.map(pathOf)).toEqual(['/v1/models']);
  });

  test('gateway 1.3: native text generation is under /v1beta', async () => {
    const sent = await sentFor(call({ prompt: 'Is it a fox?' }));
    expect(pathOf(sent)).toBe('/v1beta/models/text-pro:generateContent');
  });

  test.each(rows)('gateway 1.3: $line has no version segment', async ({ ask }) => {
    const { line: sent } = await exchanged(ask);
    expect(sent).not.toMatch(/\/v\d/);
  });

  test.each(['IMG::JOB::upsample_v6r1_2x_subtle::1::x::SOLO', 'IMG::JOB::upsample_v5_2x::1::x::SOLO'])(
    'gateway 5.1: the button %s is read and pressed unchanged',
    async (customId) => {
      const task = await fetched({ status: 'SUCCESS', buttons: [{ customId, label: 'Upscale' }] });
      expect(task.buttons).toEqual([{ customId, label: 'Upscale', emoji: '' }]);
      const { request } = await exchanged((service) =>
        service.action({ taskId: id, customId, speed: 'relax' }, never),
      );
      expect(request.body).toMatchObject({ customId });
    },
  );

  test.each([
    ['minimal', { thinkingLevel: 'MINIMAL' }],
    ['low', { thinkingLevel: 'LOW' }],
    ['medium', { thinkingLevel: 'MEDIUM' }],
    ['high', { thinkingLevel: 'HIGH' }],
    [1024, { thinkingBudget: 1024 }],
  ])(
    'gateway 6.3: thinking %j is sent only as the parameter of its generation',
    async (thinking, thinkingConfig) => {
      const { body } = await sentFor(call({ prompt: 'Is it a fox?', thinking }));
      expect(body).toMatchObject({ generationConfig: { thinkingConfig } });
      const sent = body as { readonly generationConfig: { readonly thinkingConfig: object } };
      expect(Object.keys(sent.generationConfig.thinkingConfig)).toEqual(Object.keys(thinkingConfig));
    },
  );

  test('gateway 6.3: the refusal of a parameter of the other generation names the right one', async () => {
    const refused = { error: { code: 400, message: 'thinking_level is not supported by this model' } };
    const failure = await failureOf(refused, call({ prompt: 'x', thinking: 'low' }), { status: 400 });
    expect(failure.class).toBe('permanent');
    expect(failure.message).toContain('takes a thinking budget');
  });
});
