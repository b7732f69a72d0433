import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import {
  filesIn,
  freshFolder,
  ManualClock,
  sizeOfArriving,
  startServer,
  startWriter,
  until,
} from '../places.ts';
import { always, errorOf, picture, save, saveLink } from './download-rig.ts';

describe('sizes', () => {
  it('are checked before the body is read', async () => {
    const result = await save(
      (response) => response.writeHead(200, { 'content-length': 10_001 }).flushHeaders(),
      {
        maxBytes: 10_000,
      },
    );
    expect(errorOf(result)).toMatchObject({ code: 'download.too-large', class: 'permanent' });
  });

  it('are checked while the body is read, and the connection is released', async () => {
    const bytes = await picture();
    let closed = false;
    const result = await save(
      (response) => {
        response.on('close', () => {
          closed = true;
        });
        response.write(bytes);
        const flood = (): void => {
          while (response.write(Buffer.alloc(65_536)));
          response.once('drain', flood);
        };
        flood();
      },
      { maxBytes: 1_000_000 },
    );
    expect(errorOf(result)).toMatchObject({ code: 'download.too-large', class: 'permanent' });
    await until(() => closed);
  });

  it.each([
    [0, 'is taken'],
    [-1, 'is refused'],
  ])(
    'without a declared length are counted to the last byte: with a limit of %i beside the size it %s',
    async (beside, says) => {
      const bytes = await picture();
      const directory = freshFolder();
      const server = await startServer((_request, response) => {
        response.write(bytes.subarray(0, 100));
        void until(() => sizeOfArriving(directory, 'ab-1') === 100).then(() =>
          response.end(bytes.subarray(100)),
        );
      });
      const writer = startWriter(directory, { maxBytes: bytes.length + beside });
      const result = await writer.save({ url: server.url, key: 'ab', output: 1 }, always);
      expect(result.ok ? 'is taken' : `is refused: ${result.error.code}`).toBe(
        says === 'is taken' ? says : 'is refused: download.too-large',
      );
    },
  );

  it('are checked too when a small body unpacks to a large file', async () => {
    const bomb = gzipSync(Buffer.concat([await picture(), Buffer.alloc(50_000_000)]));
    const result = await save(
      (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
      {
        maxBytes: 1_000_000,
      },
    );
    expect(errorOf(result)).toMatchObject({ code: 'download.too-large', class: 'permanent' });
  });

  it('in pixels are read from the header, before any decoding', async () => {
    const bytes = Buffer.from(await picture());
    bytes.writeUInt32BE(60_000, 16);
    bytes.writeUInt32BE(60_000, 20);
    const error = errorOf(await save((response) => response.end(bytes)));
    expect(error).toMatchObject({ code: 'download.too-large', class: 'permanent' });
    expect(error.message).toContain('60000 × 60000');
  });
});

describe('bodies', () => {
  it('that are encoded although that was declined are decoded', async () => {
    const bytes = await picture();
    const packed = gzipSync(bytes);
    // A length that is told is that of the coded body.
    for (const length of [{}, { 'content-length': packed.length }]) {
      const result = await save((response) =>
        response.writeHead(200, { 'content-encoding': 'gzip', ...length }).end(packed),
      );
      expect(result).toMatchObject({
        ok: true,
        value: { bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') },
      });
    }
  });

  it('that claim a coding and have none, or only half of it, are tried again', async () => {
    const bytes = await picture();
    const packed = gzipSync(bytes);
    for (const body of [bytes, packed.subarray(0, packed.length - 20)]) {
      const result = await save((response) =>
        response.writeHead(200, { 'content-encoding': 'gzip' }).end(body),
      );
      expect(errorOf(result)).toMatchObject({ code: 'download.truncated', class: 'retry' });
    }
    const odd = await save((response) => response.writeHead(200, { 'content-encoding': 'x-odd' }).end(bytes));
    expect(errorOf(odd)).toMatchObject({ code: 'download.not-image', class: 'retry' });
  });

  it('with messages are shown, not saved', async () => {
    const json = await save((response) => response.end('{"error":"http_get_image_failed"}'));
    expect(errorOf(json)).toMatchObject({ code: 'download.not-image', class: 'fresh-link' });
    expect(errorOf(json).message).toContain('http_get_image_failed');
    const page = await save((response) => response.end(`<!doctype html>${' '.repeat(100_000)}`));
    expect(errorOf(page)).toMatchObject({ code: 'download.not-image', class: 'fresh-link' });
  });
});

describe('a link with a number that changes', () => {
  it('is requested unchanged, and shown without it', async () => {
    const bytes = await picture();
    const asked: string[] = [];
    const result = await save((response, path) => {
      asked.push(path);
      response.end(path.endsWith('?rand=17') ? bytes : '{"error":"midjourney_task_not_found"}');
    });
    expect(asked).toEqual(['/image.png?signature=hidden']);
    expect(errorOf(result).message).toContain('midjourney_task_not_found');
    const server = await startServer((request, response) =>
      response.end(request.url === '/mj/image/1?rand=17' ? bytes : 'wrong'),
    );
    expect((await saveLink(`${server.url}/mj/image/1?rand=17`)).ok).toBe(true);
  });
});

describe('time', () => {
  const timeouts = { idleMs: 60_000, totalMs: 200_000 };

  it('runs out without a response', async () => {
    const clock = new ManualClock();
    const server = await startServer(() => undefined);
    const result = saveLink(server.url, { clock, timeouts });
    await until(() => server.requests.length === 1);
    clock.advance(60_000);
    expect(errorOf(await result)).toMatchObject({ code: 'download.connection', class: 'retry' });
    expect(errorOf(await result).message).toContain('60 s');
    expect(clock.pending).toBe(0);
  });

  it('runs out between two bytes, but starts again with each byte', async () => {
    const bytes = await picture(400, 300);
    const clock = new ManualClock();
    const directory = freshFolder();
    let drip: ServerResponse | undefined;
    const server = await startServer((_request, response) => {
      drip = response;
    });
    const result = startWriter(directory, { clock, timeouts }).save(
      { url: server.url, key: 'ab', output: 1 },
      always,
    );
    await until(() => drip !== undefined);
    const arrived = (size: number): boolean => sizeOfArriving(directory, 'ab-1') === size;
    for (const size of [1000, 2000, 3000]) {
      drip?.write(bytes.subarray(size - 1000, size));
      await until(() => arrived(size));
      clock.advance(45_000);
    }
    expect(clock.pending).toBe(2);
    clock.advance(60_000);
    expect(errorOf(await result).message).toContain('nothing arrived');
    expect(filesIn(directory)).toEqual([]);
  });

  it('runs out for the whole download, however steadily bytes arrive', async () => {
    const bytes = await picture(400, 300);
    const clock = new ManualClock();
    const directory = freshFolder();
    let drip: ServerResponse | undefined;
    const server = await startServer((_request, response) => {
      drip = response;
    });
    const result = startWriter(directory, { clock, timeouts }).save(
      { url: server.url, key: 'ab', output: 1 },
      always,
    );
    await until(() => drip !== undefined);
    for (let size = 100; size <= 400; size += 100) {
      drip?.write(bytes.subarray(size - 100, size));
      await until(() => sizeOfArriving(directory, 'ab-1') === size);
      clock.advance(50_000);
    }
    expect(errorOf(await result).message).toContain('200 s');
  });

  it('ends when the caller cancels', async () => {
    const bytes = await picture(400, 300);
    const clock = new ManualClock();
    const directory = freshFolder();
    const server = await startServer((_request, response) => response.write(bytes.subarray(0, 1000)));
    const writer = startWriter(directory, { clock, timeouts });
    const controller = new AbortController();
    const result = writer.save({ url: server.url, key: 'ab', output: 1 }, controller.signal);
    await until(() => filesIn(directory).length === 1);
    controller.abort();
    expect(errorOf(await result).code).toBe('download.aborted');
    expect(filesIn(directory)).toEqual([]);
    expect(clock.pending).toBe(0);
    const late = await writer.save({ url: server.url, key: 'ab', output: 1 }, controller.signal);
    expect(errorOf(late).code).toBe('download.aborted');
    expect(server.requests).toHaveLength(1);
  });
});
