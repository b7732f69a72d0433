import { expect, test } from 'vitest';

import { BodyPool } from '../../../../src/service/http/body/budget.ts';
import { amount, BodyTooLarge, readBody, readChunks } from '../../../../src/service/http/body/read.ts';
import { never } from '../../scripted-fetch.ts';

/** A stream of these chunks, and the reasons for which it was cancelled. */
function streamOf(...sizes: readonly number[]) {
  const left = sizes.map((size) => new Uint8Array(size));
  const cancelled: unknown[] = [];
  const reader = {
    read: () => {
      const value = left.shift();
      return Promise.resolve(value === undefined ? { done: true } : { done: false, value });
    },
    cancel: (reason?: unknown) => {
      cancelled.push(reason);
      return Promise.reject(new Error('it broke as well'));
    },
  };
  return { stream: { getReader: () => reader }, left, cancelled };
}

const hold = { take: () => undefined };

test('a body may be as large as its bound, and is cancelled one byte beyond it', async () => {
  expect(await readBody(streamOf(60, 40).stream, 100, hold)).toHaveLength(100);
  const larger = streamOf(60, 41, 5);
  await expect(readBody(larger.stream, 100, hold)).rejects.toThrow(BodyTooLarge);
  expect(larger.cancelled).toEqual([expect.any(BodyTooLarge)]);
  expect(larger.left).toHaveLength(1);
});

test('a reader that has enough closes the stream, and reads no more', async () => {
  const { stream, left, cancelled } = streamOf(1, 2, 3);
  await readChunks(stream, 100, (chunk) => (chunk.length === 2 ? 'enough' : undefined));
  expect([left.length, cancelled]).toEqual([1, [undefined]]);
});

test('a reader that fails gets its own error, and closes the stream with it', async () => {
  const { stream, cancelled } = streamOf(1, 2);
  const why = new Error('not kept');
  await expect(readChunks(stream, 100, () => Promise.reject(why))).rejects.toBe(why);
  expect(cancelled).toEqual([why]);
});

test.each([
  [999, '999 bytes'],
  [1000, '1.0 kB'],
  [999_949, '999.9 kB'],
  [1_000_000, '1.0 MB'],
])('%i bytes are %s', (bytes, words) => {
  expect(amount(bytes)).toBe(words);
});

test('all bodies together may hold 128 MiB by default', () => {
  const pool = new BodyPool();
  const MiB = 1024 * 1024;
  const take = (bytes: number): void => {
    const body = pool.open(never);
    void body.take(64 * 1024);
    void body.take(bytes)?.catch(() => undefined);
  };
  for (const bytes of [100 * MiB, 20 * MiB, 8 * MiB]) take(bytes);
  expect([pool.held, pool.waiting]).toEqual([128 * MiB, 0]);
  // One goes beyond it, and the next one waits.
  take(1);
  take(1);
  expect([pool.held, pool.waiting]).toEqual([128 * MiB + 1, 1]);
});
