import { describe, expect, test } from 'vitest';
import { secretMaskOf } from '../../../src/service/http/secrets.ts';
import type { Task } from '../../../src/service/image-service.ts';
import { key, never, respondingWith, serviceWith } from '../scripted-fetch.ts';

const id = '1700000000000001';
const other = 'another-value-4711';

const seen = async (record: object): Promise<Task> => {
  const result = await respondingWith(200, { id, status: 'SUCCESS', ...record }).fetchTask(id, never);
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
};

describe('the kept part of a finished task', () => {
  test('has the first hundred buttons, with their labels cut', async () => {
    const button = (n: number, label: string) => ({ customId: `IMG::${n}`, label, emoji: '' });
    const many = Array.from({ length: 10_000 }, (_, n) => button(n, `U${n}`));
    expect((await seen({ buttons: many })).buttons).toHaveLength(100);
    const [long] = (await seen({ buttons: [button(1, `${'x'.repeat(199)}😀😀`)] })).buttons;
    expect(long?.label).toBe(`${'x'.repeat(199)}…`);
  });

  test('has no button with an impossibly long id', async () => {
    expect((await seen({ buttons: [{ customId: 'x'.repeat(1_001), label: 'U1' }] })).buttons).toEqual([]);
  });

  test.each([
    ['customId', { customId: `IMG::${key}`, label: 'U1' }],
    ['label', { customId: 'IMG::1', label: key }],
    ['emoji', { customId: 'IMG::1', emoji: encodeURIComponent(key) }],
  ])('has no button that repeats the key: %s', async (_where, button) => {
    const sound = { customId: 'IMG::2', label: 'U2', emoji: '' };
    expect((await seen({ buttons: [button, sound] })).buttons).toEqual([sound]);
  });

  test('has no link that repeats the key or has no end', async () => {
    expect((await seen({ imageUrl: `https://x.test/a.png?token=${key}` })).imageUrl).toBe('[secret]');
    expect((await seen({ imageUrl: `data:,${'x'.repeat(1_000_000)}` })).imageUrl).toHaveLength(16_384);
  });
});

test('a task id that repeats the key is invalid: the submission is in doubt', async () => {
  const result = await respondingWith(200, { code: 1, description: '', result: `${key}-1` }).begin(
    { kind: 'imagine', fields: { prompt: 'x' }, speed: 'relax' },
    never,
  );
  expect(result).toMatchObject({ ok: false, error: { code: 'service.malformed', class: 'lost' } });
  expect(JSON.stringify(result)).not.toContain(key);
});

describe('an error response', () => {
  const refusal = async (status: number, fields: object): Promise<string> => {
    const body = JSON.stringify({ error: { message: `no ${other} ${key}` } });
    const service = serviceWith({
      fetch: () => Promise.resolve(new Response(body, { status })),
      secrets: [other],
      keySource: 'the variable MY_KEY',
    });
    const result = await service.begin({ kind: 'imagine', fields: { ...fields }, speed: 'relax' }, never);
    return result.ok ? '' : result.error.message;
  };

  test('hides every secret it knows', async () => {
    expect(await refusal(400, {})).toBe('POST /img/submit/imagine: HTTP 400: no [secret] [secret].');
  });

  test('about the key names its source', async () => {
    expect(await refusal(401, {})).toContain('The API key came from the variable MY_KEY.');
  });

  test('about missing rights advises a plain request', async () => {
    expect(await refusal(403, {})).toContain('try a plain prompt');
  });

  test('about a large request names its largest part', async () => {
    const message = await refusal(413, { prompt: 'a fox', base64Array: ['x'.repeat(2_500_000)] });
    expect(message).toMatch(/the request has 2\.5 MB, 2\.5 MB of them in "base64Array"/);
  });
});

describe('a mask', () => {
  test('finds a secret in JSON, in an address, in a host name and in CSV', () => {
    const secret = 'A"b/C d\\9=';
    const mask = secretMaskOf([secret]);
    const forms = [
      JSON.stringify(secret).slice(1, -1),
      encodeURIComponent(secret),
      encodeURIComponent(secret).replaceAll('%2F', '%2f').replaceAll('%3D', '%3d').replaceAll('%5C', '%5c'),
      secret.replaceAll('"', '""'),
      secret.toLowerCase(),
    ];
    for (const form of forms) expect(mask(`x ${form} y`)).toBe('x [secret] y');
  });

  test('leaves words alone that are too short to be secrets', () => {
    expect(secretMaskOf(['', 'abc'])('abc')).toBe('abc');
    expect(secretMaskOf(['PROD'])('product')).toBe('product');
  });
});
