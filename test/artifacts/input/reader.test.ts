import { createHash } from 'node:crypto';
import {
  mkdirSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { folderInputs } from '../../../src/app/service/engine/folder-inputs.ts';
import { createInputReader, type InputReaderOptions } from '../../../src/artifacts/input/reader.ts';
import {
  type InputReader,
  type InputResult,
  type InputSource,
  largestInput,
  sharedInputName,
} from '../../../src/artifacts/inputs.ts';
import { openArtifactFolder } from '../../../src/artifacts/store/folder.ts';
import { wallClock } from '../../../src/cli/adapters/clock.ts';
import { makePipe } from '../../rig/pipe.ts';
import { gallery } from '../gallery.ts';
import { freshFolder, ManualClock, serviceUrl, startServer, until } from '../places.ts';

/** A program of the system, no dependency. */
const always = new AbortController().signal;
const image = async (name = 'png', width = 40, height = 30): Promise<Buffer> => {
  const make = gallery[name];
  if (make === undefined) throw new Error(`There is no ${name}.`);
  return make(width, height);
};
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

const readers: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const reader of readers.splice(0)) await reader.close();
});

function startReader(options: Partial<InputReaderOptions> = {}): InputReader {
  const folder = options.folder ?? realpathSync(freshFolder());
  const reader = createInputReader({
    baseUrl: serviceUrl(),
    store: openArtifactFolder(folder),
    folder,
    filesRoot: folder,
    clock: wallClock,
    ...options,
  });
  readers.push(reader);
  return reader;
}

const valueOf = (result: InputResult): { mimeType: string; data: string } => {
  if (!result.ok) throw new Error(`${result.error.code}: ${result.error.message}`);
  return result.value;
};
const errorOf = (result: InputResult) => {
  if (result.ok) throw new Error('It was read.');
  return result.error;
};

describe('a copy of a file in the place of a run on an engine', () => {
  const source = (bytes: Buffer): InputSource => ({ kind: 'file', path: 'fox.png', sha256: sha256(bytes) });

  it('is read if this machine has no such file, as an image and as a mask, and only with its own bytes', async () => {
    const folder = realpathSync(freshFolder());
    const shared = folderInputs(join(folder, 'run'));
    const reader = startReader({ folder, filesRoot: folder, shared });
    const [bytes, others] = [await image(), await image('png', 50, 30)];
    expect(errorOf(await reader.load(source(bytes), always)).code).toBe('input.missing');
    await shared.put(sha256(bytes), bytes);
    writeFileSync(join(folder, 'fox.png'), others);
    expect(valueOf(await reader.load(source(bytes), always)).data).toBe(bytes.toString('base64'));
    const size = { width: 40, height: 30 };
    const mask = { source: { kind: 'file', path: 'fox.png', sha256: sha256(bytes) }, form: 'white' } as const;
    expect(await reader.mask({ ...mask, invert: false, size }, always)).toMatchObject({ ok: true });

    const copy = join(folder, 'run', sharedInputName(sha256(bytes)));
    const changed = Buffer.from(bytes);
    changed[changed.length - 20] = 255 - (changed[changed.length - 20] ?? 0);
    writeFileSync(copy, changed);
    const refused = errorOf(await reader.load(source(bytes), always));
    expect([refused.code, refused.class]).toEqual(['input.changed', 'permanent']);
    expect(refused.message).toContain(sharedInputName(sha256(bytes)));
    rmSync(copy);
    symlinkSync(join(folder, 'fox.png'), copy);
    expect(errorOf(await reader.load(source(bytes), always)).code).toBe('disk.link');
    rmSync(copy);
    await shared.put(sha256(bytes), bytes);
    writeFileSync(join(folder, 'run', 'inputs', sha256(others)), 'a table');
    await shared.clear();
    expect(readdirSync(join(folder, 'run', 'inputs'))).toEqual([sha256(others)]);
  });
});

