import { sharp } from '../../artifacts/formats/image-library.ts';
import { colourOf, type Rgb } from '../draw/canvas/colour.ts';
import type { Photo, Tint } from '../draw/canvas/drawing.ts';
import { readSignature } from '../draw/picture.ts';
import { mostPixels } from '../draw/plate.ts';
import { type Sight, seeImage } from '../text/sight.ts';
import type { ImageShelf } from './shelf.ts';

/** An image of a request, read, decoded and kept. */
export interface SentImage {
  readonly photo: Photo;
  readonly bytes: Buffer;
  /** The words it was drawn from, where the sandbox has drawn it; else what is seen of it. */
  readonly words: string;
  /** Whether the sandbox has drawn it. */
  readonly own: boolean;
}

/** An image that can be used, or the words of the code 4 that refuses it. */
export type ReadImage =
  | { readonly ok: true; readonly value: SentImage }
  | { readonly ok: false; readonly error: string };

/** Gives the picture that a link stands for; undefined where there is none. The sandbox never leaves this machine for it. */
export type LinkReader = (link: string) => Promise<Buffer | undefined>;

/** Reads an image that a request names as `where`: a data URI, or, with `links`, an http(s) address. */
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
  if (sight === undefined) return no('these bytes are no image that can be decoded');
  if (sight.width < 2 || sight.height < 2) return no(`${sight.width} × ${sight.height} pixels are too few`);
  const aspect = sight.width / sight.height;
  if (aspect > widest || aspect < 1 / widest)
    return no(`an image may be at most ${widest} times as long as wide`);
  const { exif } = await sharp(bytes, { limitInputPixels: mostPixels }).metadata();
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

/** The bytes of a base64 data URI; undefined where it is none. */
export function bytesOfDataUri(text: string, mime = /^image\/[\w.+-]+$/): Buffer | undefined {
  const comma = text.indexOf(',');
  const [, type] = /^data:([^;,]*);base64$/i.exec(text.slice(0, Math.min(comma, 100))) ?? [];
  if (comma < 0 || type === undefined || !mime.test(type.toLowerCase())) return undefined;
  const data = text.slice(comma + 1);
  if (data === '' || !/^[A-Za-z0-9+/_-]*={0,2}$/.test(data)) return undefined;
  return Buffer.from(data, 'base64');
}

const side = 24;

/** The prevailing colours of images, evenly mixed. */
export async function tintOf(images: readonly Buffer[]): Promise<Tint> {
  const sum = { sky: [0, 0, 0], land: [0, 0, 0], accent: [0, 0, 0] };
  for (const image of images) {
    const pixels = await sharp(image)
      .rotate()
      .flatten({ background: '#ffffff' })
      .toColourspace('srgb')
      .resize(side, side, { fit: 'fill' })
      .removeAlpha()
      .raw()
      .toBuffer();
    const rows = (from: number, to: number): Rgb => meanOf(pixels.subarray(from * side * 3, to * side * 3));
    add(sum.sky, rows(0, side / 3));
    add(sum.land, rows((2 * side) / 3, side));
    add(sum.accent, liveliest(pixels));
  }
  const mean = ([red = 0, green = 0, blue = 0]: readonly number[]): string =>
    colourOf([red / images.length, green / images.length, blue / images.length]);
  return { sky: mean(sum.sky), land: mean(sum.land), accent: mean(sum.accent) };
}

function add(sum: number[], colour: Rgb): void {
  for (const channel of [0, 1, 2] as const) sum[channel] = (sum[channel] ?? 0) + colour[channel];
}

function meanOf(pixels: Buffer): Rgb {
  const sum = [0, 0, 0];
  for (const [at, value] of pixels.entries()) sum[at % 3] = (sum[at % 3] ?? 0) + value;
  const count = Math.max(1, pixels.length / 3);
  return [(sum[0] ?? 0) / count, (sum[1] ?? 0) / count, (sum[2] ?? 0) / count];
}

/** The pixel whose colour is farthest from grey. */
function liveliest(pixels: Buffer): Rgb {
  let best: Rgb = [0, 0, 0];
  let most = -1;
  for (let at = 0; at + 2 < pixels.length; at += 3) {
    const colour: Rgb = [pixels[at] ?? 0, pixels[at + 1] ?? 0, pixels[at + 2] ?? 0];
    const spread = Math.max(...colour) - Math.min(...colour);
    if (spread > most) [best, most] = [colour, spread];
  }
  return best;
}
