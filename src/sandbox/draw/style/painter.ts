import { Canvas } from '../canvas/canvas.ts';
import { lightness, type Rgb } from '../canvas/colour.ts';
import type { Frame } from '../canvas/drawing.ts';
import type { Scene } from '../canvas/pen.ts';
import type { Random } from '../canvas/random.ts';
import type { Box } from '../canvas/world.ts';
import { paintPlain } from './marks.ts';

/** The input of a painter, in the scene's units, so that a picture is the same at every size. */
export interface Sitting {
  readonly scene: Scene;
  readonly frame: Frame;
  /** The raster of the visible part of the scene. */
  readonly canvas: Canvas;
  /** The colours of the scene by place, only for painters with `toneRows`. */
  readonly tones: Tones;
  readonly random: Random;
}

/** Paints a scene. */
export interface Painter {
  /** Rows of tones that the painter needs; 0 for none. */
  readonly toneRows: number;
  paint(sitting: Sitting): void;
}

/** The colours of a scene as a small raster. */
class Tones {
  readonly box: Box;
  readonly columns: number;
  readonly rows: number;
  readonly #pixels: Uint8Array;
  /** Lightness of each cell, 0 to 1. */
  readonly #light: Float32Array;

  constructor(box: Box, columns: number, rows: number, pixels: Uint8Array) {
    this.box = box;
    this.columns = columns;
    this.rows = rows;
    this.#pixels = pixels;
    this.#light = new Float32Array(columns * rows);
    for (let index = 0, at = 0; index < this.#light.length; index += 1, at += 3) {
      this.#light[index] = lightness([pixels[at] ?? 0, pixels[at + 1] ?? 0, pixels[at + 2] ?? 0]);
    }
  }

  /** Returns the colour of a cell; beyond the edge, the colour of the edge. */
  cell(column: number, row: number): Rgb {
    const x = Math.max(0, Math.min(this.columns - 1, column));
    const y = Math.max(0, Math.min(this.rows - 1, row));
    const at = (y * this.columns + x) * 3;
    return [this.#pixels[at] ?? 0, this.#pixels[at + 1] ?? 0, this.#pixels[at + 2] ?? 0];
  }

  /** Returns the colour at a point of the scene. */
  at(x: number, y: number): Rgb {
    return this.cell(this.#column(x), this.#row(y));
  }

  /** Returns the darkness at a point, 0 to 1. */
  dark(x: number, y: number): number {
    const column = Math.max(0, Math.min(this.columns - 1, this.#column(x)));
    const row = Math.max(0, Math.min(this.rows - 1, this.#row(y)));
    return 1 - (this.#light[row * this.columns + column] ?? 0);
  }

  /** Returns the slope of the lightness at a point (0 to about 1 each way), by half of Sobel's operator. */
  slope(x: number, y: number): readonly [number, number] {
    const column = Math.max(1, Math.min(this.columns - 2, this.#column(x)));
    const row = Math.max(1, Math.min(this.rows - 2, this.#row(y)));
    const light = this.#light;
    const middle = row * this.columns + column;
    const [above, below] = [middle - this.columns, middle + this.columns];
    const [a, b, c] = [light[above - 1] ?? 0, light[above] ?? 0, light[above + 1] ?? 0];
    const [d, f] = [light[middle - 1] ?? 0, light[middle + 1] ?? 0];
    const [g, h, i] = [light[below - 1] ?? 0, light[below] ?? 0, light[below + 1] ?? 0];
    return [f - d + (c - a + i - g) / 2, h - b + (g - a + i - c) / 2];
  }

  #column(x: number): number {
    return Math.floor(((x - this.box.left) / (this.box.right - this.box.left)) * this.columns);
  }

  #row(y: number): number {
    return Math.floor(((y - this.box.top) / (this.box.bottom - this.box.top)) * this.rows);
  }
}

/** Draws a scene into a raster of `box`; with 0 rows, an empty raster. */
export function tonesOf(scene: Scene, box: Box, rows: number): Tones {
  if (rows === 0) return new Tones(box, 1, 1, new Uint8Array(3));
  const columns = Math.max(1, Math.round((rows * (box.right - box.left)) / (box.bottom - box.top)));
  const canvas = new Canvas(box, columns, rows);
  paintPlain(canvas, scene);
  return new Tones(box, columns, rows, canvas.pixels);
}
