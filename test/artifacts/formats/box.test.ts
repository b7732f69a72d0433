import { describe, expect, it } from 'vitest';
import { boxesIn, boxLength, brandsOf } from '../../../src/artifacts/formats/box.ts';
import { inMemory } from '../../../src/artifacts/formats/format.ts';
import { box } from '../films.ts';

/** A box whose length stands in 8 bytes behind its name. */
const longBox = (name: string, length: number): Buffer => {
  const head = Buffer.alloc(16, name, 'latin1');
  head.writeUInt32BE(1, 0);
  head.write(name, 4, 'latin1');
  head.writeBigUInt64BE(BigInt(length), 8);
  return head;
};

const headOf = (length: number): Buffer => {
  const head = Buffer.from('\0\0\0\0free', 'latin1');
  head.writeUInt32BE(length, 0);
  return head;
};

describe('the length of a box', () => {
  it('is the one in its head, and the rest of the file for 0', () => {
    expect([8, 9, 4_294_967_295, 0].map((length) => boxLength(headOf(length), 77))).toEqual([
      8, 9, 4_294_967_295, 77,
    ]);
  });

  it.each([2, 3, 7])('of %i bytes is impossible, because its own head is longer', (length) => {
    expect(boxLength(headOf(length), 77)).toBeUndefined();
  });

  it('of more than four bytes stands after the name', () => {
    expect([16, 17, 5_000_000_000].map((length) => boxLength(longBox('mdat', length), 77))).toEqual([
      16, 17, 5_000_000_000,
    ]);
    expect([0, 8, 15].map((length) => boxLength(longBox('mdat', length), 77))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('is unknown before its whole head has arrived', () => {
    expect(boxLength(headOf(100).subarray(0, 7), 77)).toBeUndefined();
    expect(boxLength(longBox('mdat', 100).subarray(0, 15), 77)).toBeUndefined();
  });
});

describe('the boxes of a file', () => {
  const boxes = async (file: Buffer, from = 0) => await boxesIn(inMemory(file), from, file.length);

  it('are listed with the positions of their contents', async () => {
    const long = Buffer.concat([longBox('mdat', 20), Buffer.alloc(4)]);
    const last = Buffer.concat([headOf(0), Buffer.alloc(5)]);
    const file = Buffer.concat([box('ftyp', 'isom'), long, last]);
    expect(await boxes(file)).toEqual([
      { name: 'ftyp', from: 8, to: 12 },
      { name: 'mdat', from: 28, to: 32 },
      { name: 'free', from: 40, to: 45 },
    ]);
    expect(await boxes(file, 12)).toHaveLength(2);
    expect(await boxes(file.subarray(0, 44), 12)).toEqual([
      { name: 'mdat', from: 28, to: 32 },
      { name: 'free', from: 40, to: 44 },
    ]);
    expect(await boxes(Buffer.alloc(0))).toEqual([]);
  });

  it('are empty if they do not fill it to the byte', async () => {
    const file = Buffer.concat([box('ftyp', 'isom'), box('free', 'abcd')]);
    expect(await boxes(file)).toHaveLength(2);
    for (const cut of [file.length - 1, 13, 19]) expect(await boxes(file.subarray(0, cut))).toBeUndefined();
  });

  it('are at most 512', async () => {
    const file = (count: number) => Buffer.concat(Array.from({ length: count }, () => box('free')));
    expect(await boxes(file(512))).toHaveLength(512);
    expect(await boxes(file(513))).toBeUndefined();
  });
});

describe('the brands of a file', () => {
  const typeBox = (...brands: readonly string[]): Buffer =>
    box('ftyp', brands[0] ?? '', '\0\0\x02\0', ...brands.slice(1));

  it('are its own and the compatible ones, within its first box', () => {
    const file = Buffer.concat([typeBox('isom', 'mp42', 'avif'), box('free', 'avis')]);
    expect(brandsOf(file)).toEqual(['isom', 'mp42', 'avif']);
    expect(brandsOf(typeBox('qt  '))).toEqual(['qt  ']);
    // A brand that is cut off is none, nor is its first part.
    expect(brandsOf(file.subarray(0, 22))).toEqual(['isom', 'mp42']);
  });

  it('are only its own if the length of its first box is impossible', () => {
    const file = typeBox('isom', 'mp42');
    file.writeUInt32BE(3, 0);
    expect(brandsOf(file)).toEqual(['isom']);
  });

  it('are empty for another file, or one that ends before them', () => {
    expect(brandsOf(box('free', 'isom', 'mp42', 'avif'))).toEqual([]);
    expect(brandsOf(typeBox('isom').subarray(0, 15))).toEqual([]);
    expect(brandsOf(Buffer.alloc(0))).toEqual([]);
  });
});
