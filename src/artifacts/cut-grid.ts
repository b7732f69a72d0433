import { createHash } from 'node:crypto';
import type { Metadata, Sharp, SharpOptions } from 'sharp';
import type { Artifact } from '../plan/job.ts';
import { aborted, fail } from './failure.ts';
import { imageLibrary, sharp } from './formats/image-library.ts';
import { imagePath } from './store/names.ts';
import type { ArtifactStore } from './store/store.ts';
import type { CutResult } from './writer.ts';

/** Left and top of the frames, in halves of the grid, in the order U1 to U4. */
const places = [
  [0, 0],
  [1, 0],
  [0, 1],
  [1, 1],
] as const;

/**
 * Cuts the file of a grid into its four quarters, outputs 2 to 5 of its job: PNG files of exactly its pixels, whatever the grid's
 * format. The same grid gives the same bytes. The library decodes on its own threads, and one frame at a time is in memory.
 *
 * @param maxBytes largest file of a grid that is read
 * @throws SaveError, ImageLibraryError
 */
export async function cutGrid(
  store: ArtifactStore,
  { key, grid }: { readonly key: string; readonly grid: Artifact },
  maxBytes: number,
  signal: AbortSignal,
): Promise<Extract<CutResult, { ok: true }>> {
  const bytes = await readGrid(store, grid, maxBytes);
  // A decoded image is not needed again.
  imageLibrary().cache(false);
  const image = await openGrid(bytes, grid);
  const frames: Artifact[] = [];
  for (const [index, [column, row]] of places.entries()) {
    if (signal.aborted) return fail(aborted(signal.reason));
    const { width, height } = image;
    const png = await decoded(grid, () =>
      image
        .pixels()
        .extract({ left: column * width, top: row * height, width, height })
        .png({ compressionLevel: 6, adaptiveFiltering: false, palette: false })
        .toBuffer(),
    );
    frames.push(await writeFrame(store, key, grid.output + 1 + index, png, { width, height }));
  }
  return { ok: true, value: frames };
}

/** Reads the bytes that were downloaded, and no others: the file may have been changed since. */
async function readGrid(store: ArtifactStore, grid: Artifact, maxBytes: number): Promise<Buffer> {
  const found = await store.get(grid.file, maxBytes);
  const why = found.ok ? 'has changed since it was written' : 'is not there';
  if (found.ok && createHash('sha256').update(found.bytes).digest('hex') === grid.sha256) return found.bytes;
  return fail({
    code: 'frames.file',
    class: 'permanent',
    message: `${grid.file} ${why}, so it cannot be cut. promptpress verify --repair downloads it again, and cuts it.`,
  });
}

/** A readable grid, and the size of its frames. */
interface OpenGrid {
  readonly width: number;
  readonly height: number;
  readonly pixels: () => Sharp;
}

async function openGrid(bytes: Buffer, grid: Artifact): Promise<OpenGrid> {
  const { width: wide = 0, height: high = 0 } = grid;
  // The header gives the number of pixels: no more are decoded.
  const options: SharpOptions = { limitInputPixels: wide * high, failOn: 'error', autoOrient: true };
  const facts = await decoded(grid, () => sharp(bytes, options).metadata());
  if ((facts.pages ?? 1) > 1) return fail(unreadable(grid, 'it moves'));
  const { width, height } = facts.autoOrient;
  if (width * height !== wide * high)
    return fail(unreadable(grid, `it has ${width} × ${height} pixels, and its header ${wide} × ${high}`));
  return {
    width: width / 2,
    height: height / 2,
    pixels: () => asStored(sharp(bytes, { ...options, sequentialRead: true }), facts),
  };
}

/** Keeps colours as they are stored: the profile is copied instead of being applied, and 16 bits stay 16. */
function asStored(image: Sharp, { depth, space }: Metadata): Sharp {
  if (space === 'cmyk') return image;
  const kept = image.keepIccProfile();
  if (depth !== 'ushort') return kept;
  return kept.toColourspace(space === 'grey16' || space === 'b-w' ? 'grey16' : 'rgb16');
}

async function decoded<T>(grid: Artifact, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const [words = ''] = (cause as Error).message.split('\n');
    return fail({ ...unreadable(grid, words), cause });
  }
}

const unreadable = (grid: Artifact, why: string) =>
  ({
    code: 'frames.unreadable',
    class: 'permanent',
    message: `${grid.file} cannot be cut into frames: ${why}.`,
  }) as const;

async function writeFrame(
  store: ArtifactStore,
  key: string,
  output: number,
  png: Buffer,
  size: { readonly width: number; readonly height: number },
): Promise<Artifact> {
  const path = imagePath(key, output);
  const file = await store.put(path);
  try {
    await file.write(png);
    const artifact: Artifact = {
      output,
      file: `${path}.png`,
      bytes: file.size,
      sha256: file.sha256,
      mime: 'image/png',
      ...size,
    };
    await file.finish(artifact.file);
    return artifact;
  } finally {
    await file.discard();
  }
}
