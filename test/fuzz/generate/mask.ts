import { makePng } from '../../rig/png.ts';
import { type Draft, draft } from '../input.ts';
import type { Random } from '../random.ts';

const latin1 = (...buffers: readonly Buffer[]): Draft['pieces'] => [
  { text: Buffer.concat(buffers).toString('latin1'), times: 1, encoding: 'latin1' },
];

/** Bytes of a PNG that are another number, missing, twice, or cut off. */
function spoilt(png: Buffer, random: Random): Buffer {
  let bytes = Buffer.from(png);
  for (let left = random.size(12); left > 0; left -= 1) {
    const at = random.whole(0, bytes.length - 1);
    const to = Math.min(bytes.length, at + random.size(16));
    switch (random.whole(0, 4)) {
      case 0:
        bytes[at] = random.whole(0, 255);
        break;
      case 1:
        bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(to)]);
        break;
      case 2:
        bytes = Buffer.concat([bytes.subarray(0, to), bytes.subarray(at)]);
        break;
      case 3:
        bytes = bytes.subarray(0, Math.max(1, at));
        break;
      default:
        // The header: size, depth, kind of colours, interlacing.
        bytes[random.whole(Math.min(16, bytes.length - 1), Math.min(28, bytes.length - 1))] = random.pick([
          0, 1, 2, 3, 4, 6, 8, 16, 255,
        ]);
    }
    if (bytes.length < 2) break;
  }
  return bytes;
}

const fraction = (random: Random): number =>
  random.pick([0, 0.1, 0.25, 1 / 3, 0.5, 0.999_999, 1, 1e-9, 1e-300, -0.1, 1.5, random.next()]);

/** Masks as files and as shapes. */
export function hostileMask(random: Random): Draft {
  if (random.happens(0.4)) {
    const side = (): number => random.pick([1, 2, 7, 8, 64, 1024, random.size(3000), 100_000]);
    const shapes = random.some(1, 12, () => ({
      [random.pick(['rectangle', 'ellipse'])]: [
        fraction(random),
        fraction(random),
        fraction(random),
        fraction(random),
      ],
    }));
    return draft(
      'shapes',
      JSON.stringify({ width: side(), height: side(), invert: random.happens(0.3), shapes }),
    );
  }
  const form = random.pick(['white', 'transparent']);
  const size = random.happens(0.8) ? 8 : random.whole(1, 40);
  const png = makePng(random.whole(0, 9999), size, size);
  if (random.happens(0.1)) return { form, pieces: latin1(png) };
  if (random.happens(0.1))
    return {
      form,
      pieces: latin1(
        png.subarray(0, random.whole(0, 40)),
        Buffer.alloc(random.size(100_000), random.whole(0, 255)),
      ),
    };
  // Its end is looked for first: without it nothing behind that check is reached.
  const end = png.subarray(-12);
  const bytes = spoilt(png, random);
  return { form, pieces: random.happens(0.7) ? latin1(bytes, end) : latin1(bytes) };
}
