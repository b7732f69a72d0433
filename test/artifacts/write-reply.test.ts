import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromBase64 } from '../../src/artifacts/formats/base64.ts';
import type { ReplyKeeper } from '../../src/artifacts/write-reply.ts';
import type { KeepResult, ReplyPiece } from '../../src/artifacts/writer.ts';
import { StateError } from '../../src/state/store.ts';
import { keptReplies, placeOf } from '../rig/kept-replies.ts';
import { beforeCalls, systemError } from '../rig/system-calls.ts';
import { gallery } from './gallery.ts';
import { filesIn, freshFolder, startWriter } from './places.ts';

const always = new AbortController().signal;
const image = async (name = 'png', width = 40, height = 30): Promise<Buffer> => {
  const make = gallery[name];
  if (make === undefined) throw new Error(`There is no ${name}.`);
  return make(width, height);
};
const sha256 = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex');
const text = (words: string, candidate = 1): ReplyPiece => ({
  kind: 'text',
  candidate,
  text: words,
  mime: 'text/plain',
});
const picture = (bytes: Buffer, mimeType = 'image/png', candidate = 1): ReplyPiece => ({
  kind: 'image',
  candidate,
  data: bytes.toString('base64'),
  mimeType,
});

const errorOf = (result: KeepResult) => {
  if (result.ok) throw new Error('It was kept.');
  return result.error;
};

