import { sharp } from '../../artifacts/formats/image-library.ts';
import type { Bounds } from '../draw/canvas/drawing.ts';
import type { Region } from '../draw/lineage.ts';
import { mostPixels } from '../draw/plate.ts';
import { bytesOfDataUri } from './read.ts';
import type { ImageShelf } from './shelf.ts';

/** A mask, kept (white where it is painted again), or why it is none. */
type ReadMask =
  | { readonly ok: true; readonly value: Region }
  | { readonly ok: false; readonly error: string };

/** The part of a mask that is painted again: a modal's white and opaque, an edit's transparent (gateway 2.7). */
type MaskManner = 'white' | 'transparent';

const no = (error: string): ReadMask => ({ ok: false, error: `maskBase64: ${error}` });

/** Reads a mask for an image of this size. */
export async function readMask(
  dataUri: string,
  manner: MaskManner,
  size: { readonly width: number; readonly height: number },
  shelf: ImageShelf,
): Promise<ReadMask> {
  const bytes = bytesOfDataUri(dataUri, /^image\/png$/);
  if (bytes === undefined) return no('expected a PNG as a data URI, data:image/png;base64,…');
  let image: Awaited<ReturnType<typeof decoded>>;
  try {
    image = await decoded(bytes);
  } catch {
    // For any message of the decoder: to the service it is no mask.
    return no('these bytes are no PNG');
  }
  if (image.format !== 'png') return no(`expected a PNG, got ${image.format}`);
  const { width, height } = image;
  if (width !== size.width || height !== size.height) {
    return no(
      `it is ${width} × ${height} pixels, and the image ${size.width} × ${size.height}: they must have the same size`,
    );
  }
  return await keptMask(image, manner, shelf);
}

/** The mask that an image is by its own transparent parts; undefined where it has none. */
export async function ownMask(bytes: Buffer, shelf: ImageShelf): Promise<Region | undefined> {
  const mask = await keptMask(await decoded(bytes), 'transparent', shelf);
  return mask.ok ? mask.value : undefined;
}

interface Raster {
  readonly format: string;
  readonly width: number;
  readonly height: number;
  /** RGBA. */
  readonly data: Buffer;
}

async function decoded(bytes: Buffer): Promise<Raster> {
  const image = sharp(bytes, { limitInputPixels: mostPixels, failOn: 'error' });
  const { format } = await image.metadata();
  const { data, info } = await image
    .rotate()
    .toColourspace('srgb')
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { format, width: info.width, height: info.height, data };
}

async function keptMask(
  { width, height, data }: Raster,
  manner: MaskManner,
  shelf: ImageShelf,
): Promise<ReadMask> {
  const white = Buffer.alloc(width * height);
  for (let at = 0; at < white.length; at += 1) {
    const [red, green, blue, alpha] = [
      data[4 * at] ?? 0,
      data[4 * at + 1] ?? 0,
      data[4 * at + 2] ?? 0,
      data[4 * at + 3] ?? 0,
    ];
    const isPainted =
      manner === 'transparent'
        ? alpha < 128
        : (0.299 * red + 0.587 * green + 0.114 * blue) * (alpha / 255) >= 127.5;
    if (isPainted) white[at] = 255;
  }
  const [bounds, ...others] = maskParts(white, width, height);
  if (bounds === undefined) {
    return no(
      manner === 'white'
        ? 'nothing of it is white: white is painted again, black and transparent stay'
        : 'nothing of it is transparent: what is transparent is painted again',
    );
  }
  const png = await sharp(white, { raw: { width, height, channels: 1 } })
    .png()
    .toBuffer();
  const region = { sha256: shelf.keep(png), bounds };
  return { ok: true, value: others.length === 0 ? region : { ...region, others } };
}

/** Cells along the longer side of the grid in which parts are found; parts nearer than a cell belong together. */
const mostCells = 256;

/** A part below this share of the largest one is a speck. */
const leastShare = 0.1;

/** More parts than these are painted without a subject of their own. */
const mostParts = 6;

/** A part that fills less of its bounds than this, such as a hook, has little room in their middle. */
const leastFilled = 0.45;

