import { sharp } from '../../artifacts/formats/image-library.ts';
import type { Frame, Plate } from './canvas/drawing.ts';
import { Random } from './canvas/random.ts';
import { boxOf, unit } from './canvas/world.ts';

/** Returns the bytes of an image of a request. @throws if the image is not stored any more */
export type ImageOf = (sha256: string) => Buffer;

/** Paints the images of a frame as raw RGB. Around them their mirrored, blurred copies are seen. */
export async function paintPlate(
  frame: Frame,
  plate: Plate,
  width: number,
  height: number,
  imageOf: ImageOf,
): Promise<Buffer> {
  const seen = boxOf(frame.aspect, frame.view);
  const whole = boxOf(plate.aspect, { x: 0, y: 0, zoom: 1 });
  const scale = height / (seen.bottom - seen.top);
  const left = Math.round((whole.left - seen.left) * scale);
  const top = Math.round((whole.top - seen.top) * scale);
  const fills = frame.view.zoom === 1 && left === 0 && top === 0;
  const across = fills ? width : Math.max(1, Math.round((whole.right - whole.left) * scale));
  const down = fills ? height : Math.max(1, Math.round(unit * scale));
  const middle = await mixed(frame, plate, across, down, imageOf);
  if (fills && across === width && down === height) return middle;

  const around = Buffer.alloc(width * height * 3);
  for (let y = 0; y < height; y += 1) {
    const row = mirrored(y - top, down) * across;
    for (let x = 0; x < width; x += 1) {
      const from = (row + mirrored(x - left, across)) * 3;
      const to = (y * width + x) * 3;
      for (let channel = 0; channel < 3; channel += 1) around[to + channel] = middle[from + channel] ?? 0;
    }
  }
  const random = new Random(`${frame.rings.at(-1)?.seed ?? frame.seed}/around`);
  const blurred = await sharp(around, { raw: { width, height, channels: 3 } })
    .blur(Math.max(1, Math.min(width, height) * random.range(0.06, 0.1)))
    .modulate({ brightness: random.range(0.86, 1.02), saturation: random.range(0.85, 1.15) })
    .removeAlpha()
    .raw()
    .toBuffer();
  // The image stays sharp, but for a narrow seam where it blends into its surroundings.
  const seam = Math.max(1, Math.min(across, down) * 0.08);
  for (let y = Math.max(0, top); y < Math.min(height, top + down); y += 1) {
    for (let x = Math.max(0, left); x < Math.min(width, left + across); x += 1) {
      const inside = Math.min(x - left, y - top, left + across - 1 - x, top + down - 1 - y) + 1;
      const share = Math.min(1, inside / seam);
      const from = ((y - top) * across + (x - left)) * 3;
      const to = (y * width + x) * 3;
      for (let channel = 0; channel < 3; channel += 1) {
        const old = blurred[to + channel] ?? 0;
        blurred[to + channel] = Math.round(old + ((middle[from + channel] ?? 0) - old) * share);
      }
    }
  }
  return blurred;
}

/** Returns one image unchanged, or several images mixed: each has a slow wave of its own, and is stronger where its wave is high. */
async function mixed(
  frame: Frame,
  plate: Plate,
  width: number,
  height: number,
  imageOf: ImageOf,
): Promise<Buffer> {
  const layers: Buffer[] = [];
  for (const photo of plate.photos) {
    layers.push(
      await sharp(imageOf(photo.sha256), { limitInputPixels: maxPixels })
        .rotate()
        .flatten({ background: '#ffffff' })
        .toColourspace('srgb')
        .resize(width, height, { fit: 'cover', kernel: 'mitchell' })
        .removeAlpha()
        .raw()
        .toBuffer(),
    );
  }
  const [first] = layers;
  if (first === undefined) throw new Error('Internal error: a plate without images');
  if (layers.length === 1) return first;

  const random = new Random(`${frame.seed}/mix`, frame.nudges);
  const waves = layers.map(() => ({
    angle: random.range(0, 2 * Math.PI),
    length: random.range(0.7, 1.5),
    phase: random.range(0, 2 * Math.PI),
  }));
  // The first of the four frames is an even mixture, the last nearly a collage.
  const contrast = [0.4, 1.6, 2.6, 4][frame.pose] ?? 1.6;
  const out = Buffer.alloc(first.length);
  const weights = new Float64Array(layers.length);
  for (let top = 0; top < height; top += patch) {
    for (let left = 0; left < width; left += patch) {
      let sum = 0;
      for (const [index, wave] of waves.entries()) {
        const along = (left / width) * Math.cos(wave.angle) + (top / height) * Math.sin(wave.angle);
        const weight = Math.exp(contrast * Math.sin((along / wave.length) * 2 * Math.PI + wave.phase));
        weights[index] = weight;
        sum += weight;
      }
      for (let index = 0; index < weights.length; index += 1) weights[index] = (weights[index] ?? 0) / sum;
      const right = Math.min(width, left + patch);
      for (let y = top; y < Math.min(height, top + patch); y += 1) {
        for (let at = (y * width + left) * 3; at < (y * width + right) * 3; at += 1) {
          let value = 0;
          for (let index = 0; index < layers.length; index += 1) {
            value += (layers[index]?.[at] ?? 0) * (weights[index] ?? 0);
          }
          out[at] = Math.round(value);
        }
      }
    }
  }
  return out;
}

/** Side of the squares of equal mixture, in pixels: too small to be seen, and much faster than single pixels. */
const patch = 4;

/** Largest number of pixels of a decoded image. */
export const maxPixels = 64_000_000;

/** Maps an index to one from 0 to `length` - 1 that runs forward and backward in turn. */
function mirrored(index: number, length: number): number {
  const period = 2 * length;
  const within = ((index % period) + period) % period;
  return within < length ? within : period - 1 - within;
}
