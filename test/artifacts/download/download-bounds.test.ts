import type { LookupFunction } from 'node:net';
import { Agent } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ArtifactWriterOptions } from '../../../src/artifacts/artifact-writer.ts';
import { filesIn, freshFolder, ManualClock, startServer, startWriter, until } from '../places.ts';
import { always, errorOf, picture, save, saveLink } from './download-rig.ts';

const mebibyte = 1024 * 1024;

describe('the bounds of a download', () => {
  it.each([
    ['announced', true],
    ['not announced', false],
  ])('in bytes are exact to the last byte, if the length is %s', async (_name, announced) => {
    const bytes = await picture();
    const saved = (maxBytes: number) =>
      save(
        (response) => {
          if (announced) response.setHeader('content-length', bytes.length);
          response.write(bytes);
          response.end();
        },
        { maxBytes },
      );
    expect(await saved(bytes.length)).toMatchObject({ ok: true, value: { bytes: bytes.length } });
    expect(errorOf(await saved(bytes.length - 1)).code).toBe('download.too-large');
  });

  it('in pixels apply to the size in the header', async () => {
    const bytes = await picture(40, 30);
    const saved = (maxPixels: number) => save((response) => response.end(bytes), { maxPixels });
    expect((await saved(1200)).ok).toBe(true);
    expect(errorOf(await saved(1199)).code).toBe('download.too-large');
  });

  /** What comes of a file of a length that a server announces, and never sends. */
  const announced = async (length: number, media: 'image' | 'video'): Promise<string> => {
    const server = await startServer((_request, response) => {
      response.writeHead(200, { 'content-length': length }).flushHeaders();
      response.socket?.end();
    });
    const result = await startWriter(freshFolder()).save(
      { url: server.url, key: 'ab', output: 1, media },
      always,
    );
    return result.ok ? 'saved' : result.error.code;
  };

  it.each([
    ['image', 256],
    ['video', 512],
  ] as const)('in bytes are by default those of an %s of %i MiB', async (media, most) => {
    expect(await announced(most * mebibyte, media)).toBe('download.truncated');
    expect(await announced(most * mebibyte + 1, media)).toBe('download.too-large');
  });

  it('in pixels are by default those of sharp', async () => {
    const claims = async (width: number, height: number) => {
      const bytes = Buffer.from(await picture());
      bytes.writeUInt32BE(width, 16);
      bytes.writeUInt32BE(height, 20);
      return await save((response) => response.end(bytes));
    };
    expect((await claims(16_383, 16_383)).ok).toBe(true);
    expect(errorOf(await claims(16_384, 16_383)).code).toBe('download.too-large');
  });

  it('in time are by default a minute without a byte, and ten minutes in total', async () => {
    const clock = new ManualClock();
    const alarms: number[] = [];
    const at: ManualClock['at'] = (when, call) => {
      alarms.push(when - clock.now());
      return clock.at(when, call);
    };
    const server = await startServer(() => undefined);
    const saved = startWriter(freshFolder(), { clock: { now: () => clock.now(), at } }).save(
      { url: server.url, key: 'ab', output: 1 },
      always,
    );
    await until(() => server.requests.length === 1);
    expect(alarms).toEqual([60_000, 600_000]);
    clock.advance(60_000);
    expect(errorOf(await saved).message).toContain('nothing arrived for 60 s');
  });
});

