import { createHash } from 'node:crypto';
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import sharp from 'sharp';
import { afterEach, describe, expect, it } from 'vitest';
import { createInputReader } from '../../../src/artifacts/input/reader.ts';
import type { InputReader, InputResult, LoadedImage, MaskRequest } from '../../../src/artifacts/inputs.ts';
import { drawShapes } from '../../../src/artifacts/masks/shapes.ts';
import { openArtifactFolder } from '../../../src/artifacts/store/folder.ts';
import { wallClock } from '../../../src/cli/adapters/clock.ts';
import type { MaskShape } from '../../../src/plan/job-request.ts';
import { gallery } from '../gallery.ts';
import { freshFolder } from '../places.ts';

const always = new AbortController().signal;
const readers: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const reader of readers.splice(0)) await reader.close();
});

function place(): { readonly folder: string; readonly reader: InputReader } {
  const folder = realpathSync(freshFolder());
  const reader = createInputReader({
    baseUrl: 'http://127.0.0.1:1',
    store: openArtifactFolder(join(folder, 'run')),
    folder,
    filesRoot: folder,
    clock: wallClock,
  });
  readers.push(reader);
  return { folder, reader };
}

/** Asks for the mask of a file with these bytes. */
async function maskOf(
  bytes: Buffer,
  more: Partial<MaskRequest> & Pick<MaskRequest, 'size'>,
): Promise<InputResult> {
  const { folder, reader } = place();
  mkdirSync(join(folder, 'masks'));
  writeFileSync(join(folder, 'masks/neck.png'), bytes);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const source = { kind: 'file', path: 'masks/neck.png', sha256 } as const;
  return await reader.mask({ source, invert: false, form: 'white', ...more }, always);
}

const drawn = (shapes: readonly MaskShape[], more: Partial<MaskRequest> = {}): Promise<InputResult> =>
  place().reader.mask(
    {
      source: { kind: 'shapes', shapes },
      invert: false,
      size: { width: 10, height: 8 },
      form: 'white',
      ...more,
    },
    always,
  );

const valueOf = (result: InputResult): LoadedImage => {
  if (!result.ok) throw new Error(`${result.error.code}: ${result.error.message}`);
  return result.value;
};
const errorOf = (result: InputResult) => {
  if (result.ok) throw new Error('It was made.');
  return result.error;
};

/** The samples of a mask file, channel by channel. */
async function samples(result: InputResult) {
  const bytes = Buffer.from(valueOf(result).data, 'base64');
  const { format, hasAlpha, channels } = await sharp(bytes).metadata();
  const raw = await sharp(bytes).raw().toBuffer();
  const of = (channel: number): readonly number[] => [...raw].filter((_, at) => at % channels === channel);
  return { format, hasAlpha, channels, of };
}

/** A PNG of one row from raw samples. */
const row = (
  values: readonly number[],
  channels: 1 | 2 | 3 | 4,
  png: { palette?: boolean } = {},
): Promise<Buffer> =>
  sharp(Buffer.from(values), { raw: { width: values.length / channels, height: 1, channels } })
    .toColourspace(channels < 3 ? 'b-w' : 'srgb')
    .png(png)
    .toBuffer();

