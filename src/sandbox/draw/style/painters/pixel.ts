import { colourOf, type Rgb } from '../../canvas/colour.ts';
import type { Painter, Sitting } from '../style.ts';
import { num, SvgWriter } from '../svg.ts';

/** Colours that a picture may use. */
const colourCount = 28;

/** Pixel art: 80 rows of squares in a few colours. */
export const pixelPainter: Painter = { toneRows: 80, paint };

function paint({ box, name, tones }: Sitting): string {
  const writer = new SvgWriter(name);
  const pixels: Rgb[] = [];
  for (let row = 0; row < tones.rows; row += 1) {
    for (let column = 0; column < tones.columns; column += 1) pixels.push(tones.cell(column, row));
  }
  const palette = paletteOf(pixels, colourCount);
  const side = (box.bottom - box.top) / tones.rows;
  const runs = new Map<string, string>();
  for (let row = 0; row < tones.rows; row += 1) {
    for (let column = 0; column < tones.columns; ) {
      const colour = nearest(palette, tones.cell(column, row));
      let end = column + 1;
      while (end < tones.columns && nearest(palette, tones.cell(end, row)) === colour) end += 1;
      const run = `M${num(box.left + column * side)} ${num(box.top + row * side)}h${num((end - column) * side)}v${num(side)}h${num((column - end) * side)}z`;
      runs.set(colour, (runs.get(colour) ?? '') + run);
      column = end;
    }
  }
  for (const [colour, data] of runs)
    writer.body += `<path d="${data}" fill="${colour}" shape-rendering="crispEdges"/>`;
  return writer.toString();
}

/** Median cut: the box with the widest spread is halved until there are enough. */
function paletteOf(pixels: readonly Rgb[], count: number): readonly Rgb[] {
  const boxes: Rgb[][] = [[...pixels]];
  while (boxes.length < count) {
    let [widest, axis, spread] = [0, 0 as 0 | 1 | 2, -1];
    for (const [index, box] of boxes.entries()) {
      for (const channel of [0, 1, 2] as const) {
        let [low, high] = [255, 0];
        for (const pixel of box) {
          low = Math.min(low, pixel[channel]);
          high = Math.max(high, pixel[channel]);
        }
        if (high - low > spread && box.length > 1) [widest, axis, spread] = [index, channel, high - low];
      }
    }
    if (spread <= 0) break;
    const box = (boxes[widest] ?? []).sort((a, b) => a[axis] - b[axis]);
    boxes[widest] = box.slice(0, box.length >> 1);
    boxes.push(box.slice(box.length >> 1));
  }
  return boxes.map((box) => {
    const sum = [0, 0, 0];
    for (const pixel of box)
      for (const channel of [0, 1, 2] as const) sum[channel] = (sum[channel] ?? 0) + pixel[channel];
    return [(sum[0] ?? 0) / box.length, (sum[1] ?? 0) / box.length, (sum[2] ?? 0) / box.length];
  });
}

function nearest(palette: readonly Rgb[], pixel: Rgb): string {
  let best: Rgb = [0, 0, 0];
  let least = Number.POSITIVE_INFINITY;
  for (const colour of palette) {
    const far = (colour[0] - pixel[0]) ** 2 + 1.4 * (colour[1] - pixel[1]) ** 2 + (colour[2] - pixel[2]) ** 2;
    if (far < least) [best, least] = [colour, far];
  }
  return colourOf(best);
}
