import { createHash } from 'node:crypto';
import sharp, { type Sharp } from 'sharp';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createArtifactWriter } from '../../src/artifacts/artifact-writer.ts';
import type { ArtifactStore } from '../../src/artifacts/store/store.ts';
import type { ArtifactWriter, CutResult } from '../../src/artifacts/writer.ts';
import { wallClock } from '../../src/cli/adapters/clock.ts';
import type { Artifact } from '../../src/plan/job.ts';
import { memoryArtifacts } from '../rig/memory-artifacts.ts';
import { onEachSync } from '../rig/syncs.ts';
import { filesIn, freshFolder, startWriter } from './places.ts';

const always = new AbortController().signal;
const key = 'aa11';
const name = 'images/aa/aa11-1.png';
const size = { width: 48, height: 32 };

/** Four quarters, each of a colour of its own with a gradient, so that every pixel says where it belongs. */
function pixels(channels: 3 | 4 = 3, { width, height } = size): Buffer {
  const raw = Buffer.alloc(width * height * channels);
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) {
      const quarter = (x < width / 2 ? 0 : 1) + (y < height / 2 ? 0 : 2);
      raw.set([60 * quarter, x * 5, y * 7, 255 - x].slice(0, channels), (y * width + x) * channels);
    }
  return raw;
}

const image = (channels: 3 | 4 = 3, of = size): Sharp =>
  sharp(pixels(channels, of), { raw: { ...of, channels } });

const artifactOf = (bytes: Buffer, changes: Partial<Artifact> = {}): Artifact => ({
  output: 1,
  file: name,
  bytes: bytes.length,
  sha256: createHash('sha256').update(bytes).digest('hex'),
  mime: 'image/png',
  ...size,
  ...changes,
});

function writerOver(store: ArtifactStore): ArtifactWriter {
  const writer = createArtifactWriter({ store, baseUrl: 'http://127.0.0.1:1', clock: wallClock });
  onTestFinished(() => writer.close());
  return writer;
}

/** Cuts a grid that a store holds. */
async function cut(
  grid: Buffer,
  changes: Partial<Artifact> = {},
): Promise<{ readonly result: CutResult; readonly files: Map<string, Buffer> }> {
  const files = new Map([[name, grid]]);
  const result = await writerOver(memoryArtifacts(files)).cut(
    { key, grid: artifactOf(grid, changes) },
    always,
  );
  return { result, files };
}

const framesIn = (result: CutResult): readonly Artifact[] => {
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
};
const errorIn = (result: CutResult): string => (result.ok ? 'no error' : result.error.code);
const rawOf = async (bytes: Buffer | undefined): Promise<Buffer> => await sharp(bytes).raw().toBuffer();

/** The pixels of a quarter, taken from the raw pixels of the whole. */
function quarterOf(whole: Buffer, index: number, channels: number, { width, height } = size): Buffer {
  const rows = Array.from({ length: height / 2 }, (_, y) => {
    const at = ((Math.floor(index / 2) * (height / 2) + y) * width + (index % 2) * (width / 2)) * channels;
    return whole.subarray(at, at + (width / 2) * channels);
  });
  return Buffer.concat(rows);
}

describe('the frames of a grid', () => {
  it.each([
    ['png', 3, (of: Sharp) => of.png()],
    ['png with transparency', 4, (of: Sharp) => of.png()],
    ['webp without loss', 3, (of: Sharp) => of.webp({ lossless: true })],
    ['webp with loss', 3, (of: Sharp) => of.webp({ quality: 80 })],
    ['jpeg', 3, (of: Sharp) => of.jpeg({ quality: 80 })],
  ] as const)(
    'are PNG files of exactly the pixels of a %s, in the order U1 to U4',
    async (_, channels, as) => {
      const grid = await as(image(channels)).toBuffer();
      const { result, files } = await cut(grid);
      const whole = await rawOf(grid);
      const frames = framesIn(result);
      expect(frames.map(({ output, file }) => [output, file])).toEqual(
        [2, 3, 4, 5].map((output) => [output, `images/aa/aa11-${output}.png`]),
      );
      for (const [index, frame] of frames.entries()) {
        const bytes = files.get(frame.file) ?? Buffer.alloc(0);
        expect(frame).toMatchObject({ mime: 'image/png', width: 24, height: 16, bytes: bytes.length });
        expect(frame.sha256).toBe(createHash('sha256').update(bytes).digest('hex'));
        expect((await sharp(bytes).metadata()).format).toBe('png');
        expect((await rawOf(bytes)).equals(quarterOf(whole, index, channels))).toBe(true);
      }
      expect(files.get(name)).toBe(grid);
    },
  );

  it('have the same bytes each time they are cut', async () => {
    const grid = await image().png().toBuffer();
    const [first, second] = [await cut(grid), await cut(grid)];
    expect(framesIn(first.result)).toEqual(framesIn(second.result));
    expect([...first.files.values()].map(String)).toEqual([...second.files.values()].map(String));
  });

  it('keep 16 bits, greys and the colour profile', async () => {
    const deep = await image().toColourspace('rgb16').png().toBuffer();
    const grey = await image().greyscale().toColourspace('grey16').png().toBuffer();
    const profiled = await image().withIccProfile('p3').png().toBuffer();
    const facts = async (grid: Buffer) => {
      const { files } = await cut(grid);
      return await sharp(files.get('images/aa/aa11-3.png')).metadata();
    };
    expect(await facts(deep)).toMatchObject({ depth: 'ushort', channels: 3 });
    expect(await facts(grey)).toMatchObject({ depth: 'ushort', channels: 1 });
    const { icc } = await sharp(profiled).metadata();
    expect((await facts(profiled)).icc?.equals(icc ?? Buffer.alloc(0))).toBe(true);
    const { files } = await cut(profiled);
    const stored = await sharp(profiled, { ignoreIcc: true }).raw().toBuffer();
    const third = await sharp(files.get('images/aa/aa11-4.png'), { ignoreIcc: true }).raw().toBuffer();
    expect(third.equals(quarterOf(stored, 2, 3))).toBe(true);
  });

  it('are upright if a file says how it is turned', async () => {
    const turned = await image().jpeg({ quality: 100 }).withMetadata({ orientation: 6 }).toBuffer();
    const { result, files } = await cut(turned);
    const upright = await sharp(turned).autoOrient().raw().toBuffer();
    const of = { width: size.height, height: size.width };
    expect(framesIn(result)[1]).toMatchObject({ width: 16, height: 24 });
    expect((await rawOf(files.get('images/aa/aa11-3.png'))).equals(quarterOf(upright, 1, 3, of))).toBe(true);
  });

  it('are durable before they are reported', async () => {
    const directory = freshFolder();
    const grid = await image().png().toBuffer();
    const { openArtifactFolder } = await import('../../src/artifacts/store/folder.ts');
    const store = openArtifactFolder(directory);
    const put = await store.put('images/aa/aa11-1');
    await put.write(grid);
    await put.finish(name);
    await store.close();
    let syncs = 0;
    await onEachSync(() => {
      syncs += 1;
    });
    const result = await startWriter(directory).cut({ key, grid: artifactOf(grid) }, always);
    expect(framesIn(result)).toHaveLength(4);
    // Each file, and the folder that has its name.
    expect(syncs).toBeGreaterThanOrEqual(8);
    expect(filesIn(directory)).toEqual([1, 2, 3, 4, 5].map((n) => `images/aa/aa11-${n}.png`));
  });
});

