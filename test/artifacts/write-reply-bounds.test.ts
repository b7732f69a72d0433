import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ArtifactStore } from '../../src/artifacts/store/store.ts';
import type { KeepRequest, KeepResult, ReplyPiece } from '../../src/artifacts/writer.ts';
import { keptReplies, placeOf } from '../rig/kept-replies.ts';
import { memoryArtifacts } from '../rig/memory-artifacts.ts';
import { onEachSync } from '../rig/syncs.ts';
import { beforeCalls } from '../rig/system-calls.ts';
import { gallery } from './gallery.ts';
import { freshFolder, startWriter } from './places.ts';

const always = new AbortController().signal;
const png = async (width = 40, height = 30): Promise<Buffer> =>
  (await gallery['png']?.(width, height)) ?? Buffer.alloc(0);
const text = (words: string): ReplyPiece => ({ kind: 'text', candidate: 1, text: words, mime: 'text/plain' });
const picture = (data: string, mimeType = 'image/png'): ReplyPiece => ({
  kind: 'image',
  candidate: 1,
  data,
  mimeType,
});
const base64 = (bytes: Buffer): string => bytes.toString('base64');
const codeOf = (result: KeepResult): string => (result.ok ? 'kept' : result.error.code);

const keep = (
  request: Partial<KeepRequest> & Pick<KeepRequest, 'pieces'>,
  options: Parameters<typeof startWriter>[1] = {},
  directory = freshFolder(),
): Promise<KeepResult> =>
  startWriter(directory, options).keep({ key: 'ab', answer: '{}', ...request }, always);

describe('the bounds of an image in a reply', () => {
  it('in bytes are exact to the last byte, even if its Base64 is broken into lines', async () => {
    const bytes = await png(200, 150);
    const lines = base64(bytes).replaceAll(/.{4}/g, '$&\r\n');
    for (const data of [base64(bytes), lines]) {
      expect(codeOf(await keep({ pieces: [picture(data)] }, { maxBytes: bytes.length }))).toBe('kept');
      expect(codeOf(await keep({ pieces: [picture(data)] }, { maxBytes: bytes.length - 1 }))).toBe(
        'download.too-large',
      );
    }
  });

  it('in bytes apply to an image of many decoding steps', async () => {
    const bytes = Buffer.concat([await png(), Buffer.alloc(200_000)]);
    // What follows the last chunk of a PNG is looked through to 64 KiB.
    const whole = Buffer.concat([bytes, Buffer.from('0000000049454e44ae426082', 'hex')]);
    const pieces = [picture(base64(whole))];
    expect(codeOf(await keep({ pieces }, { maxBytes: whole.length }))).toBe('kept');
    expect(codeOf(await keep({ pieces }, { maxBytes: whole.length - 1 }))).toBe('download.too-large');
  });

  it('in pixels apply to the size that it claims', async () => {
    const pieces = [picture(base64(await png()))];
    expect(codeOf(await keep({ pieces }, { maxPixels: 1200 }))).toBe('kept');
    expect(codeOf(await keep({ pieces }, { maxPixels: 1199 }))).toBe('download.too-large');
  });

  it.each([
    ['image/png', 'of type image/png,'],
    ['image/svg+xml', 'of type image/svg+xml,'],
    ['a very odd\u001b type', 'of type unknown,'],
    [`image/${'x'.repeat(61)}`, 'of type unknown,'],
    ['', 'of type unknown,'],
  ])('name the type %j of a false image only if it is a valid type', async (mimeType, words) => {
    const result = await keep({ pieces: [text('x'), picture(base64(Buffer.from('no image')), mimeType)] });
    expect(result.ok ? '' : result.error.message).toContain(
      `Image 2 of the answer, ${words} is not an image (0 bytes)`,
    );
  });
});

describe('the files of a reply', () => {
  it('are all durable before the first of them has a name, and the reply is kept last', async () => {
    const directory = freshFolder();
    const events: (number | string)[] = [];
    await onEachSync((inode) => events.push(inode));
    beforeCalls('rename', (_from, to) => events.push(String(to).slice(directory.length + 1)));
    const replies = {
      keepReply: () => {
        events.push('the reply');
        return placeOf(0);
      },
    };
    const data = base64(await png());
    const pieces = [text('one'), picture(data), text('three'), picture(data)];
    expect(codeOf(await keep({ pieces }, { replies }, directory))).toBe('kept');
    const names = ['images/ab/ab-2.png', 'images/ab/ab-4.png'];
    const byInode = new Map(names.map((name) => [statSync(join(directory, name)).ino, name]));
    const reported = events.flatMap((event) => {
      if (typeof event === 'string') return [`${event} named`];
      const name = byInode.get(event);
      return name === undefined ? [] : [`${name} synced`];
    });
    expect(reported).toEqual([
      ...names.map((name) => `${name} synced`),
      ...names.map((name) => `${name} named`),
      'the reply named',
    ]);
  });

  it('are absent if the call is cancelled between two of them', async () => {
    const files = new Map<string, Buffer>();
    const inner = memoryArtifacts(files);
    const stop = new AbortController();
    let opened = 0;
    const store: ArtifactStore = {
      ...inner,
      put: async (path) => {
        opened += 1;
        stop.abort();
        return await inner.put(path);
      },
    };
    const result = await startWriter(freshFolder(), { store }).keep(
      { key: 'ab', pieces: [picture(base64(await png())), picture(base64(await png()))], answer: '{}' },
      stop.signal,
    );
    expect(codeOf(result)).toBe('download.aborted');
    expect([opened, files.size, inner.unfinished]).toEqual([1, 0, 0]);
  });
});

describe('the whole reply', () => {
  it('contains the name of an image file in place of all its data, also in data URIs', async () => {
    const [first, second] = [base64(await png(8, 8)), base64(await png(9, 9))];
    const answer = JSON.stringify({
      parts: [{ data: first }, { data: second }, { again: first }],
      images: [
        { url: `data:image/png;base64,${first}` },
        { url: `data:image/jpeg;base64,${second}` },
        { url: `data:image/png;base64,${first}` },
      ],
      longer: `${first}!`,
    });
    const replies = keptReplies();
    await keep({ pieces: [picture(first), text('x'), picture(second, 'image/jpeg')], answer }, { replies });
    const [one, two] = ['images/ab/ab-1.png', 'images/ab/ab-3.png'];
    expect(JSON.parse(replies.kept[0]?.reply ?? '')).toEqual({
      parts: [{ data: one }, { data: two }, { again: one }],
      images: [{ url: one }, { url: two }, { url: one }],
      longer: `${first}!`,
    });
  });
});
