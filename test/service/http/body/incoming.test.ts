import { expect, test } from 'vitest';

import { IncomingBody } from '../../../../src/service/http/body/incoming.ts';

const KiB = 1024;

/** A body, and what was asked of its connection. */
function incoming(): { readonly body: IncomingBody; readonly asked: unknown[] } {
  const asked: unknown[] = [];
  const body = new IncomingBody({
    hold: () => asked.push('hold'),
    release: () => asked.push('release'),
    abort: (reason) => asked.push(reason),
  });
  return { body, asked };
}

test('pauses the connection while 64 KiB wait for their reader, and resumes it when fewer wait', async () => {
  const { body, asked } = incoming();
  body.push(new Uint8Array(64 * KiB - 1));
  expect(asked).toEqual([]);
  body.push(new Uint8Array(1));
  body.push(new Uint8Array(10));
  expect(asked).toEqual(['hold', 'hold']);
  await body.read();
  expect(asked).toEqual(['hold', 'hold', 'release']);
  body.push(new Uint8Array(64 * KiB - 12));
  expect(asked).toHaveLength(3);
  body.push(new Uint8Array(1));
  expect(asked.at(-1)).toBe('hold');
});

test('keeps the connection paused while enough bytes wait after a read', async () => {
  const { body, asked } = incoming();
  body.push(new Uint8Array(1));
  body.push(new Uint8Array(64 * KiB));
  await body.read();
  expect(asked).toEqual(['hold']);
  await body.read();
  expect(asked).toEqual(['hold', 'release']);
});

test('resumes the connection when its body ends; reading the rest then does not affect the next response', async () => {
  const { body, asked } = incoming();
  body.push(new Uint8Array(64 * KiB));
  body.push(new Uint8Array(1));
  body.end();
  expect(asked).toEqual(['hold', 'hold', 'release']);
  expect((await body.read()).value).toHaveLength(64 * KiB);
  await body.read();
  expect(asked).toHaveLength(3);
});

test('a broken body returns all bytes that came, and then its first error', async () => {
  const { body } = incoming();
  body.push(Uint8Array.of(1));
  body.end({ error: new Error('reset') });
  body.end();
  body.end({ error: new Error('later') });
  expect(await body.read()).toEqual({ done: false, value: Uint8Array.of(1) });
  await expect(body.read()).rejects.toThrow('reset');
});

test('a cancelled body returns nothing more, and ends its connection with the reason', async () => {
  const { body, asked } = incoming();
  body.push(Uint8Array.of(1));
  const why = new Error('too large');
  await body.cancel(why);
  expect(asked).toEqual([why]);
  await expect(body.read()).rejects.toThrow('too large');
  await body.cancel();
  expect(asked).toEqual([why]);
});

test('cancelling a body that has ended does not break the connection', async () => {
  const { body, asked } = incoming();
  body.end();
  await body.cancel();
  expect(asked).toEqual([]);
  expect(await body.read()).toEqual({ done: true });
});

test('leaving an iteration over a body cancels the body', async () => {
  const { body, asked } = incoming();
  body.push(Uint8Array.of(1));
  for await (const chunk of body) {
    expect(chunk).toEqual(Uint8Array.of(1));
    break;
  }
  expect(asked.at(-1)).toEqual(new Error('the rest of the answer is not needed'));
});

test('a waiting reader gets the next bytes', async () => {
  const { body } = incoming();
  const [first, last] = [body.read(), undefined];
  body.push(Uint8Array.of(7));
  expect([await first, last]).toEqual([{ done: false, value: Uint8Array.of(7) }, undefined]);
  const end = body.read();
  body.end();
  expect(await end).toEqual({ done: true });
});

test('a body has ended when no more bytes come, even while some wait to be read', async () => {
  const { body } = incoming();
  body.push(new Uint8Array(3));
  expect(body.hasEnded).toBe(false);
  body.end();
  expect(body.hasEnded).toBe(true);
  expect((await body.read()).value).toHaveLength(3);
  const { body: broken } = incoming();
  broken.end({ error: new Error('reset') });
  expect(broken.hasEnded).toBe(true);
});