describe('a file that cannot be cut', () => {
  it.each([
    [
      'is gone',
      'frames.file',
      async () => ({ grid: await image().png().toBuffer(), file: 'images/aa/aa11-9.png' }),
    ],
    ['was changed', 'frames.file', async () => ({ grid: await image().png().toBuffer(), sha256: 'other' })],
    [
      'is damaged inside',
      'frames.unreadable',
      async () => {
        const grid = await image().png().toBuffer();
        grid.fill(7, 60, grid.length - 20);
        return { grid };
      },
    ],
    [
      'has other dimensions than its record',
      'frames.unreadable',
      async () => ({ grid: await image().png().toBuffer(), width: 24, height: 32 }),
    ],
    [
      'moves',
      'frames.unreadable',
      async () => ({
        grid: await sharp([await image().png().toBuffer(), await image().negate().png().toBuffer()], {
          join: { animated: true },
        })
          .gif()
          .toBuffer(),
      }),
    ],
  ] as const)('leaves no frame and says why: it %s', async (_, code, make) => {
    const { grid, ...changes } = await make();
    const { result, files } = await cut(grid, changes);
    expect(errorIn(result)).toBe(code);
    expect(result).toMatchObject({ error: { class: 'permanent' } });
    expect([...files.keys()]).toEqual([name]);
  });

  it('is not decoded if it claims more pixels than its record', async () => {
    // A header of 30,000 × 30,000 pixels, in some bytes.
    const bomb = await sharp({ create: { width: 6000, height: 6000, channels: 3, background: '#000' } })
      .png()
      .toBuffer();
    const { result } = await cut(bomb, { width: 8, height: 8 });
    expect(errorIn(result)).toBe('frames.unreadable');
  });

  it('ends the run if the disk accepts no file', async () => {
    const grid = await image().png().toBuffer();
    const store = memoryArtifacts(new Map([[name, grid]]));
    const full = Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC', syscall: 'write' });
    const { onDisk } = await import('../../src/artifacts/failure.ts');
    const failing = { ...store, put: async () => await onDisk(async () => await Promise.reject(full)) };
    const result = await writerOver(failing).cut({ key, grid: artifactOf(grid) }, always);
    expect(result).toMatchObject({ ok: false, error: { code: 'disk.full', class: 'stop' } });
  });

  it('is left unchanged if the run is over', async () => {
    const grid = await image().png().toBuffer();
    const files = new Map([[name, grid]]);
    const over = AbortSignal.abort();
    const result = await writerOver(memoryArtifacts(files)).cut({ key, grid: artifactOf(grid) }, over);
    expect(errorIn(result)).toBe('download.aborted');
    expect([...files.keys()]).toEqual([name]);
  });
});

it('reads two grids at a time, however many are to be cut', async () => {
  const grid = await image().png().toBuffer();
  const store = memoryArtifacts(new Map([[name, grid]]));
  let [open, most] = [0, 0];
  const counting: ArtifactStore = {
    ...store,
    get: async (file, bytes) => {
      open += 1;
      most = Math.max(most, open);
      return await store.get(file, bytes);
    },
    put: async (path) => {
      const file = await store.put(path);
      const finish = file.finish.bind(file);
      if (path.endsWith('-5'))
        file.finish = async (last) => {
          await finish(last);
          open -= 1;
        };
      return file;
    },
  };
  const writer = writerOver(counting);
  await Promise.all(Array.from({ length: 12 }, () => writer.cut({ key, grid: artifactOf(grid) }, always)));
  expect([open, most]).toEqual([0, 2]);
});
