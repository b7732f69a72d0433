import { readFileSync } from 'node:fs';

import * as fc from 'fast-check';
import nock from 'nock';
import { afterEach, describe, expect, test } from 'vitest';

import { createImageService } from '../../../src/service/client.ts';
import { nameKeys, namePresets, resolveNames } from '../../../src/service/names.ts';
import { imagine, key, never, respondingWith, scriptedFetch, serviceWith } from '../scripted-fetch.ts';

const success = (): Response => Response.json({ code: 1, result: '1700000000000001' });

describe('a submission', () => {
  test('carries the key, declares JSON, names this program, and follows no redirect', async () => {
    const { fetch, sent } = scriptedFetch(success);
    const service = serviceWith({ fetch, version: '1.2.3' });
    await imagine(service);
    await service.fetchTask('1', never);
    expect(sent.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'POST https://api.example.com/img/submit/imagine',
      'GET https://api.example.com/img/task/1/fetch',
    ]);
    for (const request of sent) {
      expect(request.redirect).toBe('manual');
      expect(request.headers.get('authorization')).toBe(`Bearer ${key}`);
      expect(request.headers.get('content-type')).toBe('application/json');
      expect(request.headers.get('user-agent')).toBe('promptpress/1.2.3');
    }
  });

  test.each([
    ['relax', 'neutral', '/img/submit/imagine'],
    ['fast', 'neutral', '/img-fast/img/submit/imagine'],
    ['turbo', 'neutral', '/img-turbo/img/submit/imagine'],
    ['relax', 'midjourney-proxy', '/mj-relax/mj/submit/imagine'],
    [undefined, 'neutral', '/img/submit/imagine'],
    [undefined, 'midjourney-proxy', '/mj/submit/imagine'],
    ['fast', 'midjourney-proxy', '/mj-fast/mj/submit/imagine'],
    ['turbo', 'midjourney-proxy', '/mj-turbo/mj/submit/imagine'],
  ] as const)('%s speed of %s goes to %s', async (speed, preset, path) => {
    const { fetch, sent } = scriptedFetch(success);
    const service = serviceWith({ fetch, names: namePresets[preset] });
    await service.begin({ kind: 'imagine', fields: { prompt: 'x' }, speed }, never);
    await service.action({ taskId: '1', customId: 'c', speed }, never);
    await service.fetchTask('1', never);
    const base = 'https://api.example.com';
    expect(sent.map((request) => request.url)).toEqual([
      `${base}${path}`,
      `${base}${path.replace('imagine', 'action')}`,
      `${base}/${namePresets[preset].path}/task/1/fetch`,
    ]);
  });

  test.each([
    'https://api.example.com/proxy/v2',
    'https://api.example.com/proxy/v2/',
    'https://api.example.com/proxy/v2///',
    '  https://api.example.com/proxy/v2\n',
  ])('the base address %j may have a path', async (baseUrl) => {
    const { fetch, sent } = scriptedFetch(success);
    await imagine(serviceWith({ fetch, baseUrl }));
    expect(sent[0]?.url).toBe('https://api.example.com/proxy/v2/img/submit/imagine');
  });

  test('imagine sends the declared fields, a botType, and then the members of extra', async () => {
    const { fetch, sent } = scriptedFetch(success);
    const service = serviceWith({ fetch });
    const accountFilter = { modes: ['FAST'] };
    await service.begin({ kind: 'imagine', fields: { prompt: 'x', accountFilter }, speed: 'relax' }, never);
    await service.begin(
      { kind: 'imagine', fields: { prompt: 'x', botType: 'NIJI_JOURNEY' }, speed: 'relax' },
      never,
    );
    await service.begin(
      {
        kind: 'imagine',
        fields: { prompt: 'x' },
        extra: { botType: 'OTHER', state: 's', nested: { a: [1] } },
        speed: 'relax',
      },
      never,
    );
    expect(sent.map((request) => request.body)).toEqual([
      { botType: 'IMG_JOURNEY', prompt: 'x', accountFilter },
      { botType: 'NIJI_JOURNEY', prompt: 'x' },
      { botType: 'OTHER', prompt: 'x', state: 's', nested: { a: [1] } },
    ]);
  });

  test('action sends the task, the button, and enableRemix only if it is set', async () => {
    const { fetch, sent } = scriptedFetch(success);
    const service = serviceWith({ fetch });
    const click = {
      taskId: '14001929738841620',
      customId: 'IMG::Inpaint::1::x::SOLO',
      speed: 'relax',
    } as const;
    await service.action(click, never);
    await service.action({ ...click, enableRemix: false }, never);
    await service.action({ ...click, enableRemix: true, extra: { chooseSameChannel: true } }, never);
    expect(sent.map((request) => request.body)).toEqual([
      { taskId: click.taskId, customId: click.customId },
      { taskId: click.taskId, customId: click.customId, enableRemix: false },
      { taskId: click.taskId, customId: click.customId, enableRemix: true, chooseSameChannel: true },
    ]);
  });

  test('puts any id into one part of the path', async () => {
    const { fetch, sent } = scriptedFetch(() => Response.json({ status: '' }));
    const service = serviceWith({ fetch });
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }), async (id) => {
        sent.length = 0;
        const result = await service.fetchTask(id, never);
        const path = sent[0] === undefined ? '/img/task/%3F/fetch' : new URL(sent[0].url).pathname;
        const asked = decodeURIComponent(/^\/img\/task\/([^/]+)\/fetch$/.exec(path)?.[1] ?? '');
        const refusedUnasked = sent.length === 0 && !result.ok && result.error.code === 'service.bad-id';
        expect(refusedUnasked || asked === id).toBe(true);
      }),
      { seed: 20261101 },
    );
  });

  test('works through the global fetch too', async () => {
    nock('https://api.example.com', { reqheaders: { authorization: `Bearer ${key}` } })
      .post('/img/submit/imagine', { botType: 'IMG_JOURNEY', prompt: 'a fox' })
      .reply(200, { code: 22, result: '1700000000000002' })
      .get('/img/task/1700000000000002/fetch')
      .reply(301, '', { location: 'https://www.example.com/img' });
    const site = nock('https://www.example.com').get('/img').reply(200, 'no');
    const service = serviceWith({ fetch: globalThis.fetch });
    expect(await imagine(service)).toMatchObject({ value: { taskId: '1700000000000002', code: 22 } });
    expect(await service.fetchTask('1700000000000002', never)).toMatchObject({
      error: { code: 'service.redirect', class: 'stop' },
    });
    expect(site.isDone()).toBe(false);
  });

  afterEach(() => nock.cleanAll());
});

