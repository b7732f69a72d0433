import { describe, expect, it } from 'vitest';
import { avif } from '../../../src/artifacts/formats/avif.ts';
import { type Bytes, type ImageFormat, inMemory, tail } from '../../../src/artifacts/formats/format.ts';
import { gif } from '../../../src/artifacts/formats/gif.ts';
import { jpeg } from '../../../src/artifacts/formats/jpeg.ts';
import { png } from '../../../src/artifacts/formats/png.ts';
import { webp } from '../../../src/artifacts/formats/webp.ts';
import { box } from '../films.ts';
import { gallery } from '../gallery.ts';

const real = async (name: string): Promise<Buffer> =>
  Buffer.from((await gallery[name]?.(40, 30)) ?? Buffer.alloc(0));
const measure = async (format: ImageFormat, file: Buffer) => await format.measure(inMemory(file));
const size = { width: 40, height: 30 };

it.each<readonly [string, ImageFormat, readonly number[]]>([
  ['png', png, [0, 1, 2, 3, 4, 5, 6, 7]],
  ['jpeg', jpeg, [0, 1, 2]],
  ['webp, lossy', webp, [0, 1, 2, 3, 8, 9, 10, 11]],
  ['gif', gif, [0, 1, 2, 3, 4, 5]],
  ['avif', avif, [4, 5, 6, 7]],
])('a file is %s only with every byte of its signature in its place', async (name, format, places) => {
  const file = await real(name);
  expect(format.matches(file.subarray(0, 64))).toBe(true);
  for (const at of places) {
    const other = Buffer.from(file.subarray(0, 64));
    other.writeUInt8((other[at] ?? 0) ^ 0x40, at);
    expect([at, format.matches(other)]).toEqual([at, false]);
  }
  expect(format.matches(Buffer.concat([Buffer.from(' '), file]).subarray(0, 64))).toBe(false);
  expect(format.matches(Buffer.alloc(0))).toBe(false);
});

it.each<readonly [string, ImageFormat, readonly (readonly [number, number])[]]>([
  [
    'png',
    png,
    [
      [16, 4],
      [20, 4],
    ],
  ],
  [
    'gif',
    gif,
    [
      [6, 2],
      [8, 2],
    ],
  ],
])('a %s without width or height is damaged', async (name, format, places) => {
  for (const [at, length] of places) {
    const file = await real(name);
    file.fill(0, at, at + length);
    expect(await measure(format, file)).toBeUndefined();
  }
});

describe('a PNG', () => {
  it('begins with its header', async () => {
    const file = await real('png');
    expect(await measure(png, file)).toEqual(size);
    file.write('IHDX', 12, 'latin1');
    expect(await measure(png, file)).toBeUndefined();
  });

  it('is damaged while its header is incomplete', async () => {
    const file = await real('png');
    const closing = file.subarray(-12);
    for (const length of [8, 16, 23]) {
      const cut = Buffer.concat([file.subarray(0, length)]);
      expect(await measure(png, cut)).toBeUndefined();
    }
    expect(await measure(png, Buffer.concat([file.subarray(0, 24), closing]))).toEqual(size);
  });
});

describe('a GIF', () => {
  it('may end with zeros after its trailer, and with nothing else', async () => {
    const file = await real('gif');
    expect(await measure(gif, Buffer.concat([file, Buffer.alloc(9)]))).toEqual(size);
    expect(await measure(gif, Buffer.concat([file, Buffer.from([1])]))).toBeUndefined();
    expect(await measure(gif, file.subarray(0, 9))).toBeUndefined();
  });
});

