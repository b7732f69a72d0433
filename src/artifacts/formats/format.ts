/** Width and height in pixels, as stored. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/** The bytes of a whole file, read where they are needed. */
export interface Bytes {
  readonly size: number;
  /** Up to `length` bytes from `position`; fewer at the end. */
  read(position: number, length: number): Promise<Buffer>;
}

/** A file that is in memory. */
export const inMemory = (file: Buffer): Bytes => ({
  size: file.length,
  read: (position, length) => Promise.resolve(file.subarray(position, position + length)),
});

/**
 * An image format, known by its first bytes. Only headers are read and nothing is decoded: so a hostile file costs only a
 * few small reads.
 */
export interface ImageFormat {
  readonly mime: string;
  /** Without the dot. */
  readonly extension: string;
  /** True when a file that begins with these bytes (at least 32, fewer in a shorter file) is of this format. */
  matches(head: Buffer): boolean;
  /** The size; undefined where the file is damaged or its end is missing. */
  measure(bytes: Bytes): Promise<Size | undefined>;
}

/** A format of moving pictures, detected and checked in the same way. */
export interface VideoFormat extends Omit<ImageFormat, 'measure'> {
  /** The size that the head of the file gives; undefined where the file is damaged or truncated. */
  measure(bytes: Bytes): Promise<Partial<Size> | undefined>;
}

/** What is found at the very end of a whole file is looked for in this much of it: some programs append their own. */
const tailLength = 65_536;

/** The last bytes of a file, but none before `from`. */
export async function tail(bytes: Bytes, from = 0): Promise<Buffer> {
  const start = Math.max(from, bytes.size - tailLength);
  return start >= bytes.size ? Buffer.alloc(0) : bytes.read(start, bytes.size - start);
}

/** A size, where there is one to speak of. */
export const positiveSize = (width: number, height: number): Size | undefined =>
  width > 0 && height > 0 ? { width, height } : undefined;
