import { inMemory } from '../../artifacts/formats/format.ts';
import { sharp } from '../../artifacts/formats/image-library.ts';
import { imageFormats } from '../../artifacts/media.ts';

/** Largest width and height of a thumbnail, in pixels. */
export const thumbnailSize = 256;

/** Largest file, in bytes, from which a thumbnail is made. */
export const maxBytes = 64 * 1024 * 1024;

/** Largest number of pixels of an image that is decoded: twice the largest upscale, some hundred megabytes of memory. */
export const maxPixels = 100_000_000;

/** Reason why an image has no thumbnail. */
export type WithoutThumbnail =
  /** The file is missing or cannot be read. */
  | 'missing'
  /** The file differs from the downloaded one. */
  | 'changed'
  /** The file is not a complete image of a known format. */
  | 'broken'
  | 'too-large'
  /** The image library is not installed. */
  | 'no-library';

/**
 * Scales an image down to a WebP thumbnail; of an animation it takes the first frame. The header is read first, so that a small file
 * with too many pixels is not decoded.
 */
export async function drawSmall(image: Buffer): Promise<Buffer | WithoutThumbnail> {
  const format = imageFormats.find((each) => each.matches(image.subarray(0, 64)));
  const size = await format?.measure(inMemory(image));
  if (size === undefined) return 'broken';
  if (size.width * size.height > maxPixels) return 'too-large';
  try {
    return await sharp(image, { limitInputPixels: maxPixels, sequentialRead: true })
      .autoOrient()
      .resize(thumbnailSize, thumbnailSize, { fit: 'inside', withoutEnlargement: true })
      .webp({ quality: 75, effort: 2 })
      .toBuffer();
  } catch {
    return 'broken';
  }
}