describe('the key', () => {
  test('is removed from everything that the service echoes', async () => {
    const body = {
      error: { message: `bad ${key} ${encodeURIComponent(key)} (request id: ${key})`, code: '' },
    };
    const title = `<html><title>Bearer ${key}</title>`;
    const results = [
      await imagine(respondingWith(401, body)),
      await imagine(respondingWith(403, title)),
      await imagine(respondingWith(200, title)),
      await imagine(respondingWith(301, '', { location: `https://${key}.example.com/${key}` })),
      await imagine(respondingWith(500, '', { 'x-request-id': key })),
      await imagine(respondingWith(200, { code: 4, description: `no ${key}`, result: null })),
      await imagine(respondingWith(200, { code: 24, description: '', properties: { bannedWord: key } })),
    ];
    for (const result of results) expect(JSON.stringify(result)).not.toContain(key);
    expect(results[0]).toMatchObject({ error: { serviceMessage: 'bad [secret] [secret]' } });
  });

  test('is removed with characters that URLs and JSON escape', async () => {
    const apiKey = 'a+b/"c"\\d=';
    const body = { error: { message: `${apiKey} ${encodeURIComponent(apiKey)} ${JSON.stringify(apiKey)}` } };
    const result = await imagine(respondingWith(403, body, {}, { apiKey }));
    expect(result).toMatchObject({ error: { serviceMessage: '[secret] [secret] "[secret]"' } });
  });

  test('is removed before a long message is cut', async () => {
    const result = await imagine(respondingWith(403, { error: { message: `${'x'.repeat(590)}${key}` } }));
    expect(JSON.stringify(result)).not.toContain(key.slice(0, 8));
  });
});

test('words of the service cannot control a terminal or fill it', async () => {
  const message = `\u001b[2J\u0007 \u202eevil\u200b\r\nline ${'🦊'.repeat(2000)}`;
  const result = await imagine(respondingWith(403, { error: { message } }));
  const shown = result.ok ? '' : (result.error.serviceMessage ?? '');
  expect(shown.startsWith('\\u{1b}[2J\\u{07} \\u{202e}evil\\u{200b} line 🦊')).toBe(true);
  expect(shown.length).toBeLessThanOrEqual(601);
  expect(shown.endsWith('🦊…')).toBe(true);
});

