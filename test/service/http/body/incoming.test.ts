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

test('a connection is held while 64 KiB wait for their reader, and goes on when fewer do', async () => {
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

test('a connection stays held while as much waits behind what was read', async () => {
  const { body, asked } = incoming();
  body.push(new Uint8Array(1));
  body.push(new Uint8Array(64 * KiB));
  await body.read();
  expect(asked).toEqual(['hold']);
  await body.read();
  expect(asked).toEqual(['hold', 'release']);
});

test('a connection goes on when its body ends, and is not touched by who reads the rest: it has its next response by then', async () => {
  const { body, asked } = incoming();
  body.push(new Uint8Array(64 * KiB));
  body.push(new Uint8Array(1));
  body.end();
  expect(asked).toEqual(['hold', 'hold', 'release']);
  expect((await body.read()).value).toHaveLength(64 * KiB);
  await body.read();
  expect(asked).toHaveLength(3);
});

test('a body that broke gives all that came, and then what broke it first', async () => {
  const { body } = incoming();
  body.push(Uint8Array.of(1));
  body.end({ error: new Error('reset') });
  body.end();
  body.end({ error: new Error('later') });
  expect(await body.read()).toEqual({ done: false, value: Uint8Array.of(1) });
  await expect(body.read()).rejects.toThrow('reset');
});

test('a body that is no longer wanted gives nothing more, and ends its connection with the reason', async () => {
  const { body, asked } = incoming();
  body.push(Uint8Array.of(1));
  const why = new Error('too large');
  await body.cancel(why);
  expect(asked).toEqual([why]);
  await expect(body.read()).rejects.toThrow('too large');
  await body.cancel();
  expect(asked).toEqual([why]);
});

test('a body that has ended is not broken off by who no longer wants it', async () => {
  const { body, asked } = incoming();
  body.end();
  await body.cancel();
  expect(asked).toEqual([]);
  expect(await body.read()).toEqual({ done: true });
});

test('who stops going through a body gives it up', async () => {
  const { body, asked } = incoming();
  body.push(Uint8Array.of(1));
  for await (const chunk of body) {
    expect(chunk).toEqual(Uint8Array.of(1));
    break;
  }
  expect(asked.at(-1)).toEqual(new Error('the rest of the answer is not needed'));
});

test('a reader that waits gets what comes', async () => {
  const { body } = incoming();
  const [first, last] = [body.read(), undefined];
  body.push(Uint8Array.of(7));
  expect([await first, last]).toEqual([{ done: false, value: Uint8Array.of(7) }, undefined]);
  const end = body.read();
  body.end();
  expect(await end).toEqual({ done: true });
});

test('a body has ended once nothing more comes, also while some of it waits to be read', async () => {
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
