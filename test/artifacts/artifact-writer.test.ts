import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { SaveResult } from '../../src/artifacts/writer.ts';
import { onEachSync } from '../rig/syncs.ts';
import { expected, gallery } from './gallery.ts';
import { filesIn, freshFolder, sizeOfArriving, startServer, startWriter, until } from './places.ts';

const always = new AbortController().signal;
const file = async (name = 'png', width = 40, height = 30): Promise<Buffer> => {
  const make = gallery[name];
  if (make === undefined) throw new Error(`There is no ${name}.`);
  return make(width, height);
};

const errorOf = (result: SaveResult) => {
  if (result.ok) throw new Error('It was saved.');
  return result.error;
};

describe('the folder of an image', () => {
  it('has a durable name before the image is reported, whoever made the folder', async () => {
    const directory = freshFolder();
    const bytes = await file();
    const server = await startServer((_request, response) => response.end(bytes));
    const writer = startWriter(directory);
    const save = (key: string) => writer.save({ url: server.url, key, output: 1 }, always);
    expect((await save('cd')).ok).toBe(true);
    // As another image whose key begins alike, and that is not finished yet.
    mkdirSync(join(directory, 'images/ab'));
    const synced: number[] = [];
    await onEachSync((inode) => synced.push(inode));
    expect((await save('ab')).ok).toBe(true);
    expect(synced).toEqual(
      ['images/ab/ab-1.png', 'images', 'images/ab'].map((name) => statSync(join(directory, name)).ino),
    );
    synced.length = 0;
    expect((await save('abc')).ok).toBe(true);
    expect(synced).toEqual(
      ['images/ab/abc-1.png', 'images/ab'].map((name) => statSync(join(directory, name)).ino),
    );
  });
});

describe('an image that comes again in another format', () => {
  it('replaces the earlier file only once it has its own name', async () => {
    const directory = freshFolder();
    let bytes = await file('png');
    const server = await startServer((_request, response) => response.end(bytes));
    const writer = startWriter(directory);
    const save = () => writer.save({ url: server.url, key: 'ab', output: 1 }, always);
    expect((await save()).ok).toBe(true);
    bytes = await file('jpeg');
    // Whatever keeps the new file from its name.
    const name = join(directory, 'images/ab/ab-1.jpg');
    mkdirSync(name);
    expect(errorOf(await save()).class).toBe('stop');
    expect(filesIn(directory)).toEqual(['images/ab/ab-1.png']);
    rmSync(name, { recursive: true });
    expect((await save()).ok).toBe(true);
    expect(filesIn(directory)).toEqual(['images/ab/ab-1.jpg']);
  });
});

