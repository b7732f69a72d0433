import { createHash } from 'node:crypto';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { SaveError } from '../../../src/artifacts/failure.ts';
import {
  type LoadedImage,
  largestMask,
  type MaskRequest,
  maxMaskPixels,
} from '../../../src/artifacts/inputs.ts';
import { MaskMaker } from '../../../src/artifacts/masks/draw.ts';
import { writeMask } from '../../../src/artifacts/masks/image.ts';
import { drawShapes } from '../../../src/artifacts/masks/shapes.ts';

const always = new AbortController().signal;

const shapesOf = (width: number, height = 2): MaskRequest => ({
  source: { kind: 'shapes', shapes: [{ rectangle: [0, 0, 1, 1] }] },
  invert: false,
  size: { width, height },
  form: 'white',
});

/** Levels of which no two are alike for long. */
function noise(seed: number, length: number): Buffer {
  const levels = Buffer.alloc(length);
  let state = seed;
  for (let at = 0; at < length; at += 1) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    levels[at] = state >>> 24;
  }
  return levels;
}

/** A mask file, and the request for it. */
async function fileOf(levels: Buffer, width: number, height = 1): Promise<readonly [MaskRequest, Buffer]> {
  const file = await sharp(levels, { raw: { width, height, channels: 1 } })
    .toColourspace('b-w')
    .png({ compressionLevel: 0 })
    .toBuffer();
  const sha256 = createHash('sha256').update(file).digest('hex');
  return [
    {
      source: { kind: 'file', path: 'm.png', sha256 },
      invert: false,
      size: { width, height },
      form: 'white',
    },
    file,
  ];
}

const failureOf = async (work: Promise<LoadedImage>): Promise<readonly [string, string]> => {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof SaveError)) throw new Error('A mask was made.', { cause: error });
  expect(error.failure.class).toBe('permanent');
  return [error.failure.code, error.failure.message];
};

describe('masks that are kept for the next job', () => {
  it('are the 16 most recently used', async () => {
    const masks = new MaskMaker();
    const make = (width: number) => masks.make(shapesOf(width), undefined, always);
    const first: LoadedImage[] = [];
    for (let width = 1; width <= 16; width += 1) first.push(await make(width));
    expect(await make(1)).toBe(first[0]);
    // The second is the one that was wanted longest ago.
    await make(17);
    expect(await make(1)).toBe(first[0]);
    expect(await make(3)).toBe(first[2]);
    const second = await make(2);
    expect(second).not.toBe(first[1]);
    expect(second).toEqual(first[1]);
    // That took the place of the fourth.
    expect(await make(5)).toBe(first[4]);
    expect(await make(4)).not.toBe(first[3]);
  });

  it('have a limited total size', async () => {
    const made = async (masks: MaskMaker, seed: number): Promise<LoadedImage> => {
      const [request, file] = await fileOf(noise(seed, 10_000), 100, 100);
      return await masks.make(request, file, always);
    };
    const all = new MaskMaker();
    const length = (await Promise.all([1, 2, 3].map((seed) => made(all, seed)))).reduce(
      (sum, { data }) => sum + data.length,
      0,
    );
    const three = new MaskMaker(length);
    const [first, second, third] = [await made(three, 1), await made(three, 2), await made(three, 3)];
    expect([await made(three, 1), await made(three, 2), await made(three, 3)]).toEqual([
      first,
      second,
      third,
    ]);
    expect(await made(three, 1)).toBe(first);
    expect(await made(three, 2)).toBe(second);
    await three.make(shapesOf(1), undefined, always);
    // What was wanted longest ago went.
    expect(await made(three, 1)).toBe(first);
    expect(await made(three, 2)).toBe(second);
    expect(await made(three, 3)).not.toBe(third);
    const less = new MaskMaker(length - 1);
    const again = [await made(less, 1), await made(less, 2), await made(less, 3)];
    expect(await made(less, 3)).toBe(again[2]);
    expect(await made(less, 2)).toBe(again[1]);
    expect(await made(less, 1)).not.toBe(again[0]);
  });

  it('differ by the content of their files', async () => {
    const masks = new MaskMaker();
    const [one, two] = [await fileOf(Buffer.from([0, 255]), 2), await fileOf(Buffer.from([255, 0]), 2)];
    const made = [await masks.make(...one, always), await masks.make(...two, always)];
    expect(made[0]?.data).not.toBe(made[1]?.data);
    expect(await masks.make(...one, always)).toBe(made[0]);
  });

  it('differ by their shapes', async () => {
    const masks = new MaskMaker();
    const half: MaskRequest = {
      ...shapesOf(4),
      source: { kind: 'shapes', shapes: [{ rectangle: [0, 0, 0.5, 1] }] },
    };
    const made = [
      await masks.make(shapesOf(4), undefined, always),
      await masks.make(half, undefined, always),
    ];
    expect(made[0]?.data).not.toBe(made[1]?.data);
  });
});

