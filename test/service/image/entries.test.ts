import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import type { ImageService } from '../../../src/service/image-service.ts';
import { namePresets } from '../../../src/service/names.ts';
import { never, respondingWith, type SentRequest, scriptedFetch, serviceWith } from '../scripted-fetch.ts';

type Begin = Parameters<ImageService['begin']>[0];
type Asked = Partial<Begin> & Pick<Begin, 'kind'>;

const image = (data: string, mimeType = 'image/png') => ({ mimeType, data });
const uri = (data: string, mimeType = 'image/png'): string => `data:${mimeType};base64,${data}`;

async function sentBy(ask: (service: ImageService) => Promise<unknown>): Promise<SentRequest> {
  const { fetch, sent } = scriptedFetch(() => Response.json({ code: 1, result: '1700000000000001' }));
  await ask(serviceWith({ fetch }));
  const [request] = sent;
  if (request === undefined) throw new Error('Nothing was sent.');
  return request;
}

const began = (request: Asked): Promise<SentRequest> =>
  sentBy((service) =>
    service.begin({ fields: {}, images: [image('AAAA')], speed: 'relax', ...request }, never),
  );

describe('blend', () => {
  test.each([
    ['portrait', 'PORTRAIT'],
    ['SQUARE', 'SQUARE'],
    [' landscape ', 'LANDSCAPE'],
  ])('sends the dimensions %j as %s', async (dimensions, wire) => {
    const images = [image('AAAA'), image('BBBB', 'image/jpeg'), image('CCCC', 'image/webp')];
    const { body } = await began({ kind: 'blend', fields: { dimensions }, images });
    expect(body).toEqual({
      botType: 'IMG_JOURNEY',
      dimensions: wire,
      base64Array: [uri('AAAA'), uri('BBBB', 'image/jpeg'), uri('CCCC', 'image/webp')],
    });
  });

  test('omits undeclared dimensions, and sends a declared botType', async () => {
    const images = [image('AAAA'), image('AAAA')];
    const { body } = await began({ kind: 'blend', fields: { botType: 'NIJI_JOURNEY' }, images });
    expect(body).toEqual({ botType: 'NIJI_JOURNEY', base64Array: [uri('AAAA'), uri('AAAA')] });
  });
});

test('describe sends its image, and a language in its declared words', async () => {
  const { body } = await began({ kind: 'describe', fields: { language: 'zh' } });
  expect(body).toEqual({ botType: 'IMG_JOURNEY', language: 'zh', base64: uri('AAAA') });
});

test('shorten sends its prompt, and is not offered by a gateway without its path', async () => {
  const { body } = await began({ kind: 'shorten', fields: { prompt: 'a red fox' } });
  expect(body).toEqual({ botType: 'IMG_JOURNEY', prompt: 'a red fox' });
  const answers = [
    Response.json({ code: 1, result: '1700000000000001' }),
    new Response('404 page not found', { status: 404 }),
  ];
  const { fetch } = scriptedFetch(() => answers.shift() ?? Response.error());
  const service = serviceWith({ fetch });
  await service.begin({ kind: 'imagine', fields: { prompt: 'x' }, speed: 'relax' }, never);
  expect(
    await service.begin({ kind: 'shorten', fields: { prompt: 'x' }, speed: 'relax' }, never),
  ).toMatchObject({
    ok: false,
    error: { code: 'service.not-offered', class: 'permanent', status: 404, about: 'not-offered' },
  });
});

