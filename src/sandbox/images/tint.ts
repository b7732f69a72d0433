import { sharp } from '../../artifacts/formats/image-library.ts';
import { colourOf, type Rgb } from '../draw/canvas/colour.ts';
import type { Tint } from '../draw/canvas/drawing.ts';

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
