import { createHash } from 'node:crypto';
import { mkdirSync, realpathSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createInputReader, type InputReaderOptions } from '../../../src/artifacts/input/reader.ts';
import {
  type InputReader,
  type InputResult,
  type InputSource,
  largestInput,
  type MaskRequest,
} from '../../../src/artifacts/inputs.ts';
import { openArtifactFolder } from '../../../src/artifacts/store/folder.ts';
import { wallClock } from '../../../src/cli/adapters/clock.ts';
import { memoryArtifacts } from '../../rig/memory-artifacts.ts';
import { beforeCalls, systemError } from '../../rig/system-calls.ts';
import { gallery } from '../gallery.ts';
import { freshFolder, serviceUrl, startServer, until } from '../places.ts';

const always = new AbortController().signal;
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
const png = async (): Promise<Buffer> => (await gallery['png']?.(40, 30)) ?? Buffer.alloc(0);

const readers: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const reader of readers.splice(0)) await reader.close();
});

function place(options: Partial<InputReaderOptions> = {}) {
  const folder = realpathSync(freshFolder());
  const reader = createInputReader({
    baseUrl: serviceUrl(),
    store: openArtifactFolder(folder),
    folder,
    filesRoot: folder,
    clock: wallClock,
    ...options,
  });
  readers.push(reader);
  return { folder, reader };
}

const errorOf = (result: InputResult) => {
  if (result.ok) throw new Error('It was read.');
  return result.error;
};
const load = async (reader: InputReader, source: InputSource) => errorOf(await reader.load(source, always));

describe('an image that cannot be sent', () => {
  const file = (path: string, bytes: Buffer = Buffer.from('x')): InputSource => ({
    kind: 'file',
    path,
    sha256: sha256(bytes),
  });
  const artifact = (name: string, bytes: Buffer = Buffer.from('x')): InputSource => ({
    kind: 'artifact',
    file: name,
    mime: 'image/png',
    sha256: sha256(bytes),
  });

  it('is reported as a file with its defect and its cause', async () => {
    const { folder, reader } = place();
    mkdirSync(join(folder, 'folder'));
    symlinkSync('loop', join(folder, 'loop'));
    writeFileSync(join(folder, 'words'), 'x');
    const long = 'x'.repeat(300);
    const messages = [];
    for (const path of ['gone', 'gone/a', 'folder', 'loop', 'a\0b', long, 'words'])
      messages.push((await load(reader, file(path))).message);
    expect(messages).toEqual([
      'The image gone is not there.',
      'The image gone/a is not there.',
      'The image folder is no file.',
      'The image loop is a link that leads to itself.',
      'The image a\0b has a name that no file can have.',
      `The image ${'x'.repeat(200)} has a name that no file can have.`,
      'words is not an image of a known kind (PNG, JPEG, WebP, GIF, AVIF, HEIC).',
    ]);
    expect(await load(reader, file('gone'))).toMatchObject({ cause: { code: 'ENOENT' } });
    expect(await load(reader, file('folder'))).not.toHaveProperty('cause');
    writeFileSync(join(folder, 'a.png'), await png());
    beforeCalls('open', () => {
      throw systemError('EACCES', 'open');
    });
    expect((await load(reader, file('a.png', await png()))).message).toBe('The image a.png may not be read.');
  });

  it('stops the run if the disk fails', async () => {
    const { folder, reader } = place();
    writeFileSync(join(folder, 'a.png'), await png());
    beforeCalls('open', () => {
      throw systemError('EIO', 'open');
    });
    expect(await load(reader, file('a.png'))).toMatchObject({ code: 'disk.io', class: 'stop' });
  });

  it('is reported as an artifact with its defect', async () => {
    const { folder, reader } = place();
    mkdirSync(join(folder, 'images/ab'), { recursive: true });
    writeFileSync(join(folder, 'images/ab/words.png'), 'x');
    writeFileSync(join(folder, 'images/ab/other.png'), 'y');
    writeFileSync(join(folder, 'images/ab/large.png'), '');
    truncateSync(join(folder, 'images/ab/large.png'), largestInput + 1);
    const found: (readonly [string, string])[] = [];
    for (const name of ['gone', 'words', 'other', 'large']) {
      const { code, message } = await load(reader, artifact(`images/ab/${name}.png`));
      found.push([code, message.slice(0, 64)]);
    }
    expect(found).toEqual([
      ['input.missing', 'The image images/ab/gone.png is not there.'],
      ['input.not-image', 'images/ab/words.png is not an image of a known kind (PNG, JPEG, '],
      ['input.changed', 'images/ab/other.png is not the file that its job saved: it has b'],
      ['input.too-large', `The image images/ab/large.png is larger than ${largestInput} bytes, the`],
    ]);
    const outside = await load(reader, artifact(`../${'x'.repeat(300)}`));
    expect(outside.code).toBe('input.linked');
    expect(outside.message).toMatch(/^\.\.\/x{197} of the run directory is a link/);
  });

  it('is not read for a run that is left', async () => {
    const { folder, reader } = place();
    writeFileSync(join(folder, 'a.png'), await png());
    const result = await reader.load(file('a.png', await png()), AbortSignal.abort(new Error('left')));
    expect(errorOf(result)).toMatchObject({
      code: 'download.aborted',
      class: 'retry',
      cause: { message: 'left' },
    });
  });

  it('does not hide a bug, which is thrown', async () => {
    const bug = new TypeError('a bug');
    const { reader } = place({ store: { ...memoryArtifacts(), get: () => Promise.reject(bug) } });
    await expect(reader.load(artifact('images/ab/abc-1.png'), always)).rejects.toBe(bug);
  });

  it('is not read from a link after the reader is closed', async () => {
    const server = await startServer((_request, response) => response.end('x'));
    const { reader } = place();
    await reader.close();
    expect(await load(reader, { kind: 'url', url: server.url })).toMatchObject({
      code: 'download.connection',
    });
    expect(server.requests).toEqual([]);
  });

  it('is reported for a URL that only begins like a data URI', async () => {
    const { reader } = place();
    expect((await load(reader, { kind: 'url', url: 'http://10.0.0.1/data:,x' })).code).toBe(
      'download.address',
    );
    expect((await load(reader, { kind: 'url', url: 'data:,words' })).message).toMatch(
      /^The data URI is not an image/,
    );
  });
});