describe('video', () => {
  test('sends first and last frame, and all that is declared', async () => {
    const fields = {
      prompt: 'it turns',
      motion: 'high',
      loop: false,
      batchSize: 2,
      videoType: 'vid_1.1_i2v_720',
      animateMode: 'manual',
    };
    const { body } = await began({ kind: 'video', fields, images: [image('AAAA'), image('BBBB')] });
    expect(body).toEqual({
      botType: 'IMG_JOURNEY',
      ...fields,
      image: uri('AAAA'),
      endImage: uri('BBBB'),
    });
  });

  test('has low motion by default, because some gateways require a value', async () => {
    const { body } = await began({ kind: 'video' });
    expect(body).toEqual({ botType: 'IMG_JOURNEY', motion: 'low', image: uri('AAAA') });
  });

  test('converts rendered templates to the types of the wire', async () => {
    const fields = { motion: 'HIGH', loop: 'true', batchSize: '4' };
    const { body } = await began({ kind: 'video', fields });
    expect(body).toMatchObject({ motion: 'high', loop: true, batchSize: 4 });
    const odd = await began({ kind: 'video', fields: { loop: 'maybe', batchSize: 'many' } });
    expect(odd.body).toMatchObject({ loop: 'maybe', batchSize: 'many' });
  });

  test.each([1, '1', 4])('counts the extended video %j from 0 on the wire', async (extend) => {
    const { body } = await began({ kind: 'video', fields: { extend }, images: [], taskId: '17' });
    expect(body).toEqual({
      botType: 'IMG_JOURNEY',
      motion: 'low',
      action: 'extend',
      taskId: '17',
      index: Number(extend) - 1,
    });
  });
});

test('sends numbers in another notation as the numbers that they are', async () => {
  const two = { toJSON: () => 2 };
  const { body } = await began({ kind: 'video', fields: { extend: two, batchSize: two }, taskId: '17' });
  expect(body).toMatchObject({ index: 1, batchSize: 2 });
});

test('an extended video may have a last frame, and has no first frame', async () => {
  const { body } = await began({ kind: 'video', fields: { extend: 2 }, taskId: '17' });
  expect(body).toMatchObject({ action: 'extend', index: 1, endImage: uri('AAAA') });
  expect(body).not.toHaveProperty('image');
});

test('edit sends image, mask and prompt', async () => {
  const { body } = await began({
    kind: 'edit',
    fields: { prompt: 'a red scarf' },
    mask: image('MMMM'),
  });
  expect(body).toEqual({
    botType: 'IMG_JOURNEY',
    prompt: 'a red scarf',
    image: uri('AAAA'),
    maskBase64: uri('MMMM'),
  });
});

test('imagine sends its image prompts in order', async () => {
  const images = [image('AAAA', 'image/jpeg'), image('BBBB')];
  const { body } = await sentBy((service) =>
    service.begin({ kind: 'imagine', fields: { prompt: 'a fox' }, images, speed: 'relax' }, never),
  );
  expect(body).toEqual({
    botType: 'IMG_JOURNEY',
    prompt: 'a fox',
    base64Array: [uri('AAAA', 'image/jpeg'), uri('BBBB')],
  });
});

test('a modal sends the values of its confirmation, and nothing else', async () => {
  const modal = (more: object) =>
    sentBy((service) => service.modal({ taskId: '17', speed: 'relax', ...more }, never));
  expect((await modal({})).body).toEqual({ taskId: '17' });
  expect((await modal({ prompt: '' })).body).toEqual({ taskId: '17', prompt: '' });
  expect((await modal({ prompt: 'a scarf', mask: image('MMMM') })).body).toEqual({
    taskId: '17',
    prompt: 'a scarf',
    maskBase64: uri('MMMM'),
  });
});

test('sends the tag and the images of a job, whatever its fields are called', async () => {
  const fields = { state: 'mine', base64: 'x' };
  const { body } = await began({ kind: 'describe', fields, tag: 'k1' });
  expect(body).toEqual({ botType: 'IMG_JOURNEY', state: 'k1', base64: uri('AAAA') });
});

test.each(['imagine', 'blend', 'describe', 'shorten', 'video', 'edit'] as const)(
  "%s sends the botType of the gateway's names",
  async (kind) => {
    const { fetch, sent } = scriptedFetch(() => Response.json({ code: 1, result: '1700000000000001' }));
    const service = serviceWith({ fetch, names: { ...namePresets['midjourney-proxy'], botType: 'OWN_BOT' } });
    const common = { fields: {}, images: [image('AAAA')], speed: 'relax' } as const;
    await service.begin({ kind, ...common }, never);
    expect(sent[0]?.body).toMatchObject({ botType: 'OWN_BOT' });
  },
);

/** Every way to submit, with as little as it takes. */
const submissions: Readonly<
  Record<string, (service: ImageService, common: Pick<Begin, 'extra' | 'speed' | 'tag'>) => Promise<unknown>>
