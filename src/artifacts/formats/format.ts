/** Width and height in pixels, as stored. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/** The bytes of a whole file, read on demand. */
export interface Bytes {
  readonly size: number;
  /** Returns up to `length` bytes from `position`; fewer at the end. */
  read(position: number, length: number): Promise<Buffer>;
}

/** Returns the bytes of a file in memory. */
export const inMemory = (file: Buffer): Bytes => ({
  size: file.length,
  read: (position, length) => Promise.resolve(file.subarray(position, position + length)),
});

/**
 * An image format, recognised by its first bytes. Only headers are read and nothing is decoded, so that a hostile file costs only a few
 * small reads.
 */
export interface ImageFormat {
  readonly mime: string;
  /** File extension without the dot. */
  readonly extension: string;
  /** Whether a file that begins with these bytes (at least 32, fewer in a shorter file) has this format. */
  matches(head: Buffer): boolean;
  /** Returns the size; undefined if the file is damaged or its end is missing. */
  measure(bytes: Bytes): Promise<Size | undefined>;
}

/** A format of moving pictures, detected and checked in the same way. */
export interface VideoFormat extends Omit<ImageFormat, 'measure'> {
  /** Returns the size in the head of the file; undefined if the file is damaged or truncated. */
  measure(bytes: Bytes): Promise<Partial<Size> | undefined>;
}

/** Bytes at the end of a file that are searched for its end mark: some programs append their own. */
const tailLength = 65_536;

/** Returns the last bytes of a file, but none before `from`. */
export async function tail(bytes: Bytes, from = 0): Promise<Buffer> {
  const start = Math.max(from, bytes.size - tailLength);
  return start >= bytes.size ? Buffer.alloc(0) : bytes.read(start, bytes.size - start);
}

/** Returns a size, or undefined unless both values are positive. */
export const positiveSize = (width: number, height: number): Size | undefined =>
  width > 0 && height > 0 ? { width, height } : undefined;