describe('a mask', () => {
  it('that waits for its turn is not made if its run is left meanwhile', async () => {
    const { reader } = place();
    const mask = (size: number): MaskRequest => ({
      source: { kind: 'shapes', shapes: [{ rectangle: [0, 0, 1, 1] }] },
      invert: false,
      size: { width: size, height: size },
      form: 'white',
    });
    const stop = new AbortController();
    const first = reader.mask(mask(500), always);
    const second = reader.mask(mask(10), stop.signal);
    stop.abort(new Error('left'));
    expect((await first).ok).toBe(true);
    expect(errorOf(await second)).toMatchObject({ code: 'download.aborted', cause: { message: 'left' } });
  });
});

describe('an address', () => {
  it('may give at most as many bytes as a request can show, announced or not', async () => {
    const head = await png();
    const bytes = Buffer.concat([head, Buffer.alloc(largestInput - head.length)]);
    for (const announced of [true, false]) {
      const server = await startServer((request, response) => {
        const length = largestInput + (request.url === '/more' ? 1 : 0);
        if (announced) response.setHeader('content-length', length);
        response.write(bytes);
        response.end(length > largestInput ? 'x' : '');
      });
      const { reader } = place();
      const found = await reader.load({ kind: 'url', url: server.url }, always);
      expect(found.ok && found.value.data.length).toBe(Math.ceil(largestInput / 3) * 4);
      expect((await load(reader, { kind: 'url', url: `${server.url}/more` })).code).toBe('input.too-large');
    }
  });

  it('that announces more is not read at all', async () => {
    const server = await startServer((_request, response) => {
      response.writeHead(200, { 'content-length': largestInput + 1 }).flushHeaders();
    });
    const { code, message } = await load(place().reader, { kind: 'url', url: `${server.url}/a?sign=1` });
    expect([code, message]).toEqual([
      'input.too-large',
      `The image at ${server.url}/a is larger than ${largestInput} bytes, the most that a request can show. Make it smaller.`,
    ]);
  });

  it('that does not give an image is read for 4096 bytes, and released', async () => {
    let closed = false;
    const server = await startServer((_request, response) => {
      response.on('close', () => {
        closed = true;
      });
      response.write('x'.repeat(4096));
    });
    expect((await load(place().reader, { kind: 'url', url: server.url })).code).toBe('download.not-image');
    await until(() => closed);
  });

  it('that gives an image in small pieces is read to its end', async () => {
    const bytes = await png();
    const server = await startServer((_request, response) => {
      response.write(bytes.subarray(0, 10));
      setImmediate(() => {
        response.write(bytes.subarray(10, 70));
        setImmediate(() => response.end(bytes.subarray(70)));
      });
    });
    const found = await place().reader.load({ kind: 'url', url: server.url }, always);
    expect(found.ok && Buffer.from(found.value.data, 'base64').equals(bytes)).toBe(true);
  });

  it('without an answer is requested again', async () => {
    const server = await startServer((_request, response) => response.end());
    expect(await load(place().reader, { kind: 'url', url: server.url })).toMatchObject({
      code: 'download.truncated',
      class: 'retry',
      message: `${server.url}/ gave an empty file.`,
    });
  });

  it('that gives a picture of less than 64 bytes is read', async () => {
    const tiny = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');
    expect(tiny.length).toBeLessThan(64);
    const server = await startServer((_request, response) => response.end(tiny));
    const found = await place().reader.load({ kind: 'url', url: server.url }, always);
    expect(found).toMatchObject({ ok: true, value: { mimeType: 'image/gif', width: 1, height: 1 } });
  });
});