> = {
  action: (service, common) => service.action({ taskId: '1', customId: 'c', ...common }, never),
  modal: (service, common) => service.modal({ taskId: '1', ...common }, never),
  ...Object.fromEntries(
    (['imagine', 'blend', 'describe', 'video', 'edit'] as const).map((kind) => [
      kind,
      (service: ImageService, common: Pick<Begin, 'extra' | 'speed' | 'tag'>) =>
        service.begin({ kind, fields: {}, images: [image('AAAA')], ...common }, never),
    ]),
  ),
};

describe.each(Object.entries(submissions))('%s', (_name, submit) => {
  test('carries its tag as `state`, or no tag if there is none', async () => {
    const tagged = await sentBy((service) => submit(service, { speed: 'relax', tag: 'k1' }));
    expect(tagged.body).toMatchObject({ state: 'k1' });
    const plain = await sentBy((service) => submit(service, { speed: 'relax' }));
    expect(plain.body).not.toHaveProperty('state');
  });

  test('lets `extra` override other members one by one', async () => {
    const extra = { state: 'mine', accountFilter: { remark: 'a' }, base64: null };
    const { body } = await sentBy((service) => submit(service, { speed: 'relax', tag: 'k1', extra }));
    expect(body).toMatchObject(extra);
  });

  test.each([
    ['fast', 'neutral', '/img-fast/img/submit/'],
    ['turbo', 'midjourney-proxy', '/mj-turbo/mj/submit/'],
  ] as const)('at %s speed of %s goes to %s…', async (speed, preset, path) => {
    const { fetch, sent } = scriptedFetch(() => Response.json({ code: 1, result: '1700000000000001' }));
    await submit(serviceWith({ fetch, names: namePresets[preset] }), { speed });
    expect(sent[0]?.url.startsWith(`https://api.example.com${path}`)).toBe(true);
  });
});

test('a describe sends its picture, unless extra replaces it by a link', async () => {
  const asked = async (extra?: Begin['extra']): Promise<unknown> => {
    const { body } = await began({ kind: 'describe', ...(extra && { extra }) });
    return body;
  };
  const link = 'https://inside.example/fox.jpg';
  const base64 = uri('AAAA');
  expect(await asked()).toEqual({ botType: 'IMG_JOURNEY', base64 });
  expect(await asked({ link })).toEqual({ botType: 'IMG_JOURNEY', base64, link });
  expect(await asked({ link, base64: null })).toEqual({ botType: 'IMG_JOURNEY', base64: null, link });
});

test('extra is merged into the declared fields, and does not replace them', async () => {
  const { body } = await sentBy((service) =>
    service.begin(
      {
        kind: 'imagine',
        fields: { prompt: 'x', accountFilter: { modes: ['FAST'], remix: true } },
        extra: { accountFilter: { modes: ['RELAX'], remark: 'a' } },
        speed: 'relax',
      },
      never,
    ),
  );
  expect(body).toMatchObject({ accountFilter: { modes: ['RELAX'], remix: true, remark: 'a' } });
});

/** A text that a template may have rendered, as the wire wants it; any other value as it is. */
const rendered = (value: unknown, read: (text: string) => unknown): unknown =>
  typeof value === 'string' ? read(value) : value;

const counted = (value: unknown): unknown =>
  rendered(value, (text) => (/^\d{1,9}$/.test(text.trim()) ? Number(text) : text));

const truths: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
]);

/** The fields that a declared one becomes. */
function wireFields(kind: Begin['kind'], name: string, value: unknown): Readonly<Record<string, unknown>> {
  if (kind === 'blend' && name === 'dimensions')
    return { [name]: rendered(value, (text) => text.trim().toUpperCase()) };
  if (kind !== 'video') return { [name]: value };
  switch (name) {
    case 'motion':
      return { [name]: rendered(value, (text) => text.trim().toLowerCase()) };
    case 'batchSize':
      return { [name]: counted(value) };
    case 'loop':
      return { [name]: rendered(value, (text) => truths.get(text.trim().toLowerCase()) ?? text) };
    case 'extend': {
      const which = counted(value);
      return { action: 'extend', taskId: '17', index: typeof which === 'number' ? which - 1 : which };
    }
    default:
      return { [name]: value };
  }
}

