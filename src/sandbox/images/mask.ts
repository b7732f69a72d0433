import { sharp } from '../../artifacts/formats/image-library.ts';
import type { Bounds } from '../draw/canvas/drawing.ts';
import type { Region } from '../draw/lineage.ts';
import { maxPixels } from '../draw/plate.ts';
import { bytesOfDataUri } from './read.ts';
import type { ImageShelf } from './shelf.ts';

/** A stored mask, white where the image is painted again, or why it is refused. */
type ReadMask =
  | { readonly ok: true; readonly value: Region }
  | { readonly ok: false; readonly error: string };

/** The part of a mask that is painted again: white and opaque for a modal, transparent for an edit (gateway 2.7). */
type MaskManner = 'white' | 'transparent';

const no = (error: string): ReadMask => ({ ok: false, error: `maskBase64: ${error}` });

/** Reads and stores the mask of a request for an image of this size. */
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
    // The service does not pass on messages of the decoder.
    return no('these bytes are not a PNG');
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

/** Makes a mask of an image's transparent parts, or returns undefined for an opaque image. */
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
  const image = sharp(bytes, { limitInputPixels: maxPixels, failOn: 'error' });
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
        ? 'nothing is white: white is painted again, black and transparent stay'
        : 'nothing is transparent: transparent parts are painted again',
    );
  }
  const png = await sharp(white, { raw: { width, height, channels: 1 } })
    .png()
    .toBuffer();
  const region = { sha256: shelf.keep(png), bounds };
  return { ok: true, value: others.length === 0 ? region : { ...region, others } };
}

/** Cells along the longer side of the grid that separates parts; parts that share a cell are one part. */
const maxCells = 256;

/** Smallest share of the largest part that a part needs; a smaller one is a speck. */
const leastShare = 0.1;

/** Largest number of parts that get a subject of their own. */
const maxParts = 6;

/** Share of its bounds that a part must fill: a part such as a hook has little room in the middle of its bounds. */
const leastFilled = 0.45;

/**
 * Finds room for subjects in a mask, the largest part first: the bounds of each connected white part, or the largest square in a part
 * that leaves its bounds mostly, or their middle, free. `white` has one byte a pixel, more than 0 for white.
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
    .slice(0, maxParts)
    .map((part) => boundsOf(part, grid, width, height));
}

/** A connected part of a mask. Its bounds are in pixels, both ends included. */
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

/** A mask at a low resolution: a cell with any white pixel is white. */
interface Grid {
  readonly columns: number;
  readonly rows: number;
  /** The number of the part of each cell; 0 for a black cell. */
  readonly labels: Int32Array;
  cellAt(x: number, y: number): number;
}

function gridOf(white: Uint8Array, width: number, height: number): Grid {
  const scale = Math.min(1, maxCells / Math.max(width, height));
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

/** Labels every cell that is connected to `start`, corners included. */
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

/** Finds the largest square of cells of one part. */
function largestSquare(label: number, { columns, rows, labels }: Grid): Bounds {
  // For each cell, the side of the largest square whose lower right corner is that cell.
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
