import { describe, expect, it } from 'vitest';
import { inMemory } from '../../../src/artifacts/formats/format.ts';
import { mov, mp4 } from '../../../src/artifacts/formats/mp4.ts';
import { webm } from '../../../src/artifacts/formats/webm.ts';
import { box, webmFile } from '../films.ts';

describe('the brand of an MP4', () => {
  const matches = (brand: string) => mp4.matches(box('ftyp', 'xxxx', '\0\0\0\0', 'yyyy', brand));

  it.each([
    'isom',
    'iso2',
    'iso5',
    'iso9',
    'mp41',
    'mp42',
    'avc1',
    'hvc1',
    'M4V ',
    'M4VH',
    'dash',
    'cmfc',
    'cmf2',
    'MSNV',
    '3gp4',
    '3gp6',
    '3g2a',
  ])('may be %s, at any place in the list', (brand) => {
    expect(matches(brand)).toBe(true);
    expect(mp4.matches(box('ftyp', brand, '\0\0\0\0', 'yyyy'))).toBe(true);
  });

  it.each(['iso1', 'isoq', 'mp43', 'M4A ', 'M4B ', 'cmfx', '3gs7', 'qt  ', 'avif', 'xmp4', 'heic'])(
    'is not %s',
    (brand) => {
      expect(matches(brand)).toBe(false);
    },
  );

  it('is QuickTime only as its own brand', () => {
    expect(mov.matches(box('ftyp', 'qt  ', '\0\0\0\0', 'isom'))).toBe(true);
    expect(mov.matches(box('ftyp', 'isom', '\0\0\0\0', 'qt  '))).toBe(false);
  });
});

describe('the size of an MP4', () => {
  const measure = async (...parts: readonly Buffer[]) => await mp4.measure(inMemory(Buffer.concat(parts)));
  const one = 0x1_0000;
  /** The header of a track: its matrix begins with these, and its size stands in 65536ths. */
  const track = (
    width: number,
    height: number,
    [a, b]: readonly number[] = [one, 0],
    name = 'trak',
    inner = 'tkhd',
  ): Buffer => {
    const body = Buffer.alloc(84);
    body.writeInt32BE(a ?? 0, 40);
    body.writeInt32BE(b ?? 0, 44);
    body.writeUInt32BE(width, 76);
    body.writeUInt32BE(height, 80);
    return box(name, box(inner, body), box('free', Buffer.alloc(84, 7)));
  };
  const head = box('ftyp', 'isom', '\0\0\0\0', 'isom');
  const media = box('mdat', 'x');
  const of = async (...tracks: readonly Buffer[]) => await measure(head, box('moov', ...tracks), media);

  it('is that of its largest track by area, and of the first among equals', async () => {
    expect(await of(track(40 * one, 30 * one), track(300 * one, 3 * one))).toEqual({ width: 40, height: 30 });
    expect(await of(track(300 * one, 3 * one), track(40 * one, 30 * one))).toEqual({ width: 40, height: 30 });
    expect(await of(track(40 * one, 30 * one), track(30 * one, 40 * one))).toEqual({ width: 40, height: 30 });
    expect(await of(track(40 * one, 30 * one), track(0, 0))).toEqual({ width: 40, height: 30 });
  });

  it('is rounded to whole pixels', async () => {
    expect(await of(track(39.6 * one, 30.4 * one))).toEqual({ width: 40, height: 30 });
  });

  it.each([
    [[0, one], true],
    [[0, -one], true],
    [[one, 0], false],
    [[-one, 0], false],
    [[one, one], false],
    [[0, 0], false],
  ])('is turned by the matrix %j: %s', async (matrix, turned) => {
    expect(await of(track(40 * one, 30 * one, matrix))).toEqual(
      turned ? { width: 30, height: 40 } : { width: 40, height: 30 },
    );
  });

  it('is unknown if no track has one', async () => {
    expect(await of()).toEqual({});
    expect(await of(track(0, 0))).toEqual({});
    expect(await of(track(9 * one, 9 * one, [one, 0], 'skip'))).toEqual({});
    expect(await of(track(9 * one, 9 * one, [one, 0], 'trak', 'mdhd'))).toEqual({});
    expect(await of(Buffer.from('odd'))).toEqual({});
  });

  it('is undefined for a file without its films or its pictures', async () => {
    const movie = box('moov', track(40 * one, 30 * one));
    expect(await measure(head, movie)).toBeUndefined();
    expect(await measure(head, media)).toBeUndefined();
    expect(await measure(head, movie, media.subarray(0, -1))).toBeUndefined();
    // A header that begins before the file does.
    expect(await measure(box('moov', box('trak', box('tkhd'))), media)).toEqual({});
  });
});

