import { sharp } from '../../artifacts/formats/image-library.ts';
import type { Photo } from '../draw/canvas/drawing.ts';
import { readSignature } from '../draw/picture.ts';
import { mostPixels } from '../draw/plate.ts';
import { type Sight, seeImage } from '../text/see/sight.ts';
import { bytesOfDataUri } from './data-uri.ts';
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