const firstImage = { blend: 'base64Array', describe: 'base64', video: 'image', edit: 'image' } as const;

test('sends all fields with image and tag, and nothing else', async () => {
  const value = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom(' 3 ', '12', '1234567890', ' HIGH ', 'Square', 'TRUE', ' false ', 'maybe', ''),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(
        fc.constantFrom('motion', 'loop', 'batchSize', 'extend', 'dimensions', '__proto__', 'x'),
        value,
      ),
      fc.constantFrom('blend', 'describe', 'video', 'edit'),
      async (drawn, kind) => {
        // As the fields of a pipeline are: what JSON can say, and no more (-0 is 0).
        const fields = JSON.parse(JSON.stringify(drawn)) as Begin['fields'];
        const { body } = await began({ kind, fields, tag: 't', taskId: '17' });
        const image = kind === 'video' && 'extend' in fields ? 'endImage' : firstImage[kind];
        const expected = new Map<string, unknown>([
          ['botType', 'IMG_JOURNEY'],
          ...(kind === 'video' ? [['motion', 'low'] as const] : []),
          ...Object.entries(fields).flatMap(([name, held]) => Object.entries(wireFields(kind, name, held))),
          [image, kind === 'blend' ? [uri('AAAA')] : uri('AAAA')],
          ['state', 't'],
        ]);
        // As maps: a member that is called __proto__ counts as any other.
        expect(new Map(Object.entries(body as object))).toEqual(expected);
      },
    ),
    { seed: 20261121, numRuns: 500 },
  );
});

describe('a request that is too large', () => {
  const small = serviceWith({
    maxRequestBytes: 1_000,
    fetch: () => {
      throw new Error('must not be asked');
    },
  });
  const big = image('A'.repeat(2_000));

  test.each([
    [
      'an image prompt',
      () => small.begin({ kind: 'imagine', fields: {}, images: [image('AA'), big], speed: 'relax' }, never),
      'images[1]',
    ],
    [
      'one of a blend',
      () => small.begin({ kind: 'blend', fields: {}, images: [big, image('AA')], speed: 'relax' }, never),
      'images[0]',
    ],
    [
      'what is described',
      () => small.begin({ kind: 'describe', fields: {}, images: [big], speed: 'relax' }, never),
      'image',
    ],
    [
      'the last frame',
      () => small.begin({ kind: 'video', fields: {}, images: [image('AA'), big], speed: 'relax' }, never),
      'endImage',
    ],
    [
      'the mask',
      () =>
        small.begin({ kind: 'edit', fields: {}, images: [image('AA')], mask: big, speed: 'relax' }, never),
      'mask',
    ],
    ["a modal's mask", () => small.modal({ taskId: '1', mask: big, speed: 'relax' }, never), 'mask'],
    [
      'a prompt',
      () => small.modal({ taskId: '1', prompt: 'x'.repeat(2_000), speed: 'relax' }, never),
      'prompt',
    ],
    [
      'extra',
      () =>
        small.action(
          { taskId: '1', customId: 'c', extra: { note: 'x'.repeat(2_000) }, speed: 'relax' },
          never,
        ),
      'extra.note',
    ],
  ])('is never sent, and its largest part is named: %s', async (_what, ask, part) => {
    const result = await ask();
    expect(result).toMatchObject({ ok: false, error: { code: 'request.too-large', class: 'permanent' } });
    expect(result.ok ? '' : result.error.message).toContain(`2.0 kB of them in "${part}"`);
  });

  test('is measured in bytes, not in characters', async () => {
    const ask = (prompt: string) => small.modal({ taskId: '1', prompt, speed: 'relax' }, never);
    const result = await ask('狐'.repeat(500));
    expect(result).toMatchObject({ ok: false, error: { code: 'request.too-large' } });
    expect(result.ok ? '' : result.error.message).toContain('1.5 kB of them in "prompt"');
  });

  test("is reported by the service's refusal with its largest part too", async () => {
    const result = await respondingWith(413, '').modal({ taskId: '1', mask: big, speed: 'relax' }, never);
    expect(result).toMatchObject({ error: { code: 'service.too-large', class: 'permanent' } });
    expect(result.ok ? '' : result.error.message).toContain('in "mask"');
  });
});