describe('a mask file', () => {
  it('is sent as white and black without alpha, from any kind of PNG', async () => {
    const files: Readonly<Record<string, Buffer>> = {
      grey: await row([0, 255, 128, 255], 1),
      'grey with alpha': await row([255, 0, 255, 255, 255, 128, 255, 255], 2),
      colour: await row([0, 0, 0, 255, 255, 255, 128, 128, 128, 255, 255, 255], 3),
      'colour with alpha': await row(
        [255, 255, 255, 0, 255, 255, 255, 255, 255, 255, 255, 128, 255, 255, 255, 255],
        4,
      ),
      palette: await row([0, 0, 0, 255, 255, 255, 128, 128, 128, 255, 255, 255], 3, { palette: true }),
      '16 bits': await sharp(await row([0, 255, 128, 255], 1))
        .toColourspace('grey16')
        .png()
        .toBuffer(),
    };
    for (const [name, bytes] of Object.entries(files)) {
      const mask = await samples(await maskOf(bytes, { size: { width: 4, height: 1 } }));
      expect(mask, name).toMatchObject({ format: 'png', hasAlpha: false, channels: 3 });
      for (const channel of [0, 1, 2]) expect(mask.of(channel), name).toEqual([0, 255, 128, 255]);
    }
  });

  it('is inverted on request', async () => {
    const bytes = await row([0, 255, 100], 1);
    const mask = await samples(await maskOf(bytes, { size: { width: 3, height: 1 }, invert: true }));
    expect(mask.of(0)).toEqual([255, 0, 155]);
  });

  it('is transparent where the image is repainted, for edit, and its colours agree', async () => {
    const bytes = await row([0, 255, 100], 1);
    const mask = await samples(await maskOf(bytes, { size: { width: 3, height: 1 }, form: 'transparent' }));
    expect(mask).toMatchObject({ hasAlpha: true, channels: 4 });
    expect(mask.of(3)).toEqual([255, 0, 155]);
    expect(mask.of(0)).toEqual([0, 255, 100]);
  });

  it('must have the size of the image, and the failure names both sizes', async () => {
    const error = errorOf(await maskOf(await row([255, 255], 1), { size: { width: 1024, height: 512 } }));
    expect(error).toMatchObject({ code: 'mask.size', class: 'permanent' });
    expect(error.message).toContain('masks/neck.png');
    expect(error.message).toContain('2 × 1 ');
    expect(error.message).toContain('1024 × 512 ');
  });

  it('must be a complete PNG by its content', async () => {
    const size = { width: 40, height: 30 };
    const jpeg = await gallery['jpeg']?.(40, 30);
    const whole = await gallery['png']?.(40, 30);
    if (jpeg === undefined || whole === undefined) throw new Error('The gallery is empty.');
    for (const bytes of [
      jpeg,
      whole.subarray(0, -12),
      whole.fill(7, 60, 600),
      Buffer.from('hello'),
      Buffer.alloc(0),
    ])
      expect(errorOf(await maskOf(bytes, { size }))).toMatchObject({ code: 'mask.type', class: 'permanent' });
  });

  it('must leave something to repaint', async () => {
    const size = { width: 2, height: 1 };
    expect(errorOf(await maskOf(await row([0, 0], 1), { size }))).toMatchObject({ code: 'mask.empty' });
    expect(errorOf(await maskOf(await row([255, 255], 1), { size, invert: true }))).toMatchObject({
      code: 'mask.empty',
      class: 'permanent',
    });
  });

  it('must still have the content that the job was planned with, even after an equal mask was made', async () => {
    const { folder, reader } = place();
    const bytes = await row([0, 255], 1);
    writeFileSync(join(folder, 'a.png'), bytes);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const request: MaskRequest = {
      source: { kind: 'file', path: 'a.png', sha256 },
      invert: false,
      size: { width: 2, height: 1 },
      form: 'white',
    };
    const first = valueOf(await reader.mask(request, always));
    expect(valueOf(await reader.mask(request, always))).toBe(first);
    writeFileSync(join(folder, 'a.png'), await row([255, 0], 1));
    expect(errorOf(await reader.mask(request, always))).toMatchObject({
      code: 'input.changed',
      class: 'permanent',
    });
  });
});