describe('keeping a reply', () => {
  it('keeps the reply to each call of a job, and returns its place', async () => {
    const replies = keptReplies();
    const directory = freshFolder();
    const writer = startWriter(directory, { replies });
    const keep = async (words: string) =>
      await writer.keep({ key: 'k1f00', pieces: [text('x')], answer: `"${words}"` }, always);
    const places = [await keep('round 1'), await keep('round 2')].map((kept) => kept.ok && kept.value);
    expect(places).toEqual([
      { artifacts: [], reply: placeOf(0) },
      { artifacts: [], reply: placeOf(1) },
    ]);
    expect(replies.kept).toEqual([
      { job: 'k1f00', reply: '"round 1"' },
      { job: 'k1f00', reply: '"round 2"' },
    ]);
    expect(filesIn(directory)).toEqual([]);
  });

  it('keeps no reply that is not requested, or that has no place', async () => {
    const replies = keptReplies();
    const directory = freshFolder();
    const none = { ok: true, value: { artifacts: [] } };
    expect(await startWriter(directory, { replies }).keep({ key: 'k1', pieces: [] }, always)).toEqual(none);
    expect(await startWriter(directory).keep({ key: 'k1', pieces: [], answer: '{}' }, always)).toEqual(none);
    expect(replies.kept).toEqual([]);
  });

  it.each([
    [2, 'kept'],
    [1, 'disk.full'],
  ])(
    'keeps a reply on a full disk once enough is given up, which is possible %i times',
    async (times, end) => {
      const keeper = keptReplies();
      let left = times;
      const replies: ReplyKeeper = {
        keepReply: (...given) => {
          if (left > 0 || times < 2) throw systemError('ENOSPC', 'write');
          return keeper.keepReply(...given);
        },
        makeRoom: () => {
          left -= 1;
          return left >= 0;
        },
      };
      const writer = startWriter(freshFolder(), { replies });
      const result = await writer.keep({ key: 'k1', pieces: [text('x')], answer: '{}' }, always);
      expect([result.ok ? 'kept' : result.error.code, keeper.kept.length]).toEqual([end, Number(result.ok)]);
    },
  );

  it('writes each image unchanged, but no text: the record has the texts', async () => {
    const directory = freshFolder();
    const bytes = await image('jpeg');
    const words = 'Ein “Füchslein”\r\n\u0000 🦊\n';
    const json = '{ "best":  3 }';
    const replies = keptReplies();
    const result = await startWriter(directory, { replies }).keep(
      {
        key: 'k1f00',
        // The service calls it a PNG; it is a JPEG.
        pieces: [
          text(words),
          picture(bytes),
          { kind: 'text', candidate: 2, text: json, mime: 'application/json' },
        ],
        answer: JSON.stringify({
          candidates: [{ inlineData: { mimeType: 'image/png', data: bytes.toString('base64') } }],
        }),
      },
      always,
    );
    expect(result).toEqual({
      ok: true,
      value: {
        reply: placeOf(0),
        artifacts: [
          {
            output: 2,
            file: 'images/k1/k1f00-2.jpg',
            bytes: bytes.length,
            sha256: sha256(bytes),
            mime: 'image/jpeg',
            width: 40,
            height: 30,
            candidate: 1,
          },
        ],
      },
    });
    expect(filesIn(directory)).toEqual(['images/k1/k1f00-2.jpg']);
    expect(readFileSync(join(directory, 'images/k1/k1f00-2.jpg')).equals(bytes)).toBe(true);
    expect(JSON.parse(replies.kept[0]?.reply ?? '')).toEqual({
      candidates: [{ inlineData: { mimeType: 'image/png', data: 'images/k1/k1f00-2.jpg' } }],
    });
  });

  it('replaces files of an earlier try: other formats, and images that no longer exist', async () => {
    const directory = freshFolder();
    const [bytes, other] = [await image(), await image('jpeg')];
    const writer = startWriter(directory);
    mkdirSync(join(directory, 'images/ab'), { recursive: true });
    writeFileSync(join(directory, 'images/ab/abc-2.png'), 'another job');
    const first = [text('one'), picture(bytes), text('two', 2), picture(bytes), picture(bytes)];
    await writer.keep({ key: 'ab', pieces: first }, always);
    expect(filesIn(directory)).toHaveLength(4);
    await writer.keep({ key: 'ab', pieces: [text('one'), picture(other)], isAgain: true }, always);
    expect(filesIn(directory)).toEqual(['images/ab/ab-2.jpg', 'images/ab/abc-2.png']);
  });

  it('keeps files of an earlier try until those of this one have their names', async () => {
    const directory = freshFolder();
    const writer = startWriter(directory);
    await writer.keep({ key: 'ab', pieces: [picture(await image())] }, always);
    const [before] = filesIn(directory);
    beforeCalls('rename', () => {
      throw systemError('EIO', 'rename');
    });
    const again = { key: 'ab', pieces: [picture(await image('jpeg'))], isAgain: true };
    expect((await writer.keep(again, always)).ok).toBe(false);
    expect(filesIn(directory)).toContain(before);
  });

  it('looks for no files of an earlier try if there was none', async () => {
    const directory = freshFolder();
    const removed: unknown[] = [];
    for (const call of ['unlink', 'readdir'] as const) beforeCalls(call, (path) => removed.push(path));
    const pieces = [text('one'), picture(await image())];
    await startWriter(directory).keep({ key: 'ab', pieces, answer: '{}' }, always);
    // The folder of unfinished files is looked through once, when the run begins.
    expect(removed).toEqual([join(directory, 'images/.incoming')]);
  });

  it('gives the same result when it is repeated', async () => {
    const directory = freshFolder();
    const writer = startWriter(directory);
    const request = { key: 'ab', pieces: [text('one'), picture(await image())], answer: '{}' };
    const once = await writer.keep(request, always);
    expect(await writer.keep(request, always)).toEqual(once);
    expect(filesIn(directory).filter((name) => !name.includes('incoming'))).toHaveLength(1);
  });

  it.each<readonly [string, Buffer]>([
    ['a web page', Buffer.from('<!doctype html><script>alert(1)</script>'.repeat(10))],
    ['an SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>'.repeat(10))],
    ['a program', Buffer.concat([Buffer.from('7f454c46', 'hex'), Buffer.alloc(500)])],
    ['nothing', Buffer.alloc(0)],
  ])('refuses %s under the name of an image, and leaves no file at all', async (_name, bytes) => {
    const directory = freshFolder();
    const writer = startWriter(directory);
    const result = await writer.keep(
      { key: 'ab', pieces: [text('fine'), picture(bytes)], answer: '{}' },
      always,
    );
    expect(errorOf(result)).toMatchObject({ code: 'download.not-image', class: 'permanent' });
    await writer.close();
    expect(filesIn(directory)).toEqual([]);
  });

  it('refuses an image without its end', async () => {
    const bytes = await image('png', 200, 150);
    const result = await startWriter(freshFolder()).keep(
      { key: 'ab', pieces: [picture(bytes.subarray(0, -20))], answer: '{}' },
      always,
    );
    expect(errorOf(result)).toMatchObject({ code: 'download.not-image', class: 'permanent' });
    expect(errorOf(result).message).toContain('damaged image/png');
  });

  it('refuses a file that is too large, by bytes or by its claimed pixels', async () => {
    const bytes = await image('png', 200, 150);
    const request = { key: 'ab', pieces: [picture(bytes)], answer: '{}' };
    for (const options of [{ maxBytes: 1000 }, { maxPixels: 20_000 }]) {
      const result = await startWriter(freshFolder(), options).keep(request, always);
      expect(errorOf(result)).toMatchObject({ code: 'download.too-large', class: 'permanent' });
    }
  });

  it('accepts an image of exactly the largest size', async () => {
    const bytes = await image('png', 200, 150);
    const request = { key: 'ab', pieces: [picture(bytes)], answer: '{}' };
    const keep = (maxBytes: number): Promise<KeepResult> =>
      startWriter(freshFolder(), { maxBytes }).keep(request, always);
    expect(await keep(bytes.length)).toMatchObject({
      ok: true,
      value: { artifacts: [{ bytes: bytes.length }] },
    });
  });

  it('does not begin after it was cancelled', async () => {
    const directory = freshFolder();
    const result = await startWriter(directory).keep(
      { key: 'ab', pieces: [picture(await image())], answer: '{}' },
      AbortSignal.abort(),
    );
    expect(errorOf(result).code).toBe('download.aborted');
    expect(filesIn(directory)).toEqual([]);
  });

  it.each(['../ab', 'a/b', '', '.ab'])('refuses a key that could lead elsewhere: %j', async (key) => {
    await expect(startWriter(freshFolder()).keep({ key, pieces: [], answer: '' }, always)).rejects.toThrow(
      /^Internal error:/,
    );
  });

  it('stops the run when a file stands where the folder should be', async () => {
    const directory = freshFolder();
    writeFileSync(join(directory, 'images'), 'in the way');
    const pieces = [picture(await image())];
    const result = await startWriter(directory).keep({ key: 'ab', pieces, answer: '' }, always);
    expect(errorOf(result)).toMatchObject({ code: 'disk.io', class: 'stop' });
  });

  it('keeps no reply before its files have their names', async () => {
    const directory = freshFolder();
    // A folder in the way of the image's name.
    mkdirSync(join(directory, 'images/ab/ab-2.png'), { recursive: true });
    const bytes = await image();
    const replies = keptReplies();
    const result = await startWriter(directory, { replies }).keep(
      { key: 'ab', pieces: [text('one'), picture(bytes)], answer: JSON.stringify(bytes.toString('base64')) },
      always,
    );
    expect(errorOf(result)).toMatchObject({ code: 'disk.io', class: 'stop' });
    expect(replies.kept).toEqual([]);
  });

  it('stops the run if the reply cannot be kept', async () => {
    const replies = {
      keepReply: () => {
        throw new StateError('directory.link', 'replies is a link.');
      },
    };
    const result = await startWriter(freshFolder(), { replies }).keep(
      { key: 'ab', pieces: [], answer: '{}' },
      always,
    );
    expect(errorOf(result)).toMatchObject({ code: 'disk.link', class: 'stop' });
  });

  it('keeps no secret, even if the model writes it', async () => {
    const replies = keptReplies();
    const writer = startWriter(freshFolder(), {
      replies,
      mask: (said) => said.replaceAll('it', '???'),
      dataMask: (said) => said.replaceAll('sk-secret', '***'),
    });
    await writer.keep({ key: 'ab', pieces: [], answer: '"it is sk-secret"' }, always);
    expect(replies.kept).toEqual([{ job: 'ab', reply: '"it is ***"' }]);
  });
});