describe('a WebP', () => {
  it('may lack the last byte of padding, and no more', async () => {
    const file = await real('webp, lossy');
    expect(file.readUInt32LE(4) + 8).toBe(file.length);
    expect(await measure(webp, file)).toEqual(size);
    expect(await measure(webp, file.subarray(0, -1))).toEqual(size);
    expect(await measure(webp, file.subarray(0, -2))).toBeUndefined();
    // What programs append is not the picture's.
    expect(await measure(webp, Buffer.concat([file, Buffer.alloc(3)]))).toEqual(size);
  });

  it.each([
    ['webp, lossy', 23],
    ['webp, lossy', 25],
    ['webp, lossless', 20],
    ['webp, extended', 12],
  ])('is damaged if its picture begins wrongly: %s', async (name, at) => {
    const file = await real(name);
    file.writeUInt8((file[at] ?? 0) ^ 0x40, at);
    expect(await measure(webp, file)).toBeUndefined();
  });

  it('is damaged while its header is incomplete', async () => {
    const file = await real('webp, extended');
    const short = file.subarray(0, 29);
    short.writeUInt32LE(21, 4);
    expect(await measure(webp, short)).toBeUndefined();
  });
});

/** A segment of a JPEG: its marker, its length, its content. */
const segment = (marker: number, content: Buffer): Buffer => {
  const head = Buffer.from([0xff, marker, 0, 0]);
  head.writeUInt16BE(content.length + 2, 2);
  return Buffer.concat([head, content]);
};
/** A frame of 40 × 30. */
const frame = (marker = 0xc0): Buffer => segment(marker, Buffer.from([8, 0, 30, 0, 40, 1, 1, 0x11, 0]));
const start = Buffer.from([0xff, 0xd8]);
const pixels = Buffer.concat([segment(0xda, Buffer.alloc(6)), Buffer.alloc(40), Buffer.from([0xff, 0xd9])]);

describe('a JPEG', () => {
  const sizeOf = async (...parts: readonly Buffer[]) => await measure(jpeg, Buffer.concat([start, ...parts]));

  it.each([0xc0, 0xc1, 0xc2, 0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf])(
    'has its size in a frame of the kind %i',
    async (marker) => {
      expect(await sizeOf(frame(marker), pixels)).toEqual(size);
    },
  );

  it.each([0xc4, 0xc8, 0xcc, 0xbf, 0xd0, 0xdb, 0xe0, 0xfe])('has no size in a segment %i', async (marker) => {
    expect(await sizeOf(frame(marker), pixels)).toBeUndefined();
    expect(await sizeOf(frame(), frame(marker), pixels)).toEqual(size);
  });

  it('may have fill bytes before a marker', async () => {
    expect(await sizeOf(Buffer.from([0xff, 0xff, 0xff]), frame(), Buffer.from([0xff]), pixels)).toEqual(size);
  });

  it('is damaged if a segment does not begin with a marker, or ends before its size', async () => {
    const odd = frame();
    odd.writeUInt8(0, 0);
    expect(await sizeOf(odd, pixels)).toBeUndefined();
    for (const length of [2, 3, 4, 8]) expect(await sizeOf(frame().subarray(0, length))).toBeUndefined();
    expect(await sizeOf(pixels)).toBeUndefined();
  });

  it('is searched for at most 2048 segments', async () => {
    const comments = (count: number) =>
      Buffer.concat(Array.from({ length: count }, () => segment(0xfe, Buffer.alloc(0))));
    // With the frame and the pixels.
    expect(await sizeOf(comments(2046), frame(), pixels)).toEqual(size);
    expect(await sizeOf(comments(2047), frame(), pixels)).toBeUndefined();
  });

  it('ends after its pixels, in the last 64 KiB', async () => {
    expect(await sizeOf(frame(), pixels, Buffer.alloc(65_534))).toEqual(size);
    expect(await sizeOf(frame(), pixels, Buffer.alloc(65_535))).toBeUndefined();
    expect(
      await sizeOf(segment(0xfe, Buffer.from([0xff, 0xd9])), frame(), pixels.subarray(0, -2)),
    ).toBeUndefined();
  });
});

