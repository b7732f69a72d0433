import type { BodyHold } from './body-pool.ts';

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
 * Reads a whole body, at most `maxBytes` of it (counted after decompression), and no faster than `hold` lets it. Rejects
 * with {@link BodyTooLarge}, with the reason for which the wait was given up, or with what broke the stream; the connection
 * is given up then.
 */
export async function readBody(
  stream: ByteStream | null,
  maxBytes: number,
  hold: Pick<BodyHold, 'take'>,
): Promise<Uint8Array> {
  if (stream === null) return new Uint8Array(0);
  const reader = stream.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    const chunk = value as Uint8Array;
    length += chunk.byteLength;
    try {
      if (length > maxBytes) throw new BodyTooLarge(maxBytes);
      await hold.take(chunk.byteLength);
    } catch (error) {
      // The stream may end in an error of its own; this one is what went wrong.
      await reader.cancel(error).catch(() => undefined);
      throw error;
    }
    chunks.push(chunk);
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, length);
}
