import { sharp } from '../../../artifacts/formats/image-library.ts';

/** Columns and rows in which colours spread: what fills a hole is soft anyway. */
const cells = 48;
const rounds = 400;

/**
 * A picture whose masked part is filled with the colours around it, as raw RGB; undefined where the mask leaves nothing to
 * take them from. `opacity` is more than 0 where it is masked.
 */
export async function filledIn(
  picture: Buffer,
  opacity: Uint8Array,
  width: number,
  height: number,
): Promise<Buffer | undefined> {
  const sums = new Float64Array(cells * cells * 3);
  const counts = new Float64Array(cells * cells);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const at = y * width + x;
      if ((opacity[at] ?? 0) > 0) continue;
      const cell = Math.floor((y * cells) / height) * cells + Math.floor((x * cells) / width);
      counts[cell] = (counts[cell] ?? 0) + 1;
      for (let channel = 0; channel < 3; channel += 1) {
        sums[3 * cell + channel] = (sums[3 * cell + channel] ?? 0) + (picture[3 * at + channel] ?? 0);
      }
    }
  }
  const known = counts.reduce((sum, count) => sum + (count > 0 ? 1 : 0), 0);
  if (known < cells) return undefined;

  const small = new Float64Array(cells * cells * 3);
  for (let channel = 0; channel < 3; channel += 1) {
    let mean = 0;
    for (let cell = 0; cell < counts.length; cell += 1) {
      if ((counts[cell] ?? 0) > 0) mean += (sums[3 * cell + channel] ?? 0) / (counts[cell] ?? 1) / known;
    }
    for (let cell = 0; cell < counts.length; cell += 1) {
      const count = counts[cell] ?? 0;
      small[3 * cell + channel] = count > 0 ? (sums[3 * cell + channel] ?? 0) / count : mean;
    }
  }
  for (let round = 0; round < rounds; round += 1) spread(small, counts);
  const raw = { width: cells, height: cells, channels: 3 as const };
  return sharp(Buffer.from(Uint8Array.from(small, Math.round)), { raw })
    .resize(width, height, { fit: 'fill', kernel: 'cubic' })
    .removeAlpha()
    .raw()
    .toBuffer();
}

/** Each unknown cell takes the mean of its neighbours. */
function spread(small: Float64Array, counts: Float64Array): void {
  for (let row = 0; row < cells; row += 1) {
    for (let column = 0; column < cells; column += 1) {
      const cell = row * cells + column;
      if ((counts[cell] ?? 0) > 0) continue;
      const around = [
        row * cells + Math.max(0, column - 1),
        row * cells + Math.min(cells - 1, column + 1),
        Math.max(0, row - 1) * cells + column,
        Math.min(cells - 1, row + 1) * cells + column,
      ];
      for (let channel = 0; channel < 3; channel += 1) {
        let sum = 0;
        for (const other of around) sum += small[3 * other + channel] ?? 0;
        small[3 * cell + channel] = sum / around.length;
      }
    }
  }
}
