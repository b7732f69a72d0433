import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { decoded, UnknownCoding } from '../../../../src/service/http/body/content-coding.ts';
import { BodyTooLarge } from '../../../../src/service/http/body/read.ts';

async function* body(...pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces;
}

const packed = (times: number): Uint8Array =>
  Array.from({ length: times }).reduce<Uint8Array>((bytes) => gzipSync(bytes), Buffer.from('fox'));

async function textOf(pieces: AsyncIterable<Uint8Array> | undefined): Promise<string> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces ?? []) all.push(piece);
  return Buffer.concat(all).toString();
}

test('a body may have at most five codings', async () => {
  const header = (times: number): string => Array.from({ length: times }, () => 'gzip').join(', ');
  expect(await textOf(decoded(body(packed(5)), header(5), 1000))).toBe('fox');
  expect(() => decoded(body(packed(6)), header(6), 1000)).toThrow(UnknownCoding);
  expect(decoded(body(packed(0)), 'identity, ', 1000)).toBeUndefined();
});

const forms = [
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
  ['br', brotliCompressSync],
] as const;

test.each(forms)('with %s, the bytes before a break are read (%#)', async (coding, pack) => {
  const text = Array.from({ length: 5_000 }, (_, n) => `${n} foxes`).join(' ');
  const bytes = pack(text);
  const read = await textOf(
    decoded(body(bytes.subarray(0, Math.floor(bytes.length / 2))), coding, 1_000_000),
  );
  expect(read.length).toBeGreaterThan(1_000);
  expect(text.startsWith(read)).toBe(true);
});

test.each(forms)('with %s, empty chunks change nothing (%#)', async (coding, pack) => {
  const bytes = pack('fox');
  const none = new Uint8Array();
  const pieces = [none, none, bytes.subarray(0, 1), none, bytes.subarray(1), none];
  expect(await textOf(decoded(body(...pieces), coding, 1000))).toBe('fox');
});

test('an encoded body may be as large as its bound, and no larger', async () => {
  const bytes = gzipSync('fox');
  expect(await textOf(decoded(body(bytes), 'gzip', bytes.length))).toBe('fox');
  await expect(textOf(decoded(body(bytes), 'gzip', bytes.length - 1))).rejects.toThrow(BodyTooLarge);
});

test('an unknown coding is shown without unprintable characters', () => {
  expect(() => decoded(body(), `x\u001b[2J${'y'.repeat(99)}`, 10)).toThrow(
    new UnknownCoding(`x??2j${'y'.repeat(35)}`),
  );
});

test('a reader that stops cancels the encoded body too', async () => {
  let isGivenUp = false;
  async function* watched(): AsyncGenerator<Uint8Array> {
    try {
      yield gzipSync('fox');
      yield* body(Buffer.alloc(10));
    } finally {
      isGivenUp = true;
    }
  }
  for await (const _piece of decoded(watched(), 'gzip', 1000) ?? []) break;
  expect(isGivenUp).toBe(true);
});
