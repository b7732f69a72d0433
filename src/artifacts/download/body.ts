import { decoded, UnknownCoding } from '../../service/http/body/content-coding.ts';
import type { OpenResponse } from '../../service/http/dispatch.ts';
import { fail, SaveError, shownLink } from '../failure.ts';
import type { SaveFailure } from '../writer.ts';
import type { Deadline } from './deadline.ts';
import { interruptionFailure } from './link-failure.ts';

/** A file on its way: the answer to a link, its body unread. */
export interface DownloadBody {
  readonly url: URL;
  /** The link as it may be shown. */
  readonly link: string;
  /** Length that the server promised, before any content coding. */
  readonly contentLength: number | undefined;
  /** Whether the bytes arrive without a content coding. */
  readonly plain: boolean;
  readonly body: AsyncIterable<Uint8Array>;
  /**
   * Requests the rest of the very same file, from a position. Undefined: the server does not give it, or has another file by now.
   * Absent: nothing tells its files apart.
   */
  readonly rest?: (from: number) => Promise<DownloadBody | undefined>;
  /** Releases the connection, whether the body was read to its end or not. */
  discard(): void;
}

/** Returns the file of a response whose status has one. @throws SaveError for an unknown content coding */
export function body(url: URL, response: OpenResponse): DownloadBody {
  const { body, headers } = response;
  const promised = headers['content-length'];
  const plain = withoutCodings(response, url);
  return {
    url,
    link: shownLink(url),
    contentLength: typeof promised === 'string' && /^\d{1,15}$/.test(promised) ? Number(promised) : undefined,
    plain: plain === undefined,
    body: plain ?? body,
    discard: () => void body.cancel(),
  };
}

/** Decodes a body whose server uses content codings although they were declined. Undefined: it used none. */
function withoutCodings({ body, headers }: OpenResponse, url: URL): AsyncIterable<Uint8Array> | undefined {
  try {
    // The file's own limit bounds the bytes, and the deadline bounds the time.
    return decoded(body, [headers['content-encoding'] ?? []].flat().join(), Number.MAX_SAFE_INTEGER);
  } catch (cause) {
    if (!(cause instanceof UnknownCoding)) throw cause;
    void body.cancel();
    return fail({
      code: 'download.not-image',
      class: 'retry',
      message: `${shownLink(url)} gave a file that cannot be read: ${cause.message}.`,
      cause,
    });
  }
}

/** Fewest bytes that a connection must bring before another one fetches the rest: otherwise that might never end. */
const leastProgress = 16_384;

/** Reads a body chunk by chunk; if its connection breaks, reads the rest over another one. @throws SaveError */
export async function* chunks(body: DownloadBody, deadline: Deadline): AsyncGenerator<Buffer> {
  let received = 0;
  for (let part = body; ; ) {
    const before = received;
    let broken: unknown;
    try {
      for await (const piece of piecesOf(part, deadline)) {
        received += piece.byteLength;
        yield piece;
      }
      // A part may be shorter than requested.
      if (body.contentLength === undefined || received >= body.contentLength || !body.plain) return;
      broken = new SaveError(brokenOff(body, received));
    } catch (failure) {
      broken = failure;
    } finally {
      part.discard();
    }
    const isBroken = broken instanceof SaveError && broken.failure.code === 'download.truncated';
    const rest = isBroken && received - before >= leastProgress ? await body.rest?.(received) : undefined;
    if (rest === undefined) throw broken;
    part = rest;
  }
}

/** Reads the bytes of one connection. @throws SaveError */
async function* piecesOf(body: DownloadBody, deadline: Deadline): AsyncGenerator<Buffer> {
  let received = 0;
  try {
    for await (const piece of body.body) {
      deadline.arrived();
      received += piece.byteLength;
      yield Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    }
  } catch (cause) {
    throw interruptionFailure(body.url, cause, deadline, 'download.truncated');
  }
  if (body.plain && body.contentLength !== undefined && received !== body.contentLength)
    fail(brokenOff(body, received));
}

const brokenOff = ({ link, contentLength }: DownloadBody, received: number): SaveFailure => ({
  code: 'download.truncated',
  class: 'retry',
  message: `The file at ${link} broke off after ${received} of ${contentLength} bytes.`,
});
