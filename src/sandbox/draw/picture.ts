import type { Sharp } from 'sharp';
import { sharp } from '../../artifacts/formats/image-library.ts';
import type { Drawing, Frame } from './canvas/drawing.ts';
import { paintFrame } from './panel.ts';
import type { ImageOf } from './plate.ts';

interface Pixels {
  readonly width: number;
  readonly height: number;
}

/** Largest side of an image that keeps its own size, in pixels. */
const largestOwn = 4096;

/**
 * Returns the size of a drawing. `pixels` is the side of a square one; other shapes have the same area, and an enlarged image has two or
 * four times the sides. A sent image that is painted again in parts keeps its own size.
 */
export function sizeOf(drawing: Drawing, pixels: number): Pixels {
  const frame = drawing.frames[0];
  const photo = frame === undefined ? undefined : ownSize(frame);
  if (photo !== undefined && drawing.size === 'whole') return { width: photo.width, height: photo.height };
  if (photo !== undefined && drawing.size === 'grid' && drawing.frames.length === 4) {
    return { width: even(photo.width), height: even(photo.height) };
  }
  const aspect = frame?.aspect ?? 1;
  const times = enlargedTimes[drawing.size];
  // The sides are rounded before they are multiplied, so that an enlarged image has an exact multiple of them.
  const width = even(pixels * Math.sqrt(aspect)) * times;
  const height = even(pixels / Math.sqrt(aspect)) * times;
  // Two frames stand side by side.
  return drawing.size === 'grid' && drawing.frames.length === 2
    ? { width, height: even(height / 2) }
    : { width, height };
}

const enlargedTimes: Readonly<Record<Drawing['size'], number>> = { grid: 1, whole: 1, large: 2, largest: 4 };

/** Rounds to an even length, so that a grid has four equal panels. */
const even = (length: number): number => Math.max(2, Math.round(length / 2) * 2);

function ownSize({ plate, view, aspect }: Frame): Pixels | undefined {
  const [photo, ...others] = plate?.photos ?? [];
  const whole = view.zoom === 1 && view.x === 0 && view.y === 0 && aspect === plate?.aspect;
  if (photo === undefined || others.length > 0 || !whole) return undefined;
  return Math.max(photo.width, photo.height) <= largestOwn ? photo : undefined;
}

/** Draws a PNG. Equal drawings give equal bytes. */
export async function drawPicture(drawing: Drawing, pixels: number, imageOf: ImageOf): Promise<Buffer> {
  const { width, height } = sizeOf(drawing, pixels);
  return (await rasterOf(drawing, width, height, imageOf))
    .withExif({ IFD0: { ImageDescription: signatureOf(drawing) } })
    .png({ compressionLevel: 6 })
    .toBuffer();
}

/** Draws an image of this size. */
export async function rasterOf(
  drawing: Drawing,
  width: number,
  height: number,
  imageOf: ImageOf,
): Promise<Sharp> {
  const sheet = Buffer.alloc(width * height * 3);
  for (const [index, frame] of drawing.frames.entries()) {
    const panel = panelAt(drawing, index, width, height);
    const raster = await paintFrame(frame, panel.width, panel.height, imageOf);
    for (let row = 0; row < panel.height; row += 1) {
      const from = row * panel.width * 3;
      raster.copy(sheet, ((panel.y + row) * width + panel.x) * 3, from, from + panel.width * 3);
    }
  }
  return sharp(sheet, { raw: { width, height, channels: 3 } });
}

function panelAt({ size, frames }: Drawing, index: number, width: number, height: number) {
  if (size !== 'grid') return { x: 0, y: 0, width, height };
  const rows = Math.ceil(frames.length / 2);
  const panel = { width: width / 2, height: height / rows };
  return { ...panel, x: (index % 2) * panel.width, y: Math.floor(index / 2) * panel.height };
}

/** The mark of the sandbox's own pictures, for later descriptions. */
interface Signature {
  /** The words that the picture was drawn from. */
  readonly text: string;
}

const opening = 'promptpress sandbox ';

/** Writes the mark as ASCII, for the EXIF block. */
function signatureOf({ frames }: Drawing): string {
  const text = (frames[0]?.text ?? '').slice(0, 4000);
  const json = JSON.stringify({ text } satisfies Signature).replaceAll(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `${opening}${json}`;
}

/** Reads the mark in an image's EXIF block, or returns undefined for any other image. */
export function readSignature(exif: Buffer | undefined): Signature | undefined {
  const block = exif?.toString('latin1') ?? '';
  const at = block.indexOf(`${opening}{`);
  if (at < 0) return undefined;
  const end = block.indexOf('\0', at);
  try {
    const value: unknown = JSON.parse(block.slice(at + opening.length, end < 0 ? undefined : end));
    const text = (value as Partial<Signature> | null)?.text;
    return typeof text === 'string' ? { text: text.slice(0, 4000) } : undefined;
  } catch {
    // Somebody has edited the mark.
    return undefined;
  }
}