describe('a file of the pipeline', () => {
  const place = () => {
    const root = realpathSync(freshFolder());
    const folder = join(root, 'pipelines');
    mkdirSync(folder);
    return {
      root,
      folder,
      reader: startReader({ folder, filesRoot: root, store: openArtifactFolder(join(root, 'run')) }),
    };
  };
  const file = (path: string, bytes: Buffer): InputSource => ({ kind: 'file', path, sha256: sha256(bytes) });

  it.each(Object.keys(gallery))('is passed on unchanged: %s', async (name) => {
    const { folder, reader } = place();
    const bytes = await image(name);
    writeFileSync(join(folder, 'mask.bmp'), bytes);
    const { mimeType, data } = valueOf(await reader.load(file('mask.bmp', bytes), always));
    expect(mimeType).toBe(`image/${name.split(/[ ,]/)[0]}`);
    expect(Buffer.from(data, 'base64').equals(bytes)).toBe(true);
  });

  it('may be HEIC, which models accept', async () => {
    const { folder, reader } = place();
    const bytes = Buffer.concat([
      Buffer.from('\0\0\0\x18ftypheic\0\0\0\0mif1heic', 'latin1'),
      Buffer.alloc(99),
    ]);
    writeFileSync(join(folder, 'photo'), bytes);
    expect(valueOf(await reader.load(file('photo', bytes), always)).mimeType).toBe('image/heic');
  });

  it('is found beside the pipeline, above it, and through a link, within the root', async () => {
    const { root, folder, reader } = place();
    const bytes = await image();
    writeFileSync(join(root, 'above.png'), bytes);
    symlinkSync(join(root, 'above.png'), join(folder, 'link.png'));
    for (const path of ['../above.png', 'link.png', join(root, 'above.png')]) {
      expect((await reader.load(file(path, bytes), always)).ok, path).toBe(true);
    }
  });

  it('is refused outside the root, by its path or through a link', async () => {
    const { folder, reader } = place();
    const bytes = await image();
    const elsewhere = realpathSync(freshFolder());
    writeFileSync(join(elsewhere, 'secret.png'), bytes);
    symlinkSync(elsewhere, join(folder, 'way-out'));
    for (const path of ['way-out/secret.png', join(elsewhere, 'secret.png')]) {
      const error = errorOf(await reader.load(file(path, bytes), always));
      expect(error).toMatchObject({ code: 'input.outside', class: 'permanent' });
      expect(error.message).toContain('--files-root');
    }
  });

  it('is refused in a folder of git, by its path or through a link', async () => {
    const { root, folder, reader } = place();
    const bytes = await image();
    mkdirSync(join(root, '.git'));
    writeFileSync(join(root, '.git', 'a.png'), bytes);
    symlinkSync(join(root, '.git'), join(folder, 'own'));
    for (const path of ['../.git/a.png', 'own/a.png', join(root, '.git', 'a.png')]) {
      const error = errorOf(await reader.load(file(path, bytes), always));
      expect(error).toMatchObject({ code: 'input.outside', class: 'permanent' });
      expect(error.message).toContain('a folder of git');
      const source = { kind: 'file', path, sha256: sha256(bytes) } as const;
      const size = { width: 40, height: 30 };
      const mask = await reader.mask({ source, invert: false, form: 'white', size }, always);
      expect(mask).toMatchObject({ ok: false, error: { code: 'input.outside' } });
    }
  });

  it('must still have the content that the job was planned with', async () => {
    const { folder, reader } = place();
    const bytes = await image();
    writeFileSync(join(folder, 'a.png'), await image('png', 41, 30));
    expect(errorOf(await reader.load(file('a.png', bytes), always))).toMatchObject({
      code: 'input.changed',
      class: 'permanent',
    });
  });

  it.skipIf(process.platform === 'win32')(
    'is refused when it is gone, a folder, or a pipe that would never end',
    async () => {
      const { folder, reader } = place();
      const bytes = await image();
      mkdirSync(join(folder, 'folder'));
      symlinkSync('loop', join(folder, 'loop'));
      makePipe(join(folder, 'pipe'));
      for (const path of [
        'gone.png',
        'folder',
        'loop',
        'pipe',
        'gone/a.png',
        'gone\0.png',
        'x'.repeat(5000),
      ]) {
        const error = errorOf(await reader.load(file(path, bytes), always));
        expect(error, path).toMatchObject({ code: 'input.missing', class: 'permanent' });
      }
    },
  );

  it('is refused if it is not an image, and if it is too large', async () => {
    const { folder, reader } = place();
    const words = Buffer.from('not an image');
    writeFileSync(join(folder, 'a.png'), words);
    expect(errorOf(await reader.load(file('a.png', words), always)).code).toBe('input.not-image');
    writeFileSync(join(folder, 'b.png'), '');
    truncateSync(join(folder, 'b.png'), largestInput + 1);
    expect(errorOf(await reader.load(file('b.png', words), always)).code).toBe('input.too-large');
  });
});

describe('a file of the run', () => {
  it('is recognised by its content, and missing when it is gone', async () => {
    const directory = freshFolder();
    const bytes = await image('webp, lossy');
    mkdirSync(join(directory, 'images/ab'), { recursive: true });
    writeFileSync(join(directory, 'images/ab/ab-1.png'), bytes);
    const reader = startReader({ store: openArtifactFolder(directory) });
    const artifact = (name: string): InputSource => ({
      kind: 'artifact',
      file: name,
      mime: 'image/png',
      sha256: sha256(bytes),
    });
    expect(valueOf(await reader.load(artifact('images/ab/ab-1.png'), always))).toEqual({
      mimeType: 'image/webp',
      data: bytes.toString('base64'),
      width: 40,
      height: 30,
    });
    expect(errorOf(await reader.load(artifact('images/ab/ab-2.png'), always)).code).toBe('input.missing');
    expect(errorOf(await reader.load(artifact('../x.png'), always)).code).toBe('input.linked');
    // Another image in its place, by a hard link for example, is not what the job saved.
    writeFileSync(join(directory, 'images/ab/ab-1.png'), await image('jpeg'));
    expect(errorOf(await reader.load(artifact('images/ab/ab-1.png'), always))).toMatchObject({
      code: 'input.changed',
      class: 'permanent',
    });
  });
});