describe('an AVIF', () => {
  const word = (value: number): Buffer => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value, 0);
    return bytes;
  };
  const extent = (width: number, height: number): Buffer => box('ispe', word(0), word(width), word(height));
  const file = (...properties: readonly Buffer[]): Buffer =>
    Buffer.concat([
      box('ftyp', 'avif', '\0\0\0\0', 'mif1', 'avif'),
      box('meta', word(0), box('hdlr', Buffer.alloc(20)), box('iprp', box('ipco', ...properties))),
      box('mdat', Buffer.alloc(50)),
    ]);

  it('has the largest size among its items, by area', async () => {
    expect(await measure(avif, file(extent(40, 30)))).toEqual(size);
    for (const sizes of [
      [extent(40, 30), extent(300, 3)],
      [extent(300, 3), extent(40, 30)],
      [extent(3, 300), extent(40, 30), extent(0, 9999)],
      // The first of several with one area.
      [extent(40, 30), extent(30, 40)],
    ])
      expect(await measure(avif, file(...sizes))).toEqual(size);
  });

  it('has no size without a complete item that gives one', async () => {
    expect(await measure(avif, file())).toBeUndefined();
    expect(await measure(avif, file(box('ispe', word(0), word(40), Buffer.alloc(3))))).toBeUndefined();
    expect(await measure(avif, file(box('pixi', word(0), word(40), word(30))))).toBeUndefined();
    const outside = Buffer.concat([file(), box('free', extent(40, 30))]);
    expect(await measure(avif, outside)).toBeUndefined();
  });

  it('is searched only in places with such sizes', async () => {
    const hidden = Buffer.concat([
      box('ftyp', 'avif', '\0\0\0\0', 'avif'),
      box('meta', word(0), box('free', extent(9, 9)), box('iprp', box('ipco', extent(4, 3)))),
    ]);
    expect(await measure(avif, hidden)).toEqual({ width: 4, height: 3 });
  });

  it('is read up to an item with an impossible length, and keeps what was found before', async () => {
    for (const length of [3, 9999]) {
      const odd = extent(90, 90);
      odd.writeUInt32BE(length, 0);
      expect(await measure(avif, file(extent(40, 30), odd))).toEqual(size);
      expect(await measure(avif, file(odd, extent(40, 30)))).toBeUndefined();
    }
  });

  it('is searched for at most 512 boxes and a megabyte', async () => {
    const free = (count: number) => Array.from({ length: count }, () => box('free'));
    // With hdlr before them.
    expect(await measure(avif, file(...free(510), extent(40, 30)))).toEqual(size);
    expect(await measure(avif, file(...free(511), extent(40, 30)))).toBeUndefined();
    const around = file(extent(40, 30), box('free')).length;
    const content = around - file().length;
    const fill = (bytes: number) => box('free', Buffer.alloc(1_048_576 - 4 - 28 - 16 - content + bytes));
    expect(await measure(avif, file(extent(40, 30), fill(0)))).toEqual(size);
    expect(await measure(avif, file(extent(40, 30), fill(1)))).toBeUndefined();
  });

  it.each([
    ['avif', true],
    ['avis', true],
    ['avix', false],
    ['xavi', false],
  ])('with the brand %s is recognised: %s', (brand, known) => {
    expect(avif.matches(box('ftyp', 'mif1', '\0\0\0\0', 'mif1', brand, Buffer.alloc(16)))).toBe(known);
  });
});

it('the end of a file is its last 64 KiB, without bytes before a given position', async () => {
  const reads: (readonly [number, number])[] = [];
  const watched = (length: number): Bytes => ({
    size: length,
    read: (position, count) => {
      reads.push([position, count]);
      return Promise.resolve(Buffer.alloc(count));
    },
  });
  expect(await tail(watched(100_000))).toHaveLength(65_536);
  expect(await tail(watched(100_000), 90_000)).toHaveLength(10_000);
  expect(await tail(watched(100), 99)).toHaveLength(1);
  expect(await tail(watched(100), 100)).toHaveLength(0);
  expect(await tail(watched(100), 5000)).toHaveLength(0);
  expect(reads).toEqual([
    [34_464, 65_536],
    [90_000, 10_000],
    [99, 1],
  ]);
});