test('a base address or key that was never checked is a bug', () => {
  const options = { baseUrl: 'https://x.example', apiKey: key, names: namePresets.neutral, requestMs: 1 };
  expect(() => createImageService({ ...options, baseUrl: 'x' })).toThrow(/^Internal error: /);
  expect(() => createImageService({ ...options, apiKey: 'a b' })).toThrow(/^Internal error: (?!.*a b)/);
});

describe('names', () => {
  test('are those of the pipeline schema', () => {
    const schema = JSON.parse(
      readFileSync(new URL('../../../schemas/pipeline.schema.json', import.meta.url), 'utf8'),
    );
    const { preset, ...single } = schema.$defs.names.properties;
    expect(Object.keys(single).sort()).toEqual([...nameKeys].sort());
    expect(preset.enum).toEqual(Object.keys(namePresets));
  });

  test('of a preset match its gateways', () => {
    expect(namePresets['midjourney-proxy']).toEqual({
      path: 'mj',
      relaxPrefix: 'mj-relax',
      fastPrefix: 'mj-fast',
      turboPrefix: 'mj-turbo',
      nativePath: 'v1beta',
      customId: 'MJ',
      botType: 'MID_JOURNEY',
      searchTool: 'google_search',
      mapsTool: 'googleMaps',
      keyHeader: 'x-goog-api-key',
      imageKeyHeader: 'mj-api-secret',
      errorType: 'new_api_error',
    });
  });

  test.each([
    ['path', 'api/v1.2/img'],
    ['nativePath', '_v1~beta/x'],
    ['customId', 'IMG::2'],
    ['botType', 'a-b/c'],
    ['keyHeader', "x_key!#$%&'*+.^`|~"],
  ] as const)('%s may be %s', (name, word) => {
    expect(resolveNames('neutral', { [name]: word })).toEqual({
      ok: true,
      value: { ...namePresets.neutral, [name]: word },
    });
  });

  test('that are unknown are shown without control characters', () => {
    const resolved = resolveNames('neutral', { botType: '\u001b[2J "x"' });
    const [error] = resolved.ok ? [] : resolved.error;
    expect(error).toMatchObject({ code: 'names.invalid', name: 'botType' });
    expect(error?.message).toContain('"\\u001b[2J \\"x\\""');
  });

  test('replace single names of a preset', () => {
    const resolved = resolveNames('midjourney-proxy', { path: 'api/mj', keyHeader: 'x-key' });
    expect(resolved).toEqual({
      ok: true,
      value: { ...namePresets['midjourney-proxy'], path: 'api/mj', keyHeader: 'x-key' },
    });
  });

  test('are checked all at once, and the known ones are listed', () => {
    const resolved = resolveNames('midjorney', { pth: 'x', path: '../admin', keyHeader: 'a b', botType: '' });
    expect(resolved.ok ? [] : resolved.error.map(({ code, name }) => [code, name])).toEqual([
      ['names.unknown-preset', undefined],
      ['names.unknown-name', 'pth'],
      ['names.invalid', 'path'],
      ['names.invalid', 'keyHeader'],
      ['names.invalid', 'botType'],
    ]);
    const messages = resolved.ok ? '' : resolved.error.map(({ message }) => message).join('\n');
    expect(messages).toContain('neutral, midjourney-proxy');
    expect(messages).toContain('path, relaxPrefix, fastPrefix, turboPrefix');
  });

  test.each(['Host', 'content-length', 'transfer-encoding', 'Connection', 'a b', 'x:y'])(
    'may not use %j as the header of the key',
    (header) => {
      for (const name of ['keyHeader', 'imageKeyHeader'])
        expect(resolveNames('neutral', { [name]: header })).toMatchObject({
          ok: false,
          error: [{ code: 'names.invalid', name }],
        });
    },
  );

  test('may be empty for the header of images and the prefix of relax', () => {
    const none = { imageKeyHeader: '', relaxPrefix: '' };
    expect(resolveNames('midjourney-proxy', none)).toMatchObject({ ok: true, value: none });
    expect(resolveNames('midjourney-proxy', { keyHeader: '' }).ok).toBe(false);
  });

  test.each(['constructor', '__proto__', 'toString'])('do not include %s, as preset or name', (word) => {
    expect(resolveNames(word).ok).toBe(false);
    expect(resolveNames('neutral', JSON.parse(`{"${word}":"x"}`)).ok).toBe(false);
  });

  test.each(['/img', 'img/', 'a//b', '..', 'a/../b', 'a?b', 'a#b', 'a b', 'ä', '%2e'])(
    'may not use %j as a path',
    (path) => {
      expect(resolveNames('neutral', { path }).ok).toBe(false);
    },
  );
});