describe('saving an image', () => {
  it.each(Object.keys(gallery))('saves it unchanged: %s', async (name) => {
    const bytes = await file(name);
    // Neither the name nor the header is believed.
    const server = await startServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' }).end(bytes);
    });
    const directory = freshFolder();
    const writer = startWriter(directory);
    const result = await writer.save({ url: `${server.url}/image.bmp`, key: 'k1f00', output: 2 }, always);
    const { extension, mime } = expected(name);
    expect(result).toEqual({
      ok: true,
      value: {
        output: 2,
        file: `images/k1/k1f00-2.${extension}`,
        bytes: bytes.length,
        sha256: createHash('sha256').update(bytes).digest('hex'),
        mime,
        width: 40,
        height: 30,
      },
    });
    await writer.close();
    expect(filesIn(directory)).toEqual([`images/k1/k1f00-2.${extension}`]);
    expect(readFileSync(join(directory, `images/k1/k1f00-2.${extension}`)).equals(bytes)).toBe(true);
    expect(() => statSync(join(directory, 'images/.incoming'))).toThrow(/ENOENT/);
  });

  it('saves a file that arrives in small pieces', async () => {
    const bytes = await file();
    const server = await startServer((_request, response) => {
      void (async () => {
        for (let at = 0; at < bytes.length; at += 7) {
          response.write(bytes.subarray(at, at + 7));
          await new Promise((resolve) => {
            setImmediate(resolve);
          });
        }
        response.end();
      })();
    });
    const result = await startWriter(freshFolder()).save({ url: server.url, key: 'ab', output: 1 }, always);
    expect(result).toMatchObject({ ok: true, value: { bytes: bytes.length } });
  });

  it('sends the server nothing but the request for a file', async () => {
    const bytes = await file();
    const server = await startServer((_request, response) => response.end(bytes));
    await startWriter(freshFolder()).save({ url: `${server.url}/a?sig=1`, key: 'ab', output: 1 }, always);
    const [request] = server.requests;
    expect(request?.url).toBe('/a?sig=1');
    expect(request?.headers).toEqual({
      host: `127.0.0.1:${server.port}`,
      connection: 'keep-alive',
      accept: '*/*',
      'accept-encoding': 'identity',
      'user-agent': 'promptpress',
    });
  });

  it('replaces the file of an earlier try, in this format or another', async () => {
    const bytes = await file('webp, lossy');
    const server = await startServer((_request, response) => response.end(bytes));
    const directory = freshFolder();
    mkdirSync(join(directory, 'images', 'ab'), { recursive: true });
    for (const name of ['ab-1.webp', 'ab-1.png', 'ab-2.png', 'abc-1.png']) {
      writeFileSync(join(directory, 'images', 'ab', name), 'earlier');
    }
    await startWriter(directory).save({ url: server.url, key: 'ab', output: 1 }, always);
    expect(filesIn(directory)).toEqual(['images/ab/ab-1.webp', 'images/ab/ab-2.png', 'images/ab/abc-1.png']);
    expect(readFileSync(join(directory, 'images/ab/ab-1.webp')).equals(bytes)).toBe(true);
  });

  it('keeps two downloads of one job separate', async () => {
    const [small, large] = [await file('png', 8, 8), await file('png', 200, 150)];
    const server = await startServer((request, response) => {
      response.end(request.url === '/small' ? small : large);
    });
    const directory = freshFolder();
    const writer = startWriter(directory);
    const results = await Promise.all(
      ['/small', '/large', '/small', '/large'].map((path) =>
        writer.save({ url: `${server.url}${path}`, key: 'ab', output: 1 }, always),
      ),
    );
    expect(results.map((result) => result.ok && result.value.bytes)).toEqual([
      small.length,
      large.length,
      small.length,
      large.length,
    ]);
    expect(filesIn(directory)).toEqual(['images/ab/ab-1.png']);
    const saved = readFileSync(join(directory, 'images/ab/ab-1.png'));
    expect(saved.equals(small) || saved.equals(large)).toBe(true);
  });

  it('makes a folder again that somebody removed', async () => {
    const bytes = await file();
    const server = await startServer((_request, response) => response.end(bytes));
    const directory = freshFolder();
    const writer = startWriter(directory);
    const request = { url: server.url, key: 'ab', output: 1 };
    await writer.save(request, always);
    rmSync(join(directory, 'images', 'ab'), { recursive: true });
    expect(await writer.save(request, always)).toMatchObject({ ok: true });
    expect(filesIn(directory)).toEqual(['images/ab/ab-1.png']);
  });

  it('refuses a key that could lead out of the folder', async () => {
    const writer = startWriter(freshFolder());
    for (const key of ['../../x', 'a/b', '', '.hidden', 'a\\b', 'c:d']) {
      await expect(writer.save({ url: 'http://127.0.0.1:1/', key, output: 1 }, always)).rejects.toThrow(
        /^Internal error/,
      );
    }
  });

  it('stops the run when the folder cannot be made', async () => {
    const bytes = await file();
    const server = await startServer((_request, response) => response.end(bytes));
    const directory = freshFolder();
    writeFileSync(join(directory, 'images'), 'a file');
    const result = await startWriter(directory).save({ url: server.url, key: 'ab', output: 1 }, always);
    expect(errorOf(result)).toMatchObject({ code: 'disk.io', class: 'stop' });
  });

  it('leaves no file under a final name when it is killed, and removes its unfinished files', async () => {
    const bytes = await file('png', 300, 200);
    let withhold = true;
    const server = await startServer((_request, response) => {
      response.setHeader('content-length', bytes.length);
      if (withhold) response.write(bytes.subarray(0, -1));
      else response.end(bytes);
    });
    const directory = freshFolder();
    const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
    const script = fileURLToPath(new URL('children/saver.ts', import.meta.url));
    const child = spawn(process.execPath, ['--import', tsx, script, directory, server.url]);
    const ended = new Promise((resolve) => {
      child.on('close', resolve);
    });
    await until(() => sizeOfArriving(directory, 'abc-1') === bytes.length - 1);
    child.kill('SIGKILL');
    await ended;
    expect(filesIn(directory)).toEqual([
      expect.stringMatching(/^images\/\.incoming\/abc-1\.[0-9a-f]{8}\.part$/),
    ]);

    withhold = false;
    const writer = startWriter(directory);
    expect(await writer.save({ url: server.url, key: 'other', output: 1 }, always)).toMatchObject({
      ok: true,
    });
    expect(filesIn(directory)).toEqual(['images/ot/other-1.png']);
  });
});
