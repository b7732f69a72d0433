import { decoded, UnknownCoding } from '../../service/http/body/content-coding.ts';
import type { OpenResponse } from '../../service/http/dispatch.ts';
import { fail, SaveError, shownLink } from '../failure.ts';
import type { SaveFailure } from '../writer.ts';
import type { Deadline } from './deadline.ts';
import { interruptionFailure } from './link-failure.ts';

/** A file on its way: a link that was answered, its body unread. */
export interface DownloadBody {
  readonly url: URL;
  /** The same, as it may be shown. */
  readonly link: string;
  /** What the server promised, before any content coding. */
  readonly contentLength: number | undefined;
  /** Nothing is between the bytes on the line and these. */
  readonly plain: boolean;
  readonly body: AsyncIterable<Uint8Array>;
  /**
   * Asks for what follows so many bytes, of the very same file. Undefined: the server does not give it, or has another one by now. Absent: nothing
   * tells its files apart.
   */
  readonly rest?: (from: number) => Promise<DownloadBody | undefined>;
  /** Releases the connection, whether the body was read to its end or not. */
  discard(): void;
}

/** The file of a response with a status that has one. @throws SaveError for a content coding that is not known */
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

/** Content codings were declined; a server that uses one all the same is understood. Undefined: it used none. */
function withoutCodings({ body, headers }: OpenResponse, url: URL): AsyncIterable<Uint8Array> | undefined {
  try {
    // How much comes is bounded by the file's own limit, how long by the deadline.
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

/** A connection that brought fewer bytes of a file is not followed by another for the rest: it may go on so for ever. */
const leastProgress = 16_384;

/** Reads a body chunk by chunk; where its connection breaks, the rest of it over another one. @throws SaveError */
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
      // A part may be shorter than what was asked for.
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

/** What one connection brings. @throws SaveError */
async function* piecesOf(body: DownloadBody, deadline: Deadline): AsyncGenerator<Buffer> {
  let received = 0;
  try {
    for await (const piece of body.body) {
      deadline.arrived();
      received += piece.byteLength;
      yield Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    }
  } catch (cause) {
    throw interruptionFailure(body.url, cause, deadline, 'truncated');
  }
  if (body.plain && body.contentLength !== undefined && received !== body.contentLength)
    fail(brokenOff(body, received));
}

const brokenOff = ({ link, contentLength }: DownloadBody, received: number): SaveFailure => ({
  code: 'download.truncated',
  class: 'retry',
  message: `The file at ${link} broke off after ${received} of ${contentLength} bytes.`,
});
