import { fail } from '../failure.ts';
import { inMemory, type Size } from '../formats/format.ts';
import { imageLibrary, sharp } from '../formats/image-library.ts';
import { png } from '../formats/png.ts';
import { largestMask, type MaskRequest, maxMaskPixels } from '../inputs.ts';
import type { Levels } from './shapes.ts';

/**
 * Reads a mask file from any kind of PNG: white is 255, colours count by their lightness, and a transparent pixel is 0, because nothing
 * is painted there. Soft edges stay soft.
 *
 * @throws SaveError
 */
export async function readMaskFile(bytes: Buffer, path: string, size: Size): Promise<Levels> {
  // The header is enough to reject a file before any part is unpacked.
  const found = png.matches(bytes) ? await png.measure(inMemory(bytes)) : undefined;
  if (found === undefined) {
    return fail({
      code: 'mask.type',
      class: 'permanent',
      message: `${path} is not a complete PNG file, and a mask must be one.`,
    });
  }
  if (found.width !== size.width || found.height !== size.height) {
    return fail({
      code: 'mask.size',
      class: 'permanent',
      message:
        `The mask ${path} is ${shownSize(found)}, and the image it is for is ${shownSize(size)}: ` +
        'they must have the same size. Shapes are drawn in the size of the image.',
    });
  }
  imageLibrary();
  try {
    return await sharp(bytes, { limitInputPixels: maxMaskPixels, failOn: 'error', ignoreIcc: true })
      .flatten({ background: '#000' })
      .greyscale()
      .toColourspace('b-w')
      .raw({ depth: 'uchar' })
      .toBuffer();
  } catch (cause) {
    return fail({
      code: 'mask.type',
      class: 'permanent',
      message: `The mask ${path} is a damaged PNG file (${(cause as Error).message.split('\n')[0]}).`,
      cause,
    });
  }
}

/**
 * Writes a mask as a PNG file in the form of its endpoint (gateway 2.7). Both forms are white where the image is repainted and black
 * where it is kept, so that a service that reads colours instead of transparency gets the same mask.
 *
 * @throws SaveError
 */
export async function writeMask(
  levels: Levels,
  size: Size,
  form: MaskRequest['form'],
  maxBytes = largestMask,
): Promise<Buffer> {
  const raw = { width: size.width, height: size.height, channels: 1 } as const;
  const grey = sharp(levels, { raw, limitInputPixels: maxMaskPixels }).toColourspace('srgb');
  const image = form === 'white' ? grey : grey.joinChannel([levels, levels, inverted(levels)], { raw });
  const file = await image.png({ compressionLevel: 9 }).toBuffer();
  if (file.length <= maxBytes) return file;
  return fail({
    code: 'mask.too-large',
    class: 'permanent',
    message:
      `The mask has so much detail that its file would be ${file.length} bytes, and ${maxBytes} is the most that ` +
      'services take. Make its edges simpler.',
  });
}

export const inverted = (levels: Levels): Levels => {
  const result = Buffer.alloc(levels.length);
  for (let at = 0; at < levels.length; at += 1) result[at] = 255 - (levels[at] as number);
  return result;
};

export const shownSize = ({ width, height }: Size): string => `${width} × ${height} pixels`;
