import { inMemory } from '../../artifacts/formats/format.ts';
import { sharp } from '../../artifacts/formats/image-library.ts';
import { imageFormats } from '../../artifacts/media.ts';

/** Width and height of a thumbnail, at most. */
export const thumbnailSize = 256;

/** Bytes of a file that a thumbnail is made of, at most. */
export const mostBytes = 64 * 1024 * 1024;

/** Width times height of such an image: twice what the largest upscale has; some hundred megabytes while it is decoded. */
export const mostPixels = 100_000_000;

/** Why an image has no thumbnail. */
export type WithoutThumbnail =
  /** Its file is gone, or may not be read. */
  | 'missing'
  /** Its file is not what was downloaded. */
  | 'changed'
  /** It is no whole image of a format that we know. */
  | 'broken'
  | 'too-large'
  /** What decodes images is not installed. */
  | 'no-library';

/**
 * Draws an image small, as WebP. Its header is read first, so that an image of a few bytes and many pixels is not decoded; of one that
 * moves it is the first picture.
 */
export async function drawSmall(image: Buffer): Promise<Buffer | WithoutThumbnail> {
  const format = imageFormats.find((each) => each.matches(image.subarray(0, 64)));
  const size = await format?.measure(inMemory(image));
  if (size === undefined) return 'broken';
  if (size.width * size.height > mostPixels) return 'too-large';
  try {
    return await sharp(image, { limitInputPixels: mostPixels, sequentialRead: true })
      .autoOrient()
      .resize(thumbnailSize, thumbnailSize, { fit: 'inside', withoutEnlargement: true })
      .webp({ quality: 75, effort: 2 })
      .toBuffer();
  } catch {
    // The header is right, and what follows is not.
    return 'broken';
  }
}
