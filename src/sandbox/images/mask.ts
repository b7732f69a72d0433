import sharp from 'sharp';
import type { Bounds } from '../draw/drawing.ts';
import { mostPixels } from '../draw/plate.ts';
import { bytesOfDataUri } from './data-uri.ts';
import type { ImageShelf } from './shelf.ts';

/** A mask, kept: white where it is painted anew. */
export interface SentMask {
  readonly sha256: string;
  /** What the white is within. */
  readonly bounds: Bounds;
}

export type ReadMask =
  | { readonly ok: true; readonly value: SentMask }
  | { readonly ok: false; readonly error: string };

/** What of a mask is painted anew: a modal's white and opaque, an edit's transparent (protocol.md 3). */
export type MaskManner = 'white' | 'transparent';

const no = (error: string): ReadMask => ({ ok: false, error: `maskBase64: ${error}` });

/** Reads a mask for an image of this size. */
export async function readMask(
  dataUri: string,
  manner: MaskManner,
  size: { readonly width: number; readonly height: number },
  shelf: ImageShelf,
): Promise<ReadMask> {
  const bytes = bytesOfDataUri(dataUri, /^image\/png$/);
  if (bytes === undefined) return no('expected a PNG as a data URI, data:image/png;base64,…');
  let image: Awaited<ReturnType<typeof decoded>>;
  try {
    image = await decoded(bytes);
  } catch {
    // Whatever the decoder says of it: to the service it is no mask.
    return no('these bytes are no PNG');
  }
  if (image.format !== 'png') return no(`expected a PNG, got ${image.format}`);
  const { width, height } = image;
  if (width !== size.width || height !== size.height) {
    return no(
      `it is ${width} × ${height} pixels, and the image ${size.width} × ${size.height}: they must have the same size`,
    );
  }
  return await keptMask(image, manner, shelf);
}

/** The mask that an image is by its own transparent parts; undefined where it has none. */
export async function ownMask(bytes: Buffer, shelf: ImageShelf): Promise<SentMask | undefined> {
  const mask = await keptMask(await decoded(bytes), 'transparent', shelf);
  return mask.ok ? mask.value : undefined;
}

interface Raster {
  readonly format: string;
  readonly width: number;
  readonly height: number;
  /** RGBA. */
  readonly data: Buffer;
}

async function decoded(bytes: Buffer): Promise<Raster> {
  const image = sharp(bytes, { limitInputPixels: mostPixels, failOn: 'error' });
  const { format } = await image.metadata();
  const { data, info } = await image
    .rotate()
    .toColourspace('srgb')
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { format, width: info.width, height: info.height, data };
}

async function keptMask(
  { width, height, data }: Raster,
  manner: MaskManner,
  shelf: ImageShelf,
): Promise<ReadMask> {
  const white = Buffer.alloc(width * height);
  let [left, top, right, bottom] = [width, height, -1, -1];
  for (let at = 0; at < white.length; at += 1) {
    const [red, green, blue, alpha] = [
      data[4 * at] ?? 0,
      data[4 * at + 1] ?? 0,
      data[4 * at + 2] ?? 0,
      data[4 * at + 3] ?? 0,
    ];
    const isPainted =
      manner === 'transparent'
        ? alpha < 128
        : (0.299 * red + 0.587 * green + 0.114 * blue) * (alpha / 255) >= 127.5;
    if (!isPainted) continue;
    white[at] = 255;
    const x = at % width;
    const y = (at - x) / width;
    left = Math.min(left, x);
    right = Math.max(right, x);
    top = Math.min(top, y);
    bottom = Math.max(bottom, y);
  }
  if (right < 0) {
    return no(
      manner === 'white'
        ? 'nothing of it is white: white is painted anew, black and transparent stay'
        : 'nothing of it is transparent: what is transparent is painted anew',
    );
  }
  const png = await sharp(white, { raw: { width, height, channels: 1 } })
    .png()
    .toBuffer();
  const bounds = {
    x: left / width,
    y: top / height,
    width: (right + 1 - left) / width,
    height: (bottom + 1 - top) / height,
  };
  return { ok: true, value: { sha256: shelf.keep(png), bounds } };
}
