import { pipeline, Readable, type Transform } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';

import { BodyTooLarge } from './read.ts';

/** Value of `Accept-Encoding` in requests. */
export const acceptedCodings = 'gzip, deflate, br';

/** Most content codings of one answer: real answers have one, and long lists are made to be expensive. */
const maxCodings = 5;

/** Options that decode an incomplete body up to the break, as browsers do; its reader knows whether it is complete. */
const zlibOptions = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH };
const brotliOptions = {
  flush: constants.BROTLI_OPERATION_FLUSH,
  finishFlush: constants.BROTLI_OPERATION_FLUSH,
};

/** The error for a content coding that was not requested, or for too many of them. */
export class UnknownCoding extends Error {
  constructor(codings: string) {
    super(`its content coding was not requested (${codings})`);
    this.name = 'UnknownCoding';
  }
}

/** Makes the decoder of a body that begins with this byte. */
type Decoder = (firstByte: number) => Transform;

const decoders: Readonly<Record<string, Decoder>> = {
  gzip: () => createGunzip(zlibOptions),
  'x-gzip': () => createGunzip(zlibOptions),
  // The zlib format (RFC 9110 8.4.1.2), or from some servers the bare deflate format: the first byte decides.
  deflate: (firstByte) =>
    (firstByte & 0x0f) === 8 ? createInflate(zlibOptions) : createInflateRaw(zlibOptions),
  br: () => createBrotliDecompress(brotliOptions),
};

/**
 * Decodes the content codings of a body chunk by chunk. Bytes that are not read are not decoded, so that a small body cannot fill the
 * memory. Returns undefined if the body has no coding.
 *
 * @param header `Content-Encoding`: codings in the order in which they were applied (RFC 9110 8.4)
 * @param maxBytes bound of the input of each decoder. Reading rejects with {@link BodyTooLarge} beyond it
 * @throws {@link UnknownCoding}
 */
export function decoded(
  body: AsyncIterable<Uint8Array>,
  header: string | null,
  maxBytes: number,
): AsyncGenerator<Uint8Array> | undefined {
  if (header === null) return undefined;
  const codings = header
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity');
  if (codings.length > maxCodings) throw new UnknownCoding(`${codings.length} of them`);
  let source: AsyncGenerator<Uint8Array> | undefined;
  for (const coding of codings.reverse()) {
    const decoder = Object.hasOwn(decoders, coding) ? decoders[coding] : undefined;
    if (decoder === undefined) throw new UnknownCoding(coding.replaceAll(/[^\w.+-]/g, '?').slice(0, 40));
    source = through(source ?? body, decoder, maxBytes);
  }
  return source;
}

async function* through(
  source: AsyncIterable<Uint8Array>,
  decoder: Decoder,
  maxBytes: number,
): AsyncGenerator<Uint8Array> {
  const pieces = counted(source, maxBytes);
  try {
    const { value: first, done } = await pieces.next();
    // A body that must be empty may still have the header.
    if (done === true) return;
    const decoding = decoder(first[0] ?? 0);
    // Errors appear where the output is read.
    pipeline(Readable.from(joined(first, pieces)), decoding, () => undefined);
    try {
      yield* decoding as AsyncIterable<Uint8Array>;
    } finally {
      decoding.destroy();
    }
  } finally {
    await pieces.return(undefined);
  }
}

/** Yields the chunks that are not empty, as long as their sum is within the bound. */
async function* counted(source: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const piece of source) {
    bytes += piece.byteLength;
    if (bytes > maxBytes) throw new BodyTooLarge(maxBytes);
    if (piece.byteLength > 0) yield piece;
  }
}

async function* joined(first: Uint8Array, rest: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield first;
  yield* rest;
}
