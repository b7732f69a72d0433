import { describe, expect, it } from 'vitest';
import { type Auth, KeyForms, type KeyPlace } from '../../src/service/key-forms.ts';
import { namePresets } from '../../src/service/names.ts';
import type { ServiceFailure, ServiceResult } from '../../src/service/result.ts';

const key = 'sk-0123456789abcdef';
const never = new AbortController().signal;
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
    await new KeyForms(key, names, auth).send(place, never, ask);
    expect(sent).toEqual([headers]);
  });

  it('sends nothing if there is no key', async () => {
    const { sent, ask } = asked(() => fine);
    for (const place of ['image', 'native', 'chat', 'models'] as const)
      await new KeyForms('', family, 'none').send(place, never, ask);
    expect(sent).toEqual([{}, {}, {}, {}]);
  });
});

describe('a key that is refused', () => {
  const forms = (auth: Auth = 'bearer') => {
    const found: string[] = [];
    return { keys: new KeyForms(key, family, auth, (words) => found.push(words)), found };
  };

  it.each([401, 403])('with %i is tried in all other forms, and the accepted one is kept', async (status) => {
    const { keys, found } = forms();
    const { sent, ask } = asked((headers) => (headers['authorization'] === key ? fine : failed(status)));
    expect(await keys.send('image', never, ask)).toEqual(fine);
    expect(await keys.send('image', never, ask)).toEqual(fine);
    expect(sent).toEqual([{ ...bearer, ...secret }, secret, { authorization: key }, { authorization: key }]);
    expect(found).toHaveLength(1);
    expect(found.join()).not.toContain(key);
  });

  describe('by a submission', () => {
    const refusesAll = asked(() => failed(401));
    const taking = (headers: Headers) => (headers['authorization'] === key ? fine : failed(401));

    it('is tried in other forms by free requests, and sent once in the accepted form', async () => {
      const { keys, found } = forms();
      const [posts, looks] = [asked(taking), asked(taking)];
      expect(await keys.send('image', never, posts.ask, () => 'a', looks.ask)).toEqual(fine);
      expect(posts.sent).toEqual([{ ...bearer, ...secret }, { authorization: key }]);
      expect([looks.sent, found.length]).toEqual([[secret, { authorization: key }], 1]);
    });

    it('is not sent again if every free request is refused', async () => {
      const { keys } = forms();
      const posts = asked(() => failed(401));
      expect((await keys.send('image', never, posts.ask, () => 'a', refusesAll.ask)).ok).toBe(false);
      expect([posts.sent.length, refusesAll.sent.length]).toEqual([1, 3]);
    });

    it.each([408, 425, 429, 503])(
      'is not sent again if a free request gets %i, and has made nothing',
      async (status) => {
        const posts = asked(() => failed(401));
        const result = await forms().keys.send(
          'image',
          never,
          posts.ask,
          () => 'a',
          asked(() => failed(status)).ask,
        );
        expect(result).toMatchObject({ error: { status, unmade: true } });
        expect(posts.sent).toHaveLength(1);
      },
    );

    it('moves to the next form if free requests need no key', async () => {
      const posts = asked(taking);
      expect(await forms().keys.send('image', never, posts.ask, () => 'a', asked(() => fine).ask)).toEqual(
        fine,
      );
      expect(posts.sent).toHaveLength(3);
    });
  });

  it('is not tried again once all forms were refused', async () => {
    const { keys } = forms();
    const { sent, ask } = asked(() => failed(401));
    await keys.send('image', never, ask);
    const again = await keys.send('image', never, ask);
    expect([sent.length, again.ok]).toEqual([5, false]);
  });

  it('is tried in no other form after any answer, on other paths, or if names have no header', async () => {
    let status = 200;
    const { sent, ask } = asked(() => (status === 200 ? fine : failed(status)));
    const { keys } = forms();
    await keys.send('image', never, ask);
    status = 401;
    await keys.send('image', never, ask);
    for (const place of ['native', 'chat', 'models'] as const satisfies readonly KeyPlace[])
      await keys.send(place, never, ask);
    await new KeyForms(key, neutral, 'bearer').send('image', never, ask);
    expect(sent).toHaveLength(6);
  });

  it('keeps no form to which a busy gateway has answered, and tries again', async () => {
    const { keys, found } = forms();
    const answers = [failed(401), failed(503), failed(401), fine];
    const { sent, ask } = asked(() => answers.shift() ?? fine);
    expect(await keys.send('image', never, ask)).toEqual(failed(503));
    expect(found).toEqual([]);
    expect(await keys.send('image', never, ask)).toEqual(fine);
    expect(sent).toHaveLength(4);
  });

  it('does not depend on its form if the account is empty', async () => {
    const empty = failed(403, { code: 'service.quota', class: 'stop', about: 'quota' });
    const { sent, ask } = asked(() => empty);
    expect(await forms().keys.send('image', never, ask)).toEqual(empty);
    expect(sent).toHaveLength(1);
  });

  it('makes requests wait that are refused meanwhile, unless they are cancelled', async () => {
    const { keys } = forms();
    const { promise: search, resolve: go } = withResolvers<ServiceResult<string>>();
    const slow = keys.send('image', never, (headers) =>
      'authorization' in headers ? Promise.resolve(failed(401)) : search,
    );
    const { sent, ask } = asked((headers) => ('authorization' in headers ? failed(401) : fine));
    const waiting = keys.send('image', never, ask);
    const leaves = new AbortController();
    const gone = keys.send('image', leaves.signal, ask);
    await Promise.resolve();
    leaves.abort();
    expect((await gone).ok).toBe(false);
    go(fine);
    expect([await slow, await waiting]).toEqual([fine, fine]);
    expect(sent.filter((headers) => !('authorization' in headers))).toHaveLength(1);
  });

  it.each([
    ['at the third request', ['a', 'b', 'c']],
    ['at the third request, whatever was repeated', ['a', 'a', 'a', 'b', 'c']],
    ['at the sixth refusal where nothing else is asked', ['a', 'a', 'a', 'a', 'a', 'a']],
    ['at the sixth refusal of two requests', ['a', 'b', 'a', 'b', 'a', 'b']],
  ])('without words fails no job, and ends the run %s', async (_, names) => {
    const keys = new KeyForms(key, neutral, 'bearer');
    const { ask } = asked(() => failed(403));
    const classes: unknown[] = [];
    for (const name of names) {
      const result = await keys.send('image', never, ask, () => name);
      if (!result.ok) classes.push(result.error.about ?? result.error.class);
    }
    expect(classes).toEqual([...names.slice(1).map(() => 'throttle'), 'key']);
  });

  it.each([
    ['words of a model', failed(403, { serviceMessage: '无权使用模型', about: 'not-offered' })],
    ['words of a rule', failed(403, { serviceMessage: 'not allowed' })],
    ['a task that may be made', failed(401, { class: 'lost', code: 'service.ambiguous' })],
    ['an empty 403 that may hide a task', failed(403, { class: 'lost' })],
  ])('does not depend on its form for %s', async (_, refusal) => {
    const { sent, ask } = asked(() => refusal);
    expect(await forms().keys.send('image', never, ask)).toEqual(refusal);
    expect(sent).toHaveLength(1);
  });
});

function withResolvers<T>() {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