describe('a mask', () => {
  it('is made for an image of at most 64 Mi pixels', async () => {
    expect(maxMaskPixels).toBe(8192 * 8192);
    const masks = new MaskMaker();
    const [code, message] = await failureOf(masks.make(shapesOf(8192, 8193), undefined, always));
    expect(code).toBe('mask.too-large');
    expect(message).toContain('8192 × 8193 pixels');
    // One that may be made is stopped only before its pixels are drawn.
    const stop = new Error('stop');
    await expect(masks.make(shapesOf(8192, 8192), undefined, AbortSignal.abort(stop))).rejects.toBe(stop);
  });

  it('has at most as many bytes as services accept, however detailed it is', async () => {
    expect(largestMask).toBe(12 * 1024 * 1024);
    const size = { width: 100, height: 100 };
    const levels = noise(1, 10_000);
    const file = await writeMask(levels, size, 'white');
    expect(await writeMask(levels, size, 'white', file.length)).toEqual(file);
    const error = await writeMask(levels, size, 'white', file.length - 1).catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      failure: {
        code: 'mask.too-large',
        class: 'permanent',
        message: expect.stringContaining(`${file.length - 1} is the most`),
      },
    });
  });

  it('is compressed as well as PNG can be', async () => {
    const levels = Buffer.alloc(300 * 300, 255).fill(0, 40_000, 50_000);
    const file = await writeMask(levels, { width: 300, height: 300 }, 'white');
    const other = await sharp(file).png({ compressionLevel: 1 }).toBuffer();
    expect(file.length).toBeLessThan(other.length);
  });

  it('may repaint a single pixel that is hardly white', async () => {
    const [request, file] = await fileOf(Buffer.from([0, 1]), 2);
    const { data } = await new MaskMaker().make(request, file, always);
    expect([...(await sharp(Buffer.from(data, 'base64')).extractChannel(0).raw().toBuffer())]).toEqual([
      0, 1,
    ]);
  });

  it('that leaves nothing to repaint is reported with its name and the reason', async () => {
    const [request, file] = await fileOf(Buffer.from([0, 0]), 2);
    const [white, whiteFile] = await fileOf(Buffer.from([255, 255]), 2);
    const empty: MaskRequest = {
      ...shapesOf(4),
      source: { kind: 'shapes', shapes: [{ rectangle: [0, 0, 0.01, 0.01] }] },
    };
    const masks = new MaskMaker();
    const messages = [
      await failureOf(masks.make(request, file, always)),
      await failureOf(masks.make({ ...white, invert: true }, whiteFile, always)),
      await failureOf(masks.make(empty, undefined, always)),
    ].map(([, message]) => message.slice(0, message.indexOf('.', 12)));
    expect(messages).toEqual([
      'The mask m.png leaves nothing to repaint: no pixel of it is white',
      'The mask m.png leaves nothing to repaint: no pixel of it is white once it is inverted',
      'The mask leaves nothing to repaint: no pixel of it is white',
    ]);
  });

  it.each([
    [3, 2],
    [2, 3],
    [3, 3],
  ])('of %i × %i pixels does not fit an image of 2 × 2', async (width, height) => {
    const [request, file] = await fileOf(Buffer.alloc(width * height, 255), width, height);
    const [code] = await failureOf(
      new MaskMaker().make({ ...request, size: { width: 2, height: 2 } }, file, always),
    );
    expect(code).toBe('mask.size');
  });
});

describe('the edge of a shape', () => {
  const art = (width: number, height: number, ...shapes: Parameters<typeof drawShapes>[0]): string[] => {
    const levels = drawShapes(shapes, { width, height });
    return Array.from({ length: height }, (_, y) =>
      [...levels.subarray(y * width, (y + 1) * width)].map((level) => (level === 255 ? '#' : '.')).join(''),
    );
  };

  it('lies on the line that its decimals mean, despite the errors of binary fractions', () => {
    // 0.15 × 10 is the middle of a pixel, and 0.1 + 0.05 as a binary fraction a little more; 0.35 - 0.2 a little less.
    expect(art(10, 1, { rectangle: [0.35 - 0.2, 0, 0.85, 1] })).toEqual(['..########']);
    expect(art(10, 1, { rectangle: [0.1 + 0.05, 0, 0.85, 1] })).toEqual(['..########']);
    expect(art(10, 1, { rectangle: [0, 0, 0.35 - 0.2, 1] })).toEqual(['##........']);
  });

  it('ends at the edge of the image', () => {
    expect(art(4, 2, { rectangle: [0.5, 0.5, 0.9, 0.9] })).toEqual(['....', '..##']);
    expect(art(4, 2, { rectangle: [-0.5, -0.5, 1, 1] })).toEqual(['##..', '....']);
  });

  it('of an ellipse contains the pixels whose centres lie in it, at any position', () => {
    const ellipse = art(9, 8, { ellipse: [2 / 9, 1 / 8, 6 / 9, 6 / 8] });
    expect(ellipse).toEqual([
      '.........',
      '...####..',
      '..######.',
      '..######.',
      '..######.',
      '..######.',
      '...####..',
      '.........',
    ]);
  });
});
