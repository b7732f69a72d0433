import type { BodyHold } from './budget.ts';

/** A body that outgrew its bound; the rest was not read. */
export class BodyTooLarge extends Error {
  constructor(maxBytes: number) {
    super(`the answer is larger than ${maxBytes} bytes`);
    this.name = 'BodyTooLarge';
  }
}

/** What is needed of a web stream; undici's and Node's types of it differ. */
export interface ByteStream {
  getReader(): {
    read(): Promise<{ readonly done: boolean; readonly value?: unknown }>;
    cancel(reason?: unknown): Promise<void>;
  };
}

/**
 * Passes on a body chunk by chunk, at most `maxBytes` (counted after decompression). The next chunk is requested when
 * `keep` is done with the last one. Rejects with {@link BodyTooLarge}, with what `keep` threw, or with what broke the
 * stream; the connection is closed then. `keep` may end the reading early by returning `enough`.
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
      // The stream may end in an error of its own; this one is what went wrong.
      await reader.cancel(error).catch(() => undefined);
      throw error;
    }
    if (isEnough) return reader.cancel().catch(() => undefined);
  }
}

/**
 * Reads a whole body, at most `maxBytes` of it, and no faster than `hold` lets it. Rejects as {@link readChunks} does, and
 * with the reason for which the wait was given up.
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

/** The part of a request that takes the most room, and how much the whole takes, in words: what to make smaller. */
export function largestPart(fields: Readonly<Record<string, unknown>>): string | undefined {
  const sizes = Object.entries(fields).map(([name, value]) => ({ name, bytes: sizeOf(value) }));
  // Part by part: as one text they may be longer than a text can be. A colon and a comma go with each.
  const whole = sizes.reduce((sum, { name, bytes }) => sum + sizeOf(name) + bytes + 2, 1);
  const [largest] = sizes.sort((a, b) => b.bytes - a.bytes);
  if (largest === undefined) return undefined;
  return `the request has ${amount(whole)}, ${amount(largest.bytes)} of them in "${largest.name}"`;
}

const sizeOf = (value: unknown): number =>
  typeof value === 'string' ? Buffer.byteLength(value) + 2 : Buffer.byteLength(JSON.stringify(value) ?? '');

/** A number of bytes in words. */
export function amount(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