describe('an address', () => {
  const link = (url: string): InputSource => ({ kind: 'url', url });

  it('is read if the rule of image links allows it', async () => {
    const bytes = await image('jpeg');
    const server = await startServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end(bytes);
    });
    expect(valueOf(await startReader().load(link(`${server.url}/a`), always))).toEqual({
      mimeType: 'image/jpeg',
      data: bytes.toString('base64'),
      width: 40,
      height: 30,
    });
  });

  it.each([
    'http://169.254.169.254/latest/meta-data',
    'http://[::1]/a.png',
    'http://localhost:1/a.png',
    'file:///etc/passwd',
    'ftp://127.0.0.1/a.png',
    'http://user:word@127.0.0.1/a.png',
    'no address',
  ])('is not followed to a private place: %s', async (url) => {
    const error = errorOf(await startReader().load(link(url), always));
    expect(error).toMatchObject({ code: 'download.address', class: 'permanent' });
  });

  it('is not followed through a redirect to a private place', async () => {
    const server = await startServer((_request, response) => {
      response.writeHead(302, { location: 'http://[::1]:9/a.png' }).end();
    });
    expect(errorOf(await startReader().load(link(server.url), always)).code).toBe('download.address');
  });

  it('that is rejected fails for good, because nobody can give a fresh one', async () => {
    const server = await startServer((_request, response) => response.writeHead(403).end());
    expect(errorOf(await startReader().load(link(server.url), always))).toMatchObject({
      code: 'download.refused',
      class: 'permanent',
      status: 403,
    });
  });

  it.each<readonly [string, number, string]>([
    ['429 later', 429, 'throttle'],
    ['503 again', 503, 'retry'],
    ['500 again', 500, 'retry'],
    ['400 not at all', 400, 'permanent'],
  ])('that gets the response %s', async (_name, status, kind) => {
    const server = await startServer((_request, response) => response.writeHead(status).end());
    expect(errorOf(await startReader().load(link(server.url), always)).class).toBe(kind);
  });

  it('that gives a web page is not an image', async () => {
    const server = await startServer((_request, response) => response.end('<!doctype html>'.repeat(900)));
    expect(errorOf(await startReader().load(link(server.url), always))).toMatchObject({
      code: 'download.not-image',
      class: 'permanent',
    });
  });

  it('that gives more than a request can hold is not read further', async () => {
    const head = await image();
    let sent = 0;
    const server = await startServer((_request, response) => {
      response.write(head);
      const more = (): void => {
        while (!response.destroyed && sent < 4 * largestInput) {
          sent += 1_000_000;
          if (!response.write(Buffer.alloc(1_000_000))) {
            response.once('drain', more);
            return;
          }
        }
      };
      more();
    });
    expect(errorOf(await startReader().load(link(server.url), always)).code).toBe('input.too-large');
    expect(sent).toBeLessThan(2 * largestInput);
  });

  it('that does not answer is given up in time', async () => {
    const server = await startServer(() => {});
    const clock = new ManualClock();
    const reader = startReader({ clock, timeouts: { idleMs: 1000, totalMs: 5000 } });
    const result = reader.load(link(server.url), always);
    await until(() => server.requests.length === 1);
    clock.advance(1001);
    expect(errorOf(await result)).toMatchObject({ code: 'download.connection', class: 'retry' });
    expect(clock.pending).toBe(0);
  });

  it('is released when the call is cancelled', async () => {
    const server = await startServer(() => {});
    const stop = new AbortController();
    const result = startReader().load(link(server.url), stop.signal);
    await until(() => server.requests.length === 1);
    stop.abort();
    expect(errorOf(await result).code).toBe('download.aborted');
  });
});

describe('a data URI', () => {
  const uri = (url: string): InputSource => ({ kind: 'url', url });

  it('is read in Base64 and percent-encoded, whatever type it claims', async () => {
    const bytes = await image('gif');
    const percent = [...bytes].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
    for (const data of [
      `data:image/png;base64,${bytes.toString('base64')}`,
      `DATA:;BASE64,${bytes.toString('base64url')}`,
      `data:image/gif;base64,${encodeURIComponent(bytes.toString('base64'))}`,
      `data:image/gif,${percent}`,
    ]) {
      expect(valueOf(await startReader().load(uri(data), always))).toEqual({
        mimeType: 'image/gif',
        data: bytes.toString('base64'),
        width: 40,
        height: 30,
      });
    }
  });

  it.each<readonly [string, string]>([
    ['without data', 'data:image/png;base64'],
    ['of a text', 'data:text/plain,hello'],
    ['of no Base64', 'data:image/png;base64,*'],
    ['of a drawing', `data:image/svg+xml;base64,${Buffer.from('<svg/>').toString('base64')}`],
  ])('is refused %s', async (_name, url) => {
    expect(errorOf(await startReader().load(uri(url), always))).toMatchObject({
      code: 'input.not-image',
      class: 'permanent',
    });
  });

  it('is refused when it is too large, before it is decoded', async () => {
    const url = `data:image/png,${'a'.repeat(3 * largestInput + 1)}`;
    expect(errorOf(await startReader().load(uri(url), always)).code).toBe('input.too-large');
  });
});
