import type { Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Dispatcher } from 'undici';
import type { Deadline } from './deadline.ts';
import { fail, shownLink, shownWords } from './failure.ts';
import { interrupted } from './link-failure.ts';

/** A file on its way: a link that was answered, its body unread. */
export interface Arrival {
  readonly url: URL;
  /** The same, as it may be shown. */
  readonly link: string;
  /** What the server promised, before any content coding. */
  readonly contentLength: number | undefined;
  /** Nothing is between the bytes on the line and these. */
  readonly plain: boolean;
  readonly body: AsyncIterable<Buffer>;
  /** Lets go of the connection, read to the end or not. */
  discard(): void;
}

/** The file of an answer with a status that has one. @throws SaveError for a content coding that is not known */
export function arrival(url: URL, response: Dispatcher.ResponseData): Arrival {
  const { body, headers } = response;
  const promised = headers['content-length'];
  // Errors are met where the body is read; one that is not read has nobody to tell.
  body.on('error', () => undefined);
  const decode = decoder(String(headers['content-encoding'] ?? ''), url);
  return {
    url,
    link: shownLink(url),
    contentLength: typeof promised === 'string' && /^\d{1,15}$/.test(promised) ? Number(promised) : undefined,
    plain: decode === undefined,
    body: decode === undefined ? body : piped(body, decode),
    discard: () => body.destroy(),
  };
}

/** Content codings were declined; a server that uses one all the same is understood. */
function decoder(coding: string, url: URL): (() => Transform) | undefined {
  switch (coding.trim().toLowerCase()) {
    case '':
    case 'identity':
      return undefined;
    case 'gzip':
    case 'x-gzip':
      return createGunzip;
    case 'deflate':
      return createInflate;
    case 'br':
      return createBrotliDecompress;
    default:
      return fail({
        code: 'download.not-image',
        class: 'retry',
        message: `${shownLink(url)} gave its file in a content coding that was not asked for (${shownWords(coding)}).`,
      });
  }
}

/** Decoded as it arrives: what is not read is not decoded, so that a small body cannot fill the memory. */
async function* piped(body: Readable, decode: () => Transform): AsyncGenerator<Buffer> {
  const decoded = decode();
  body.on('error', (error) => decoded.destroy(error));
  try {
    yield* body.pipe(decoded) as AsyncIterable<Buffer>;
  } finally {
    decoded.destroy();
  }
}

/** Reads an arrival chunk by chunk. @throws SaveError */
export async function* chunks(arrival: Arrival, deadline: Deadline): AsyncGenerator<Buffer> {
  let received = 0;
  try {
    for await (const chunk of arrival.body) {
      deadline.arrived();
      received += chunk.length;
      yield chunk;
    }
  } catch (cause) {
    throw interrupted(arrival.url, cause, deadline, 'truncated');
  }
  if (arrival.plain && arrival.contentLength !== undefined && received !== arrival.contentLength) {
    fail({
      code: 'download.truncated',
      class: 'retry',
      message: `The file at ${arrival.link} broke off after ${received} of ${arrival.contentLength} bytes.`,
    });
  }
}
