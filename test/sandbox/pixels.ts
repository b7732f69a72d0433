import sharp from 'sharp';
import { expect } from 'vitest';

/** An image as RGB. */
export interface Raster {
  readonly width: number;
  readonly height: number;
  readonly data: Buffer;
}

export async function raster(image: Buffer): Promise<Raster> {
  const { data, info } = await sharp(image).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, data };
}

/** A data URI of these bytes. */
export const dataUri = (bytes: Buffer, mime = 'image/png'): string =>
  `data:${mime};base64,${bytes.toString('base64')}`;

/** A PNG of one colour. */
export const plain = (background: string, width = 64, height = 64): Promise<Buffer> =>
  sharp({ create: { width, height, channels: 3, background } })
    .png()
    .toBuffer();

/** A mask: `svg` shapes in white on black, or, for edits, cut out of what is opaque. */
export async function maskOf(svg: string, manner: 'white' | 'cut', width = 64, height = 64): Promise<Buffer> {
  const shapes = Buffer.from(`<svg width="${width}" height="${height}" fill="#fff">${svg}</svg>`);
  return sharp({ create: { width, height, channels: 4, background: '#000' } })
    .composite([{ input: shapes, blend: manner === 'cut' ? 'dest-out' : 'over' }])
    .png()
    .toBuffer();
}

/** How many pixels of the two differ where a mask is painted, and where it is not; and how many there are. */
export async function differences(before: Buffer, after: Buffer, mask: Buffer, manner: 'white' | 'cut') {
  const [one, other] = [await raster(before), await raster(after)];
  expect([one.width, one.height]).toEqual([other.width, other.height]);
  const rgba = await sharp(mask).ensureAlpha().raw().toBuffer();
  const count = { inside: 0, outside: 0, changedInside: 0, changedOutside: 0 };
  for (let at = 0; at < one.width * one.height; at += 1) {
    const inside = manner === 'cut' ? (rgba[4 * at + 3] ?? 0) < 128 : (rgba[4 * at] ?? 0) > 127;
    const changed = [0, 1, 2].some((channel) => one.data[3 * at + channel] !== other.data[3 * at + channel]);
    count[inside ? 'inside' : 'outside'] += 1;
    if (changed) count[inside ? 'changedInside' : 'changedOutside'] += 1;
  }
  return count;
}

/** Mean colour. */
export async function meanOf(image: Buffer): Promise<readonly number[]> {
  const { channels } = await sharp(image).removeAlpha().stats();
  return channels.map(({ mean }) => mean);
}