describe('a WebM', () => {
  const measure = async (file: Buffer) => await webm.measure(inMemory(file));

  /** An EBML element with its size in one byte. */
  const element = (id: string, ...content: readonly Buffer[]): Buffer => {
    const body = Buffer.concat(content);
    expect(body.length).toBeLessThan(127);
    return Buffer.concat([Buffer.from(id, 'hex'), Buffer.from([0x80 | body.length]), body]);
  };
  const long = (id: string, ...content: readonly Buffer[]): Buffer => {
    const body = Buffer.concat(content);
    const size = Buffer.alloc(4);
    size.writeUInt32BE(0x1000_0000 + body.length);
    return Buffer.concat([Buffer.from(id, 'hex'), size, body]);
  };
  const head = element('1a45dfa3', element('4282', Buffer.from('webm')));
  const number = (value: number, length: number): Buffer => {
    const bytes = Buffer.alloc(length);
    if (length > 0) bytes.writeUIntBE(value, 0, Math.min(length, 6));
    return bytes;
  };
  const picture = (width: Buffer, height: Buffer): Buffer =>
    element('ae', element('e0', element('b0', width), element('ba', height)));
  const sound = element('ae', element('d7', Buffer.from([1])));
  const file = (...tracks: readonly Buffer[]): Buffer =>
    Buffer.concat([head, long('18538067', long('1654ae6b', ...tracks), long('1f43b675', Buffer.alloc(9)))]);

  it('is recognised by its first four bytes and its document type together', () => {
    const matches = (bytes: Buffer): boolean => webm.matches(bytes);
    expect(matches(head)).toBe(true);
    expect(matches(element('1a45dfa3', Buffer.from('matroska')))).toBe(true);
    expect(matches(element('1a45dfa3', Buffer.from('something')))).toBe(false);
    expect(matches(element('1a45dfa2', Buffer.from('webm')))).toBe(false);
    expect(matches(Buffer.concat([head.subarray(0, 4), Buffer.alloc(56), Buffer.from('webm')]))).toBe(true);
    expect(matches(Buffer.concat([head.subarray(0, 4), Buffer.alloc(57), Buffer.from('webm')]))).toBe(false);
    for (const length of [0, 1, 3, 4]) expect(matches(head.subarray(0, length))).toBe(false);
  });

  it('has the size of its first picture, in numbers of one to four bytes', async () => {
    for (const length of [1, 2, 3, 4])
      expect(await measure(file(sound, picture(number(40, length), number(30, 1))))).toEqual({
        width: 40,
        height: 30,
      });
    const two = file(picture(number(40, 1), number(30, 1)), picture(number(400, 2), number(300, 2)));
    expect(await measure(two)).toEqual({ width: 40, height: 30 });
    expect(await measure(file(picture(number(0x1_0203, 3), number(0x0102, 2))))).toEqual({
      width: 0x1_0203,
      height: 0x0102,
    });
  });

  it.each([0, 5])('has no size in a number of %i bytes', async (length) => {
    expect(await measure(file(picture(number(40, length), number(30, 1))))).toEqual({});
  });

  it('has no size without a track of pictures, without tracks, or without one of both numbers', async () => {
    expect(await measure(file(sound))).toEqual({});
    expect(await measure(file())).toEqual({});
    expect(await measure(Buffer.concat([head, long('18538067', element('ec', Buffer.alloc(3)))]))).toEqual(
      {},
    );
    const half = (id: string): Buffer => element('ae', element('e0', element(id, number(40, 1))));
    expect(await measure(file(half('b0')))).toEqual({});
    expect(await measure(file(half('ba')))).toEqual({});
    // No track at all, though it holds the same.
    const other = element('ec', element('e0', element('b0', number(9, 1)), element('ba', number(9, 1))));
    expect(await measure(file(other))).toEqual({});
    expect(await measure(file(other, picture(number(40, 1), number(30, 1))))).toEqual({
      width: 40,
      height: 30,
    });
  });

  it('is not searched after its first pictures', async () => {
    const late = long('1654ae6b', picture(number(40, 1), number(30, 1)));
    expect(await measure(Buffer.concat([head, long('18538067', late)]))).toEqual({ width: 40, height: 30 });
    const cluster = long('1f43b675', Buffer.alloc(9));
    expect(await measure(Buffer.concat([head, long('18538067', cluster, late)]))).toEqual({});
  });

  it('is searched for at most 256 elements in one place', async () => {
    const voids = (count: number): readonly Buffer[] => Array.from({ length: count }, () => element('ec'));
    const last = picture(number(40, 1), number(30, 1));
    const size = { width: 40, height: 30 };
    expect(await measure(file(...voids(255), last))).toEqual(size);
    expect(await measure(file(...voids(256), last))).toEqual({});
    const before = (count: number): Buffer =>
      Buffer.concat([head, long('18538067', ...voids(count), long('1654ae6b', last))]);
    expect(await measure(before(255))).toEqual(size);
    expect(await measure(before(256))).toEqual({});
  });

  it('is damaged if its head, or what follows it, is not an element', async () => {
    const whole = file(picture(number(40, 1), number(30, 1)));
    for (const [at, byte] of [
      // An id of no length, an id of five bytes, a size of no length.
      [0, 0],
      [0, 0x08],
      [4, 0],
      [head.length, 0],
      [head.length, 0x08],
      [head.length + 4, 0],
      // Another element than the segment.
      [head.length + 3, 0x66],
    ] as const) {
      const odd = Buffer.from(whole);
      odd.writeUInt8(byte, at);
      expect([at, byte, await measure(odd)]).toEqual([at, byte, undefined]);
    }
    for (const length of [0, 4, head.length, head.length + 3, head.length + 7, whole.length - 1])
      expect([length, await measure(whole.subarray(0, length))]).toEqual([length, undefined]);
  });

  it('is incomplete if its segment lacks one byte', async () => {
    const whole = webmFile(64, 48);
    expect(await measure(whole)).toEqual({ width: 64, height: 48 });
    expect(await measure(whole.subarray(0, -1))).toBeUndefined();
  });

  it('has an unknown length only if each bit of it is one', async () => {
    const segment = (size: string): Buffer =>
      Buffer.concat([
        head,
        Buffer.from(`18538067${size}`, 'hex'),
        long('1654ae6b', picture(number(40, 1), number(30, 1))),
      ]);
    const size = { width: 40, height: 30 };
    for (const unknown of ['ff', '7fff', '1fffffff', '01ffffffffffffff'])
      expect(await measure(segment(unknown))).toEqual(size);
    for (const tooLong of ['fe', '7ffe', '1ffffffe', '1ffeffff', '01fffffffffffffe'])
      expect([tooLong, await measure(segment(tooLong))]).toEqual([tooLong, undefined]);
  });
});