const decode = (written: string): Buffer | undefined => {
  const pieces: Buffer[] = [];
  const decoder = fromBase64(written);
  for (;;) {
    const { value, done } = decoder.next();
    if (done !== true) pieces.push(value);
    else return value ? Buffer.concat(pieces) : undefined;
  }
};

describe('Base64', () => {
  it('is read in both alphabets, with and without padding, broken into lines or not', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 400 }),
        fc.constantFrom<'base64' | 'base64url'>('base64', 'base64url'),
        fc.integer({ min: 1, max: 77 }),
        fc.constantFrom('', '\n', '\r\n'),
        (bytes, alphabet, width, lineEnd) => {
          const written = Buffer.from(bytes).toString(alphabet);
          const lines = written.replaceAll(new RegExp(`.{${width}}`, 'g'), `$&${lineEnd}`);
          expect(decode(lines)).toEqual(Buffer.from(bytes));
        },
      ),
      { seed: 11 },
    );
  });

  it('is read across the limits of its steps', () => {
    const bytes = Buffer.alloc(200_003, 7);
    expect(decode(bytes.toString('base64').replaceAll(/.{61}/g, '$&\n'))?.equals(bytes)).toBe(true);
  });

  it.each(['A', 'AAAAA', 'AA=A', 'AAAA===', '*AAA', 'AA==AA==', 'ÄÄÄÄ'])('cannot be %j', (written) => {
    expect(decode(written)).toBeUndefined();
  });
});
