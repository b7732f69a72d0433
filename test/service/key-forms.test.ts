import { describe, expect, it } from 'vitest';
import { KeyForms } from '../../src/service/key-forms.ts';
import { namePresets } from '../../src/service/names.ts';
import type { ServiceFailure, ServiceResult } from '../../src/service/result.ts';

const key = 'sk-0123456789abcdef';
type Headers = Readonly<Record<string, string>>;

const failed = (status: number, more: Partial<ServiceFailure> = {}): ServiceResult<string> => ({
  ok: false,
  error: {
    code: 'service.rejected',
    class: 'permanent',
    message: `POST /x: HTTP ${status}.`,
    status,
    ...more,
  },
});
const fine: ServiceResult<string> = { ok: true, value: 'done' };

/** Answers by the headers of a request, and keeps them. */
function asked(answer: (headers: Headers) => ServiceResult<string>) {
  const sent: Headers[] = [];
  const ask = (headers: Headers): Promise<ServiceResult<string>> => {
    sent.push(headers);
    return Promise.resolve(answer(headers));
  };
  return { sent, ask };
}

const bearer = { authorization: `Bearer ${key}` };
const secret = { 'mj-api-secret': key };
const family = namePresets['midjourney-proxy'];
const { neutral } = namePresets;

describe('where the key stands', () => {
  it.each([
    ['bearer', neutral, 'image', bearer],
    ['bearer', family, 'image', { ...bearer, ...secret }],
    ['bearer', family, 'native', bearer],
    ['bearer', family, 'chat', bearer],
    ['bearer', family, 'models', bearer],
    ['header', neutral, 'image', bearer],
    ['header', family, 'image', secret],
    ['header', family, 'native', { 'x-goog-api-key': key }],
    ['header', family, 'chat', bearer],
    ['raw', family, 'image', { authorization: key }],
    ['raw', neutral, 'image', { authorization: key }],
    ['raw', family, 'native', bearer],
    ['none', family, 'image', {}],
    ['none', family, 'chat', bearer],
  ] as const)('auth %s with %o on a path of %s', async (auth, names, place, headers) => {
    const { sent, ask } = asked(() => fine);
    await new KeyForms(key, names, auth).send(place, ask);
    expect(sent).toEqual([headers]);
  });

  it('sends nothing if there is no key', async () => {
    const { sent, ask } = asked(() => fine);
    for (const place of ['image', 'native', 'chat', 'models'] as const)
      await new KeyForms('', family, 'none').send(place, ask);
    expect(sent).toEqual([{}, {}, {}, {}]);
  });
});

describe('a key that is refused', () => {
  it.each([
    ['bearer', family, 'image', 'service.auth: header, service.auth: raw'],
    ['raw', family, 'image', 'service.auth: bearer, service.auth: header'],
    ['bearer', neutral, 'image', 'write service.auth: raw'],
    ['raw', neutral, 'image', 'leave service.auth: raw out'],
    ['bearer', family, 'native', 'write service.auth: header'],
    ['none', family, 'image', 'service.auth is none'],
  ] as const)(
    'auth %s with %o on a path of %s: the message says what to write',
    async (auth, names, place, says) => {
      const { sent, ask } = asked(() => failed(401));
      const result = await new KeyForms(key, names, auth).send(place, ask);
      expect(result).toMatchObject({ error: { status: 401, message: expect.stringContaining(says) } });
      expect([sent.length, JSON.stringify(result).includes(key)]).toEqual([1, false]);
    },
  );

  it('is not explained once the place has answered', async () => {
    const keys = new KeyForms(key, family, 'bearer');
    expect(await keys.send('image', asked(() => fine).ask)).toEqual(fine);
    expect(await keys.send('image', asked(() => failed(401)).ask)).toEqual(failed(401));
  });

  it('without words fails no job, and ends the run at the sixth refusal', async () => {
    const keys = new KeyForms(key, neutral, 'bearer');
    const { ask } = asked(() => failed(403));
    const classes: unknown[] = [];
    for (let count = 0; count < 6; count += 1) {
      const result = await keys.send('image', ask);
      if (!result.ok) classes.push(result.error.about ?? result.error.class);
    }
    expect(classes).toEqual([...Array.from({ length: 5 }, () => 'throttle'), 'key']);
  });

  it.each([
    ['words of a model', failed(403, { serviceMessage: '无权使用模型', about: 'not-offered' })],
    ['words of a rule', failed(403, { serviceMessage: 'not allowed' })],
    ['an empty account', failed(403, { code: 'service.quota', class: 'stop', about: 'quota' })],
    ['a task that may be made', failed(401, { class: 'lost', code: 'service.ambiguous' })],
    ['an empty 403 that may hide a task', failed(403, { class: 'lost' })],
  ])('is not blamed for %s', async (_, refusal) => {
    expect(await new KeyForms(key, family, 'bearer').send('image', asked(() => refusal).ask)).toEqual(
      refusal,
    );
  });
});
