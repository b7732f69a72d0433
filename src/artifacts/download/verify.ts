import { shownWords } from '../failure.ts';
import type { ImageFormat } from '../formats/format.ts';
import { formatOf, imageFormats, images, type Media, videos } from '../media.ts';
import type { SaveFailure } from '../writer.ts';

/** Bytes of a body that are needed to recognise its format. */
export const headLength = 64;

/** Bytes of a body without an image that are read for its words. */
export const wordsLength = 4096;

/** Extensions of image files, without the dot. */
export const imageExtensions: readonly string[] = imageFormats.map((format) => format.extension);

/** Recognises the format of a file by its first bytes. Headers and names are ignored: they are often wrong. */
export function imageFormat(head: Buffer): ImageFormat | undefined {
  return imageFormats.find((format) => format.matches(head));
}

/** Still images of the HEIF family, which models accept and the service does not return (ISO/IEC 23008-12). */
const heif: Readonly<Record<string, string>> = {
  heic: 'image/heic',
  heix: 'image/heic',
  hevc: 'image/heic',
  mif1: 'image/heif',
  msf1: 'image/heif',
};

/** Returns the type of an image that is shown to a model, by its first bytes. */
export function inputType(head: Buffer): string | undefined {
  const known = imageFormat(head)?.mime;
  if (known !== undefined || head.toString('latin1', 4, 8) !== 'ftyp') return known;
  return heif[head.toString('latin1', 8, 12)];
}

/**
 * Returns the failure for a body that is not an image or a video, and whether another try may help.
 *
 * @param mask removes secrets from words before they are cut: half a secret would not be found
 */
export function notWanted(
  start: Buffer,
  link: string,
  media: Media = images,
  mask: (text: string) => string = (text) => text,
): SaveFailure {
  const text = mask(start.toString('utf8'))
    .replace(/^\uFEFF/, '')
    .trimStart();
  const failure = (found: string, kind: SaveFailure['class']): SaveFailure => ({
    code: media.otherwise,
    class: kind,
    message: `${link} gave ${found} instead of ${media.name === 'image' ? 'an image' : 'a video'}.`,
  });

  const other = formatOf(media === images ? videos : images, start);
  if (other !== undefined) return failure(`a file of type ${other.mime}`, 'permanent');
  // Image routes answer some of their errors with 200, an expired link among them (gateway 4.7): a fresh link may help.
  if (/^[{[]/.test(text)) return failure(`a JSON message (${shownWords(wordsOfJson(text))})`, 'fresh-link');
  if (/^<\?xml|^<svg|^<!doctype svg/i.test(text) && /<svg[\s>]/i.test(text)) {
    return failure('an SVG drawing, which may hold scripts,', 'permanent');
  }
  // A page about an expired link, or one that asks for a proof: a fresh link may help.
  if (/^<(!doctype html|html|head|body|!--)/i.test(text)) return failure('a web page', 'fresh-link');
  if (isPlainText(text)) {
    return failure(`a text (${shownWords(text)})`, 'retry');
  }
  return failure('a file of another kind', 'permanent');
}

/**
 * Returns the words of an error response from its whole body: those of its JSON, or its plain text. A page has no single line of text.
 *
 * @param mask removes secrets from words before they are cut
 */
export function wordsOfBody(body: Buffer, mask: (text: string) => string): string | undefined {
  const text = body
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .trim();
  const isJson = /^[{[]/.test(text);
  if (!isJson && !isPlainText(text)) return undefined;
  const words = shownWords(mask(isJson ? wordsOfJson(text) : text));
  // A gateway passes on the answer of a server behind it as `{"error":"<body>"}` (gateway 4.7), which may be a page.
  return words.startsWith('<') || !/[\p{L}\p{N}]/u.test(words) ? undefined : words;
}

const isPlainText = (text: string): boolean =>
  /^[\p{L}\p{N}\p{P}\p{S}\p{Zs}\s]+$/u.test(text) && !text.includes('\uFFFD');

/** Returns the words in a JSON error of any shape, or the beginning of the text if there are none. */
function wordsOfJson(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    return wordsIn(value) ?? text;
  } catch {
    // Cut off, or not quite JSON: shown unchanged.
    return text;
  }
}

function wordsIn(value: unknown): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const name of ['error', 'message', 'msg', 'description', 'detail']) {
    const words = name in value ? wordsIn((value as Record<string, unknown>)[name]) : undefined;
    if (words !== undefined) return words;
  }
  return undefined;
}
