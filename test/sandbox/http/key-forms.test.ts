import { afterEach, describe, expect, it } from 'vitest';
import { midjourneyProxyNames } from '../../../src/sandbox/names.ts';
import type { SandboxSettings } from '../../../src/sandbox/settings.ts';
import { type Client, key, start } from '../client.ts';

let client: Client;
afterEach(() => client.sandbox.close());

const places = {
  image: ['GET', '/mj/task/1/fetch'],
  native: ['POST', '/v1beta/models/text-pro:generateContent'],
  chat: ['GET', '/v1/models'],
} as const;

const bearer = { authorization: `Bearer ${key}` };
const forms = {
  bearer,
  secret: { 'mj-api-secret': key },
  both: { ...bearer, 'mj-api-secret': key },
  vendor: { 'x-goog-api-key': key },
  raw: { authorization: key },
  none: {},
} as const;

/** Forms that are not answered 401, at each place. */
async function takenBy(settings: Partial<SandboxSettings>) {
  client = await start({ names: midjourneyProxyNames, settings });
  const taken: Record<string, readonly string[]> = {};
  for (const [place, [method, path]] of Object.entries(places)) {
    const statuses = await Promise.all(
      Object.entries(forms).map(async ([form, headers]) => {
        const { status } = await fetch(`${client.sandbox.url}${path}`, {
          method,
          headers: { 'content-type': 'application/json', ...headers },
          ...(method === 'POST' ? { body: '{}' } : {}),
        });
        return status === 401 || status === 403 ? [] : [form];
      }),
    );
    taken[place] = statuses.flat();
  }
  return taken;
}

describe('the key of a sandbox', () => {
  it.each([
    [
      'bearer',
      { image: ['bearer', 'secret', 'both'], native: ['bearer', 'both', 'vendor'], chat: ['bearer', 'both'] },
    ],
    ['header', { image: ['secret', 'both'], native: ['vendor'], chat: ['bearer', 'both'] }],
    ['raw', { image: ['raw'], native: ['bearer', 'both', 'vendor'], chat: ['bearer', 'both'] }],
    ['none', { image: Object.keys(forms), native: Object.keys(forms), chat: Object.keys(forms) }],
  ] as const)('with --auth %s', async (auth, expected) => {
    const taken = await takenBy({ auth });
    // Of the family, native text and chat take the header of images too.
    const without = (list: readonly string[] = []) =>
      auth === 'none' ? list : list.filter((form) => form !== 'secret');
    expect({ ...taken, native: without(taken['native']), chat: without(taken['chat']) }).toEqual(expected);
  });

  it('is refused without a word with the quirk mute-refusals', async () => {
    client = await start({ settings: { quirks: new Set(['mute-refusals']) } });
    const refused = await client.send('GET', '/img/task/1/fetch', undefined, { authorization: 'Bearer x' });
    expect([refused.status, refused.body]).toEqual([403, '']);
  });
});

describe('a proxy without buttons', () => {
  it('shows no buttons, and offers change instead of action', async () => {
    client = await start({ settings: { pace: 0, quirks: new Set(['no-buttons']) } });
    const { result } = (await client.imagine('a fox')).body;
    const { body } = await client.send('GET', `/img/task/${result}/fetch`);
    expect([body.status, 'buttons' in body]).toEqual(['SUCCESS', false]);
    const change = { taskId: result, action: 'UPSCALE', index: 2 };
    expect((await client.send('POST', '/img/submit/change', change)).body.code).toBe(1);
    for (const route of ['action', 'modal', 'video', 'edits'])
      expect((await client.send('POST', `/img/submit/${route}`, {})).status).toBe(404);
  });

  it.each(['img-fast', 'img-turbo'])('has no path with %s with the quirk no-prefixes', async (prefix) => {
    client = await start({ settings: { quirks: new Set(['no-prefixes']) } });
    const statuses = [await client.imagine('a fox'), await client.imagine('a fox', `/${prefix}`)];
    expect(statuses.map(({ status }) => status)).toEqual([200, 404]);
  });

  it('has mj-relax among the prefixes of the family', async () => {
    client = await start({ names: midjourneyProxyNames });
    const { status } = await client.send('POST', '/mj-relax/mj/submit/imagine', { prompt: 'a fox' });
    expect(status).toBe(200);
  });
});
