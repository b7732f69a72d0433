import { sharp } from '../../artifacts/formats/image-library.ts';
import { colourOf, meanOf, type Rgb } from '../draw/canvas/colour.ts';
import type { Photo, Tint } from '../draw/canvas/drawing.ts';
import { readSignature } from '../draw/picture.ts';
import { maxPixels } from '../draw/plate.ts';
import { type Sight, seeImage } from '../text/sight.ts';
import type { ImageShelf } from './shelf.ts';

/** An image of a request that was decoded and stored. */
export interface SentImage {
  readonly photo: Photo;
  readonly bytes: Buffer;
  /** The words that the sandbox drew the image from, or a description of any other image. */
  readonly words: string;
  /** Whether the sandbox drew the image. */
  readonly own: boolean;
}

/** A usable image, or the description of the code 4 that refuses it. */
export type ReadImage =
  | { readonly ok: true; readonly value: SentImage }
  | { readonly ok: false; readonly error: string };

/** Returns the picture behind a link without a request to another machine, or undefined for a link of the sandbox without a picture. */
export type LinkReader = (link: string) => Promise<Buffer | undefined>;

/** Reads an image of a request: a data URI or, with `links`, an http(s) address. `where`: its field, for the error. */
export async function readImage(
  text: string,
  where: string,
  shelf: ImageShelf,
  links?: LinkReader,
): Promise<ReadImage> {
  const no = (error: string): ReadImage => ({ ok: false, error: `${where}: ${error}` });
  const isLink = /^https?:\/\//i.test(text);
  if (isLink && links === undefined)
    return no('expected a data URI such as data:image/png;base64,…, got an address');
  const bytes = isLink ? await links?.(text) : bytesOfDataUri(text);
  if (bytes === undefined) {
    return no(
      isLink
        ? '[Invalid link] there is no image at this address'
        : `expected ${links === undefined ? '' : 'an http(s) address or '}a data URI such as data:image/png;base64,…`,
    );
  }
  const sight = await seeImage(bytes);
  if (sight === undefined) return no('these bytes cannot be decoded as an image');
  if (sight.width < 2 || sight.height < 2) return no(`${sight.width} × ${sight.height} pixels are too few`);
  const aspect = sight.width / sight.height;
  if (aspect > widest || aspect < 1 / widest)
    return no(`an image may be at most ${widest} times as long as wide`);
  const { exif } = await sharp(bytes, { limitInputPixels: maxPixels }).metadata();
  const signature = readSignature(exif);
  return {
    ok: true,
    value: {
      photo: { sha256: shelf.keep(bytes), width: sight.width, height: sight.height },
      bytes,
      words: signature?.text ?? wordsOf(sight),
      own: signature !== undefined,
    },
  };
}

const widest = 10;

function wordsOf({ light, colours }: Sight): string {
  const named =
    colours.length > 1 ? `${colours.slice(0, -1).join(', ')} and ${colours.at(-1)}` : (colours[0] ?? 'grey');
  return `a ${light} picture in ${named}`;
}

/** Returns the bytes of a base64 data URI, or undefined for any other text. */
export function bytesOfDataUri(text: string, mime = /^image\/[\w.+-]+$/): Buffer | undefined {
  const comma = text.indexOf(',');
  const [, type] = /^data:([^;,]*);base64$/i.exec(text.slice(0, Math.min(comma, 100))) ?? [];
  if (comma < 0 || type === undefined || !mime.test(type.toLowerCase())) return undefined;
  const data = text.slice(comma + 1);
  if (data === '' || !/^[A-Za-z0-9+/_-]*={0,2}$/.test(data)) return undefined;
  return Buffer.from(data, 'base64');
}

const side = 24;

/** Mixes the prevailing colours of images. */
export async function tintOf(images: readonly Buffer[]): Promise<Tint> {
  const tints: Record<keyof Tint, Rgb[]> = { sky: [], land: [], accent: [] };
  for (const image of images) {
    const pixels = await sharp(image)
      .rotate()
      .flatten({ background: '#ffffff' })
      .toColourspace('srgb')
      .resize(side, side, { fit: 'fill' })
      .removeAlpha()
      .raw()
      .toBuffer();
    const colours = Array.from(
      { length: side * side },
      (_, at): Rgb => [pixels[3 * at] ?? 0, pixels[3 * at + 1] ?? 0, pixels[3 * at + 2] ?? 0],
    );
    tints.sky.push(meanOf(colours.slice(0, (side * side) / 3)));
    tints.land.push(meanOf(colours.slice((2 * side * side) / 3)));
    tints.accent.push(liveliest(colours));
  }
  const { sky, land, accent } = tints;
  return { sky: colourOf(meanOf(sky)), land: colourOf(meanOf(land)), accent: colourOf(meanOf(accent)) };
}

const spread = (colour: Rgb): number => Math.max(...colour) - Math.min(...colour);

/** The colour that is farthest from grey. */
function liveliest(colours: readonly Rgb[]): Rgb {
  return colours.reduce((best, colour) => (spread(colour) > spread(best) ? colour : best));
}