describe('a drawn mask', () => {
  const art = async (result: InputResult, width: number): Promise<string[]> => {
    const text = (await samples(result))
      .of(0)
      .map((level) => (level === 255 ? '#' : level === 0 ? '.' : '?'));
    return Array.from({ length: text.length / width }, (_, y) =>
      text.slice(y * width, (y + 1) * width).join(''),
    );
  };

  it('has the size of the image, and crisp edges', async () => {
    const result = await drawn([{ rectangle: [0.1, 0.25, 0.3, 0.5] }, { ellipse: [0.5, 0, 0.5, 1] }]);
    expect(valueOf(result)).toMatchObject({ mimeType: 'image/png', width: 10, height: 8 });
    expect(await art(result, 10)).toEqual([
      '......###.',
      '......###.',
      '.###.#####',
      '.###.#####',
      '.###.#####',
      '.###.#####',
      '......###.',
      '......###.',
    ]);
  });

  it('is inverted, and made transparent', async () => {
    const mask = await samples(
      await drawn([{ rectangle: [0, 0, 0.5, 1] }], {
        size: { width: 2, height: 1 },
        invert: true,
        form: 'transparent',
      }),
    );
    expect(mask.of(3)).toEqual([255, 0]);
  });

  it('is made in each form and for each requested size, one after the other', async () => {
    const { reader } = place();
    const source = { kind: 'shapes', shapes: [{ rectangle: [0, 0, 0.5, 1] }] } as const;
    const first = { source, invert: false, size: { width: 4, height: 2 }, form: 'white' } as const;
    const shown = async (more: Partial<MaskRequest>) => {
      const mask = valueOf(await reader.mask({ ...first, ...more }, always));
      const { data, info } = await sharp(Buffer.from(mask.data, 'base64'))
        .raw()
        .toBuffer({ resolveWithObject: true });
      return { width: info.width, height: info.height, hasAlpha: info.channels === 4, corner: data[0] };
    };
    const white = { width: 4, height: 2, hasAlpha: false, corner: 255 };
    expect(await shown({})).toEqual(white);
    expect(await shown({ form: 'transparent' })).toEqual({ ...white, hasAlpha: true });
    expect(await shown({ invert: true })).toEqual({ ...white, corner: 0 });
    expect(await shown({ size: { width: 2, height: 4 } })).toEqual({ ...white, width: 2, height: 4 });
    expect(await shown({})).toEqual(white);
  });

  it('must leave something to repaint', async () => {
    expect(errorOf(await drawn([{ rectangle: [0.5, 0.5, 0.001, 0.001] }]))).toMatchObject({
      code: 'mask.empty',
      class: 'permanent',
    });
  });

  it('is refused for an image of an impossible size', async () => {
    const result = await drawn([{ rectangle: [0, 0, 1, 1] }], { size: { width: 1e6, height: 1e6 } });
    expect(errorOf(result)).toMatchObject({ code: 'mask.too-large', class: 'permanent' });
  });

  it('is not made for a run that is left', async () => {
    const left = AbortSignal.abort(new Error('left'));
    const request: MaskRequest = {
      source: { kind: 'shapes', shapes: [{ rectangle: [0, 0, 1, 1] }] },
      invert: false,
      size: { width: 10, height: 10 },
      form: 'white',
    };
    expect(errorOf(await place().reader.mask(request, left))).toMatchObject({ code: 'download.aborted' });
  });

  it('covers an image with boxes that share their edges, each pixel once', () => {
    const law = fc.property(
      fc.integer({ min: 1, max: 60 }),
      fc.integer({ min: 1, max: 60 }),
      fc.double({ min: 0.001, max: 0.999, noNaN: true }),
      (width, height, cut) => {
        const size = { width, height };
        const left = drawShapes([{ rectangle: [0, 0, cut, 1] }], size);
        const right = drawShapes([{ rectangle: [cut, 0, 1 - cut, 1] }], size);
        expect([...left].map((level, at) => level + (right[at] as number))).toEqual(
          Array.from({ length: width * height }, () => 255),
        );
      },
    );
    fc.assert(law, { seed: 5, numRuns: 200 });
  });

  it('draws an ellipse within its box, symmetrically', () => {
    const law = fc.property(
      fc.integer({ min: 1, max: 50 }),
      fc.integer({ min: 1, max: 50 }),
      (width, height) => {
        const levels = drawShapes([{ ellipse: [0, 0, 1, 1] }], { width, height });
        for (let y = 0; y < height; y += 1) {
          const row = [...levels.subarray(y * width, (y + 1) * width)];
          expect(row).toEqual(row.toReversed());
          expect(row).toEqual([...levels.subarray((height - 1 - y) * width, (height - y) * width)]);
        }
        const share = levels.filter((level) => level === 255).length / levels.length;
        const error = Math.abs(share - Math.PI / 4);
        expect(error).toBeLessThan(1 / Math.min(width, height));
      },
    );
    fc.assert(law, { seed: 5, numRuns: 200 });
  });
});
