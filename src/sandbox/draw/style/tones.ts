import sharp from 'sharp';
import { lightness, type Rgb } from '../scene/colour.ts';
import type { Box } from '../scene/world.ts';
import { fineness } from './svg.ts';

/** A small raster of a scene: what colour lies where. */
export class Tones {
  readonly box: Box;
  readonly columns: number;
  readonly rows: number;
  readonly #pixels: Uint8Array;

  constructor(box: Box, columns: number, rows: number, pixels: Uint8Array) {
    this.box = box;
    this.columns = columns;
    this.rows = rows;
    this.#pixels = pixels;
  }

  /** The colour of a cell; beyond the edge, that of the edge. */
  cell(column: number, row: number): Rgb {
    const x = Math.max(0, Math.min(this.columns - 1, column));
    const y = Math.max(0, Math.min(this.rows - 1, row));
    const at = (y * this.columns + x) * 3;
    return [this.#pixels[at] ?? 0, this.#pixels[at + 1] ?? 0, this.#pixels[at + 2] ?? 0];
  }

  /** The colour at a point of the scene. */
  at(x: number, y: number): Rgb {
    return this.cell(this.#column(x), this.#row(y));
  }

  /** Which way it gets lighter, and how strongly (0 to about 1). */
  slope(x: number, y: number): readonly [number, number] {
    const [column, row] = [this.#column(x), this.#row(y)];
    const light = (dx: number, dy: number): number => lightness(this.cell(column + dx, row + dy));
    return [
      light(1, 0) - light(-1, 0) + (light(1, 1) - light(-1, 1)) / 2 + (light(1, -1) - light(-1, -1)) / 2,
      light(0, 1) - light(0, -1) + (light(1, 1) - light(1, -1)) / 2 + (light(-1, 1) - light(-1, -1)) / 2,
    ];
  }

  #column(x: number): number {
    return Math.floor(((x - this.box.left) / (this.box.right - this.box.left)) * this.columns);
  }

  #row(y: number): number {
    return Math.floor(((y - this.box.top) / (this.box.bottom - this.box.top)) * this.rows);
  }
}

/** Rasters the elements of an SVG that show `box`; without rows, an empty raster. */
export async function tonesOf(elements: string, box: Box, rows: number): Promise<Tones> {
  if (rows === 0) return new Tones(box, 1, 1, new Uint8Array(3));
  const columns = Math.max(1, Math.round((rows * (box.right - box.left)) / (box.bottom - box.top)));
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" width="${columns}" height="${rows}" preserveAspectRatio="none" ` +
    `viewBox="${viewBoxOf(box)}">${elements}</svg>`;
  const pixels = await sharp(Buffer.from(svg)).flatten().raw().toBuffer();
  return new Tones(box, columns, rows, pixels);
}

/** The `viewBox` attribute that shows a box. */
export function viewBoxOf({ left, top, right, bottom }: Box): string {
  return [left, top, right - left, bottom - top].map((value) => value * fineness).join(' ');
}
