import { avif } from './formats/avif.ts';
import { brandsOf } from './formats/box.ts';
import type { ImageFormat, VideoFormat } from './formats/format.ts';
import { gif } from './formats/gif.ts';
import { jpeg } from './formats/jpeg.ts';
import { mov, mp4 } from './formats/mp4.ts';
import { png } from './formats/png.ts';
import { webm } from './formats/webm.ts';
import { webp } from './formats/webp.ts';
import { imagePath, videoPath } from './store/names.ts';
import type { SaveFailure } from './writer.ts';

/** The kind of file that a link should lead to, and its place. */
export interface Media {
  readonly name: 'image' | 'video';
  readonly formats: readonly VideoFormat[];
  /** Returns the final name of an output, without extension. */
  readonly path: (key: string, output: number) => string;
  /** Error code for any other kind of content. */
  readonly otherwise: SaveFailure['code'];
}

/** Largest size of a file by its kind, in bytes. */
export const maxFileBytes = { image: 256 * 1024 * 1024, video: 512 * 1024 * 1024 } as const;

export const imageFormats: readonly ImageFormat[] = [png, jpeg, webp, gif, avif];

export const images: Media = {
  name: 'image',
  formats: imageFormats,
  path: imagePath,
  otherwise: 'download.not-image',
};

/** Videos, and the image formats that can move. A GIF may hold a single picture: its head does not show that. */
export const videos: Media = {
  name: 'video',
  formats: [
    mp4,
    mov,
    webm,
    // The bit for animation in the flags of an extended file (RFC 9649, section 2.7).
    { ...webp, matches: (head) => webp.matches(head) && isExtended(head) && ((head[20] ?? 0) & 0x02) !== 0 },
    gif,
    { ...avif, matches: (head) => avif.matches(head) && brandsOf(head).includes('avis') },
  ],
  path: videoPath,
  otherwise: 'download.not-video',
};

const isExtended = (head: Buffer): boolean => head.toString('latin1', 12, 16) === 'VP8X';

/** Recognises the format of a file by its first bytes. Headers and names are ignored: they are often wrong. */
export const formatOf = ({ formats }: Media, head: Buffer): VideoFormat | undefined =>
  formats.find((format) => format.matches(head));

/** Lists the names that an output could have in other formats than the one with this extension. */
export const otherNames = (
  { formats, path }: Media,
  key: string,
  output: number,
  extension: string,
): readonly string[] =>
  formats
    .filter((other) => other.extension !== extension)
    .map((other) => `${path(key, output)}.${other.extension}`);
