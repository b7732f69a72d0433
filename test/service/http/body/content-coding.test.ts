import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { decoded, UnknownCoding } from '../../../../src/service/http/body/content-coding.ts';

async function* body(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

const packed = (times: number): Uint8Array =>
  Array.from({ length: times }).reduce<Uint8Array>((bytes) => gzipSync(bytes), Buffer.from('fox'));

test('a body may have five codings, and no more', async () => {
  const header = (times: number): string => Array.from({ length: times }, () => 'gzip').join(', ');
  const pieces: Uint8Array[] = [];
  for await (const piece of decoded(body(packed(5)), header(5), 1000) ?? []) pieces.push(piece);
  expect(Buffer.concat(pieces).toString()).toBe('fox');
  expect(() => decoded(body(packed(6)), header(6), 1000)).toThrow(UnknownCoding);
  expect(decoded(body(packed(0)), 'identity, ', 1000)).toBeUndefined();
});
