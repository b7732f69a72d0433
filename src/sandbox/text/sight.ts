import { imageLibrary, sharp } from '../../artifacts/formats/image-library.ts';
import { themeOf } from '../draw/canvas/theme.ts';
import { readSignature } from '../draw/picture.ts';
import { maxPixels } from '../draw/plate.ts';

/** The description of an image. */
export interface Sight {
  /** Width and height of the upright image, in pixels. */
  readonly width: number;
  readonly height: number;
  /** At most three colours, the most common first. */
  readonly colours: readonly string[];
  readonly light: 'dark' | 'dim' | 'bright' | 'pale';
  /** The subject of a picture of the sandbox, as a part of a sentence (`a fox in the snow`); empty for any other image. */
  readonly subject: string;
}

const side = 32;

const named: readonly (readonly [string, number, number, number])[] = [
  ['black', 16, 16, 18],
  ['grey', 128, 128, 128],
  ['white', 245, 245, 242],
  ['red', 205, 40, 40],
  ['dark red', 110, 20, 25],
  ['orange', 232, 126, 36],
  ['brown', 112, 72, 42],
  ['beige', 220, 200, 165],
  ['yellow', 240, 210, 60],
  ['olive', 120, 120, 50],
  ['green', 60, 150, 70],
  ['dark green', 25, 70, 40],
  ['teal', 40, 130, 130],
  ['sky blue', 140, 195, 230],
  ['blue', 50, 90, 190],
  ['navy', 22, 32, 70],
  ['purple', 115, 65, 150],
  ['lavender', 190, 175, 220],
  ['pink', 235, 150, 180],
  ['slate', 75, 88, 105],
];

/** Describes an image, or returns undefined for bytes that cannot be decoded. */
export async function seeImage(bytes: Buffer): Promise<Sight | undefined> {
  imageLibrary();
  try {
    const picture = sharp(bytes, { limitInputPixels: maxPixels, failOn: 'error' }).rotate();
    const { data, info } = await picture
      .clone()
      .flatten({ background: '#ffffff' })
      .toColourspace('srgb')
      .resize(side, side, { fit: 'fill' })
      .raw()
      .toBuffer({ resolveWithObject: true });
    const { width, height, autoOrient, exif } = await picture.metadata();
    return {
      subject: subjectPhrase(readSignature(exif)?.text ?? ''),
      width: autoOrient?.width ?? width,
      height: autoOrient?.height ?? height,
      ...paletteOf(data, info.channels),
    };
  } catch {
    // The service does not pass on messages of the decoder.
    return undefined;
  }
}

function paletteOf(pixels: Buffer, channels: number): Pick<Sight, 'colours' | 'light'> {
  const counts = new Map<string, number>();
  let sum = 0;
  const total = pixels.length / channels;
  for (let at = 0; at + channels <= pixels.length; at += channels) {
    const red = pixels[at] ?? 0;
    const green = pixels[at + (channels > 2 ? 1 : 0)] ?? 0;
    const blue = pixels[at + (channels > 2 ? 2 : 0)] ?? 0;
    const name = nearest(red, green, blue);
    counts.set(name, (counts.get(name) ?? 0) + 1);
    sum += 0.3 * red + 0.59 * green + 0.11 * blue;
  }
  const colours = [...counts]
    .sort(([, one], [, other]) => other - one)
    .filter(([, count], index) => index === 0 || count > total / 12)
    .slice(0, 3)
    .map(([name]) => name);
  const mean = sum / total;
  return { colours, light: mean < 50 ? 'dark' : mean < 110 ? 'dim' : mean < 190 ? 'bright' : 'pale' };
}

function nearest(red: number, green: number, blue: number): string {
  let best = 'grey';
  let least = Number.POSITIVE_INFINITY;
  for (const [name, r, g, b] of named) {
    const distance = 2 * (red - r) ** 2 + 4 * (green - g) ** 2 + 3 * (blue - b) ** 2;
    if (distance < least) [least, best] = [distance, name];
  }
  return best;
}

/** Returns the first clause of a prompt without marks, with an article before a single animal or thing. */
function subjectPhrase(prompt: string): string {
  const [clause = ''] = prompt
    .replaceAll(/\[[^[\]]*\]/g, ' ')
    .trim()
    .split(/[,.;:|\n]/, 1);
  let phrase = '';
  for (const word of clause.split(/\s+/)) {
    if (phrase.length + word.length >= longestSubject) break;
    phrase = phrase === '' ? word : `${phrase} ${word}`;
  }
  const [first = ''] = phrase.split(' ', 1);
  const { animal, thing } = themeOf(first);
  if ((animal ?? thing) === undefined || /s$/i.test(first)) return phrase;
  return `${/^[aeiou]/i.test(first) ? 'an' : 'a'} ${phrase}`;
}

const longestSubject = 80;
