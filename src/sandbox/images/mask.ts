import { sharp } from '../../artifacts/formats/image-library.ts';
import type { Region } from '../draw/lineage.ts';
import { mostPixels } from '../draw/plate.ts';
import { bytesOfDataUri } from './data-uri.ts';
import { maskParts } from './parts.ts';
import type { ImageShelf } from './shelf.ts';

/** A mask, kept (white where it is painted again), or why it is none. */
export type ReadMask =
  | { readonly ok: true; readonly value: Region }
  | { readonly ok: false; readonly error: string };

/** The part of a mask that is painted again: a modal's white and opaque, an edit's transparent (gateway 2.7). */
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
    // For any message of the decoder: to the service it is no mask.
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
export async function ownMask(bytes: Buffer, shelf: ImageShelf): Promise<Region | undefined> {
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
    if (isPainted) white[at] = 255;
  }
  const [bounds, ...others] = maskParts(white, width, height);
  if (bounds === undefined) {
    return no(
      manner === 'white'
        ? 'nothing of it is white: white is painted again, black and transparent stay'
        : 'nothing of it is transparent: what is transparent is painted again',
    );
  }
  const png = await sharp(white, { raw: { width, height, channels: 1 } })
    .png()
    .toBuffer();
  const region = { sha256: shelf.keep(png), bounds };
  return { ok: true, value: others.length === 0 ? region : { ...region, others } };
}
