import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inMemory } from '../../src/artifacts/formats/format.ts';
import { formatOf, videos } from '../../src/artifacts/media.ts';
import type { SaveResult } from '../../src/artifacts/writer.ts';
import { films, mp4File, webmFile } from './films.ts';
import { gallery } from './gallery.ts';
import { filesIn, freshFolder, startServer, startWriter } from './places.ts';

const always = new AbortController().signal;
const measure = async (file: Buffer) => formatOf(videos, file.subarray(0, 64))?.measure(inMemory(file));

/** Saves these bytes as the second video of a job. */
async function save(bytes: Buffer, options: { maxVideoBytes?: number } = {}) {
  const server = await startServer((_request, response) => response.end(bytes));
  const directory = freshFolder();
  const result = await startWriter(directory, options).save(
    { url: `${server.url}/film?sign=1`, key: 'abc', output: 2, media: 'video' },
    always,
  );
  return { result, files: filesIn(directory) };
}

const errorOf = (result: SaveResult) => {
  if (result.ok) throw new Error('It was saved.');
  return result.error;
};

describe.each(Object.entries(films))('a video: %s', (_name, [extension, mime, make]) => {
  it('is saved under its own name, and measured', async () => {
    const bytes = await make(64, 48);
    const { result, files } = await save(bytes);
    const file = `video/ab/abc-2.${extension}`;
    expect(result).toMatchObject({
      ok: true,
      value: { output: 2, file, mime, bytes: bytes.length, width: 64, height: 48 },
    });
    expect(files).toEqual([file]);
  });

  it('is refused wherever it breaks off', async () => {
    const bytes = await make(64, 48);
    for (let length = 0; length < bytes.length - 1; length += Math.max(1, Math.floor(bytes.length / 97)))
      expect([length, await measure(bytes.subarray(0, length))]).toEqual([length, undefined]);
  });

  it('returns a result for a damaged file, without an exception and in bounded time', async () => {
    const bytes = await make(64, 48);
    await fc.assert(
      fc.asyncProperty(
        fc.nat(Math.min(bytes.length - 1, 500)),
        fc.uint8Array({ minLength: 1, maxLength: 24 }),
        async (at, noise) => {
          const damaged = Buffer.from(bytes);
          damaged.set(noise.subarray(0, damaged.length - at), at);
          const size = await measure(damaged);
          expect((size?.width ?? 1) > 0 && (size?.height ?? 1) > 0).toBe(true);
        },
      ),
      { seed: 20_261_121, numRuns: 100 },
    );
  });
});

describe('a video', () => {
  it('that was written as a live stream does not state where it ends', async () => {
    expect(await measure(webmFile(320, 240, { sizeKnown: false }))).toEqual({ width: 320, height: 240 });
  });

  it('replaces a video in another format', async () => {
    let bytes = mp4File(64, 48);
    const server = await startServer((_request, response) => response.end(bytes));
    const directory = freshFolder();
    const writer = startWriter(directory);
    const request = { url: server.url, key: 'abc', output: 1, media: 'video' } as const;
    await writer.save(request, always);
    bytes = webmFile(64, 48);
    await writer.save(request, always);
    expect(filesIn(directory)).toEqual(['video/ab/abc-1.webm']);
  });

  it('has a limited size', async () => {
    const { result, files } = await save(mp4File(64, 48), { maxVideoBytes: 2000 });
    expect(errorOf(result)).toMatchObject({ code: 'download.too-large', class: 'permanent' });
    expect(files).toEqual([]);
  });

  const still = async (name: string): Promise<Buffer> => (await gallery[name]?.(64, 48)) as Buffer;
  const song = Buffer.from('0000001c667479704d34412000000000', 'hex');
  it.each([
    ['a still PNG', () => still('png'), 'permanent', 'image/png'],
    ['a still WebP', () => still('webp, extended'), 'permanent', 'image/webp'],
    ['a song', () => Promise.resolve(song), 'permanent', 'another kind'],
    ['a message', () => Promise.resolve(Buffer.from('{"error":"gone"}')), 'fresh-link', 'gone'],
    ['a page', () => Promise.resolve(Buffer.from('<!doctype html>')), 'fresh-link', 'web page'],
  ] as const)('is not %s', async (_name, make, kind, words) => {
    const { result, files } = await save(await make());
    expect(errorOf(result)).toMatchObject({ code: 'download.not-video', class: kind });
    expect(errorOf(result).message).toContain(words);
    expect(errorOf(result).message).toContain('instead of a video');
    expect(errorOf(result).message).not.toContain('sign=1');
    expect(files).toEqual([]);
  });

  it('is not an image', async () => {
    const server = await startServer((_request, response) => response.end(mp4File(64, 48)));
    const result = await startWriter(freshFolder()).save({ url: server.url, key: 'abc', output: 1 }, always);
    expect(errorOf(result)).toMatchObject({ code: 'download.not-image', class: 'permanent' });
  });
});
