import type { BodyHold } from './budget.ts';

/** The error for a body larger than its bound; the rest was not read. */
export class BodyTooLarge extends Error {
  constructor(maxBytes: number) {
    super(`the answer is larger than ${maxBytes} bytes`);
    this.name = 'BodyTooLarge';
  }
}

/** The members of a web stream that are used; undici's and Node's types of it differ. */
export interface ByteStream {
  getReader(): {
    read(): Promise<{ readonly done: boolean; readonly value?: unknown }>;
    cancel(reason?: unknown): Promise<void>;
  };
}

/**
 * Passes on a body chunk by chunk, at most `maxBytes` (after decompression). Requests the next chunk when `keep` has finished with the
 * last one; `keep` ends the reading early by returning `enough`. Rejects with {@link BodyTooLarge}, with what `keep` threw, or with
 * what broke the stream; the connection is then closed.
 */
export async function readChunks(
  stream: ByteStream | null,
  maxBytes: number,
  keep: (chunk: Uint8Array) => Promise<unknown> | undefined | 'enough',
): Promise<void> {
  if (stream === null) return;
  const reader = stream.getReader();
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const chunk = value as Uint8Array;
    length += chunk.byteLength;
    let isEnough: boolean;
    try {
      if (length > maxBytes) throw new BodyTooLarge(maxBytes);
      const kept = keep(chunk);
      isEnough = kept === 'enough';
      await kept;
    } catch (error) {
      // The stream may end with an error of its own; this one is the cause.
      await reader.cancel(error).catch(() => undefined);
      throw error;
    }
    if (isEnough) return reader.cancel().catch(() => undefined);
  }
}

/**
 * Reads a whole body, at most `maxBytes` of it and no faster than `hold` allows. Rejects as {@link readChunks} does, and with the
 * reason for which the wait was given up.
 */
export async function readBody(
  stream: ByteStream | null,
  maxBytes: number,
  hold: Pick<BodyHold, 'take'>,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  await readChunks(stream, maxBytes, (chunk) => {
    chunks.push(chunk);
    return hold.take(chunk.byteLength);
  });
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
}

/** Describes the size of a request and its largest part: what to make smaller. */
export function largestPart(fields: Readonly<Record<string, unknown>>): string | undefined {
  const sizes = Object.entries(fields).map(([name, value]) => ({ name, bytes: sizeOf(value) }));
  // Part by part: joined, they may exceed the longest possible string. Adds a colon and a comma for each.
  const whole = sizes.reduce((sum, { name, bytes }) => sum + sizeOf(name) + bytes + 2, 1);
  const [largest] = sizes.sort((a, b) => b.bytes - a.bytes);
  if (largest === undefined) return undefined;
  return `the request has ${amount(whole)}, ${amount(largest.bytes)} of them in "${largest.name}"`;
}

const sizeOf = (value: unknown): number =>
  typeof value === 'string' ? Buffer.byteLength(value) + 2 : Buffer.byteLength(JSON.stringify(value) ?? '');

/** Returns a number of bytes in words. */
export function amount(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