describe('a link', () => {
  it('that a proxy answers with 203 leads to its file', async () => {
    const bytes = await picture();
    expect((await save((response) => response.writeHead(203).end(bytes))).ok).toBe(true);
  });

  it.each([
    ['http://user:word@127.0.0.1:9/a.png', 'it carries credentials'],
    ['ftp://127.0.0.1/a.png', 'it is a ftp: link'],
    ['http://10.0.0.1/a.png', '10.0.0.1 is not a public address'],
  ])('is not followed to the redirect %s', async (location, words) => {
    const {
      code,
      class: met,
      message,
    } = errorOf(await save((response) => response.writeHead(308, { location }).end()));
    expect([code, met]).toEqual(['download.address', 'permanent']);
    expect(message).toContain(words);
  });

  it('is followed through each kind of redirect', async () => {
    const bytes = await picture();
    for (const status of [301, 302, 303, 307, 308]) {
      const result = await save((response, path) => {
        if (path === '/b') response.end(bytes);
        else response.writeHead(status, { location: '/b' }).end();
      });
      expect([status, result.ok]).toEqual([status, true]);
    }
  });

  it('through a proxy is cancelled with its caller, even during a name look-up', async () => {
    const dispatcher = new Agent();
    onTestFinished(() => dispatcher.close());
    let looked = 0;
    const lookup: LookupFunction = () => {
      looked += 1;
    };
    const stop = new AbortController();
    const options: Partial<ArtifactWriterOptions> = { dispatcher, lookup, baseUrl: 'http://gateway.example' };
    const saved = startWriter(freshFolder(), options).save(
      { url: 'http://cdn.example/a.png', key: 'ab', output: 1 },
      stop.signal,
    );
    await until(() => looked === 1);
    stop.abort();
    expect(errorOf(await saved).code).toBe('download.aborted');
  });

  it('waits for bytes from the start again once its response has begun', async () => {
    const clock = new ManualClock();
    const bytes = await picture();
    const directory = freshFolder();
    let begin: (() => void) | undefined;
    let end: (() => void) | undefined;
    const server = await startServer((_request, response) => {
      begin = () => response.flushHeaders();
      end = () => response.end(bytes);
    });
    const saved = startWriter(directory, { clock, timeouts: { idleMs: 60_000, totalMs: 600_000 } }).save(
      { url: server.url, key: 'ab', output: 1 },
      always,
    );
    await until(() => begin !== undefined);
    clock.advance(50_000);
    begin?.();
    await until(() => filesIn(directory).length === 1);
    clock.advance(50_000);
    end?.();
    expect((await saved).ok).toBe(true);
    expect(clock.pending).toBe(0);
  });

  it.each([
    [undefined, 16],
    [3, 3],
  ])('waits for a connection to its host, with %s for one of %i', async (connections, limit) => {
    const bytes = await picture();
    let [open, most] = [0, 0];
    const waiting: (() => void)[] = [];
    const server = await startServer((_request, response) => {
      open += 1;
      most = Math.max(most, open);
      waiting.push(() => {
        open -= 1;
        response.end(bytes);
      });
      // As many as come at the same time are kept until no further one can come.
      if (waiting.length === limit || server.requests.length > 40 - limit)
        for (const answer of waiting.splice(0)) answer();
    });
    const writer = startWriter(freshFolder(), connections === undefined ? {} : { connections });
    const saved = await Promise.all(
      Array.from({ length: 40 }, (_, at) =>
        writer.save({ url: `${server.url}/${at}`, key: 'ab', output: at + 1 }, always),
      ),
    );
    expect(saved.every(({ ok }) => ok)).toBe(true);
    expect(most).toBe(limit);
  });

  it('whose file is too large, or not an image, is released', async () => {
    let closed = 0;
    const server = await startServer((request, response) => {
      response.on('close', () => {
        closed += 1;
      });
      if (request.url === '/words') response.write('x'.repeat(4096));
      else response.writeHead(200, { 'content-length': 2000 }).flushHeaders();
    });
    const writer = startWriter(freshFolder(), { maxBytes: 1999 });
    const saved = (path: string) =>
      writer.save({ url: `${server.url}${path}`, key: 'ab', output: 1 }, always);
    expect(errorOf(await saved('/large')).code).toBe('download.too-large');
    await until(() => closed === 1);
    expect(errorOf(await saved('/words')).code).toBe('download.not-image');
    await until(() => closed === 2);
  });

  it('is not followed by a closed writer', async () => {
    const server = await startServer((_request, response) => response.end('x'));
    const writer = startWriter(freshFolder());
    await writer.close();
    const saved = await writer.save({ url: server.url, key: 'ab', output: 1 }, always);
    expect(errorOf(saved).code).toBe('download.connection');
    expect(server.requests).toEqual([]);
  });

  it('that is not followed leaves nothing behind', async () => {
    expect(errorOf(await saveLink('http://192.168.0.1/a.png')).code).toBe('download.address');
  });
});