/**
 * Where subjects find room in a mask, the largest part first: what each part of its white that hangs together is within; of
 * a part that leaves most of that free, or its middle, the largest square in it. `white` is one byte a pixel, more than 0 where it is white.
 */
export function maskParts(white: Uint8Array, width: number, height: number): readonly Bounds[] {
  const grid = gridOf(white, width, height);
  const found = new Map<number, Part>();
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      if ((white[y * width + x] ?? 0) === 0) continue;
      const label = grid.labels[grid.cellAt(x, y)] ?? 0;
      let part = found.get(label);
      if (part === undefined) {
        part = { label, left: x, right: x, top: y, bottom: y, pixels: 0 };
        found.set(label, part);
      }
      part.left = Math.min(part.left, x);
      part.right = Math.max(part.right, x);
      part.bottom = y;
      part.pixels += 1;
    }
  }
  const parts = [...found.values()].sort((one, other) => other.pixels - one.pixels);
  const least = (parts[0]?.pixels ?? 0) * leastShare;
  return parts
    .filter(({ pixels }) => pixels >= least)
    .slice(0, mostParts)
    .map((part) => boundsOf(part, grid, width, height));
}

/** In pixels, both ends included. */
interface Part {
  readonly label: number;
  left: number;
  right: number;
  readonly top: number;
  bottom: number;
  pixels: number;
}

function boundsOf(part: Part, grid: Grid, width: number, height: number): Bounds {
  const [across, down] = [part.right + 1 - part.left, part.bottom + 1 - part.top];
  const middle = grid.labels[grid.cellAt(part.left + (across >> 1), part.top + (down >> 1))];
  if (middle !== part.label || part.pixels < leastFilled * across * down)
    return largestSquare(part.label, grid);
  return { x: part.left / width, y: part.top / height, width: across / width, height: down / height };
}

/** A mask in few cells: a cell with any white in it is white. */
interface Grid {
  readonly columns: number;
  readonly rows: number;
  /** Of each cell, the number of its part; 0 where it is black. */
  readonly labels: Int32Array;
  cellAt(x: number, y: number): number;
}

function gridOf(white: Uint8Array, width: number, height: number): Grid {
  const scale = Math.min(1, mostCells / Math.max(width, height));
  const [columns, rows] = [Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale))];
  const cellAt = (x: number, y: number): number =>
    Math.floor((y * rows) / height) * columns + Math.floor((x * columns) / width);
  const labels = new Int32Array(columns * rows);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) if ((white[y * width + x] ?? 0) > 0) labels[cellAt(x, y)] = unknown;
  }
  let label = 0;
  for (let cell = 0; cell < labels.length; cell += 1) {
    if (labels[cell] === unknown) flood(labels, columns, cell, (label += 1));
  }
  return { columns, rows, labels, cellAt };
}

const unknown = -1;

/** Gives the label to every cell that can be reached, corners included. */
function flood(labels: Int32Array, columns: number, start: number, label: number): void {
  labels[start] = label;
  const open = [start];
  for (let cell = open.pop(); cell !== undefined; cell = open.pop()) {
    const column = cell % columns;
    for (let x = Math.max(0, column - 1); x <= Math.min(columns - 1, column + 1); x += 1) {
      for (const row of [-columns, 0, columns]) {
        const other = cell - column + x + row;
        if (labels[other] !== unknown) continue;
        labels[other] = label;
        open.push(other);
      }
    }
  }
}

/** The largest square of cells that are all of one part. */
function largestSquare(label: number, { columns, rows, labels }: Grid): Bounds {
  // Of each cell, the side of the largest square of which it is the lower right corner.
  let above = new Int32Array(columns + 1);
  let [side, right, bottom] = [0, 0, 0];
  for (let row = 0; row < rows; row += 1) {
    const sides = new Int32Array(columns + 1);
    for (let column = 0; column < columns; column += 1) {
      if (labels[row * columns + column] !== label) continue;
      const own = 1 + Math.min(sides[column] ?? 0, above[column] ?? 0, above[column + 1] ?? 0);
      sides[column + 1] = own;
      if (own > side) [side, right, bottom] = [own, column + 1, row + 1];
    }
    above = sides;
  }
  return {
    x: (right - side) / columns,
    y: (bottom - side) / rows,
    width: side / columns,
    height: side / rows,
  };
}
