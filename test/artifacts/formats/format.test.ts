import * as fc from 'fast-check';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { imageFormat, notWanted } from '../../../src/artifacts/download/verify.ts';
import type { Bytes, Size } from '../../../src/artifacts/formats/format.ts';
import { expected, gallery } from '../gallery.ts';

const bytesOf = (buffer: Buffer): Bytes => ({
  size: buffer.length,
  read: async (position, length) => buffer.subarray(position, position + length),
});

const measure = async (buffer: Buffer): Promise<Size | undefined> =>
  imageFormat(buffer.subarray(0, 64))?.measure(bytesOf(buffer));

const names = Object.keys(gallery);

describe.each(names)('an image: %s', (name) => {
  const make = gallery[name];
  if (make === undefined) throw new Error(`There is no ${name}.`);

  it.each([
    [1, 1],
    [64, 48],
    [33, 517],
  ])('is recognised and measured as by sharp: %i × %i', async (width, height) => {
    const file = await make(width, height);
    expect(imageFormat(file.subarray(0, 64))).toMatchObject(expected(name));
    const metadata = await sharp(file).metadata();
    expect(await measure(file)).toEqual({ width, height });
    expect({ width: metadata.width, height: metadata.height }).toEqual({ width, height });
  });

  it('is refused wherever it breaks off', async () => {
    const file = await make(64, 48);
    for (let length = 0; length < file.length - 1; length += Math.max(1, Math.floor(file.length / 97))) {
      const cut = file.subarray(0, length);
      expect([length, await measure(cut)]).toEqual([length, undefined]);
    }
  });

  it('returns a result for a damaged file, without an exception and in bounded time', async () => {
    const file = await make(64, 48);
    await fc.assert(
      fc.asyncProperty(
        fc.nat(Math.min(file.length - 1, 400)),
        fc.uint8Array({ minLength: 1, maxLength: 24 }),
        async (at, noise) => {
          const damaged = Buffer.from(file);
          damaged.set(noise.subarray(0, damaged.length - at), at);
          const size = await measure(damaged);
          expect(size === undefined || (size.width > 0 && size.height > 0)).toBe(true);
        },
      ),
      { seed: 20_261_121, numRuns: 100 },
    );
  });
});

describe('a JPEG with a thumbnail before its pixels', () => {
  it('is refused wherever its pixels break off, even if the thumbnail is complete', async () => {
    const make = gallery['jpeg'];
    if (make === undefined) throw new Error('There is no jpeg.');
    const [photo, thumbnail] = [await make(64, 48), await make(16, 12)];
    const head = Buffer.from('ffd8ffe10000', 'hex');
    head.writeUInt16BE(2 + thumbnail.length, 4);
    const file = Buffer.concat([head, thumbnail, photo.subarray(2)]);
    expect(await measure(file)).toEqual({ width: 64, height: 48 });
    for (let length = head.length + thumbnail.length; length < file.length - 1; length += 50)
      expect([length, await measure(file.subarray(0, length))]).toEqual([length, undefined]);
  });
});

describe('a file that is not an image', () => {
  const cases: readonly (readonly [string, string | Buffer, string, string])[] = [
    ['a JSON error', '{"error":{"message":"http_get_image_failed"}}', 'fresh-link', 'http_get_image_failed'],
    ['a flat JSON error', '{"code":4,"description":"task gone"}', 'fresh-link', 'task gone'],
    ['JSON that breaks off', '{"error": "half', 'fresh-link', 'half'],
    ['a web page', '<!DOCTYPE html><title>Log in</title>', 'fresh-link', 'web page'],
    ['a web page after white space', '\uFEFF\n <html>', 'fresh-link', 'web page'],
    ['a drawing', '<svg xmlns="http://www.w3.org/2000/svg">', 'permanent', 'SVG'],
    ['a drawing with a prologue', '<?xml version="1.0"?>\n<svg >', 'permanent', 'SVG'],
    ['a text', 'error code: 1015', 'retry', 'error code: 1015'],
    ['a film', Buffer.from('0000001c667479706d703432000000006d703432', 'hex'), 'permanent', 'video/mp4'],
    [
      'a HEIC image',
      Buffer.from('00000018667479706865696300000000686569636d696631', 'hex'),
      'permanent',
      'kind',
    ],
  ];

  it.each(cases)('is named: %s', (_name, body, kind, words) => {
    const start = Buffer.from(body);
    expect(imageFormat(start)).toBeUndefined();
    const failure = notWanted(start, 'https://cdn.example/a.png');
    expect(failure).toMatchObject({ code: 'download.not-image', class: kind });
    expect(failure.message).toContain(words);
  });

  it('is shown in one short line without control characters', () => {
    const failure = notWanted(Buffer.from(`{"error":"\u001B[2J\\u001b[31m${'x'.repeat(900)}"}`), 'link');
    expect(failure.message).not.toMatch(/\p{Cc}/u);
    expect(failure.message.length).toBeLessThan(300);
  });
});
