import { chunks, type DownloadBody } from '../download/body.ts';
import type { Deadline } from '../download/deadline.ts';
import { type LinkRoute, openLink } from '../download/follow-link.ts';
import { headLength, inputType, notWanted, wordsLength } from '../download/verify.ts';
import { fail, SaveError } from '../failure.ts';
import { fromBase64 } from '../formats/base64.ts';
import { largestInput } from '../inputs.ts';
import { images } from '../media.ts';
import type { SaveFailure } from '../writer.ts';
import { notImage, tooLarge } from './failure.ts';

/** Reads the image at an address into memory. @throws SaveError */
export async function readLink(
  url: string,
  route: LinkRoute,
  deadline: Deadline,
  now: number,
): Promise<Buffer> {
  try {
    const body = await openLink(url, { ...route, giver: 'The pipeline' }, deadline, now);
    try {
      return await readResponse(body, deadline, route.mask);
    } finally {
      body.discard();
    }
  } catch (failure) {
    if (failure instanceof SaveError) throw new SaveError(asInput(failure.failure));
    throw failure;
  }
}

/** Converts a failure of a link: nobody can give a fresh one. */
const asInput = (failure: SaveFailure): SaveFailure =>
  failure.class === 'fresh-link' ? { ...failure, class: 'permanent' } : failure;

async function readResponse(
  body: DownloadBody,
  deadline: Deadline,
  mask: (text: string) => string,
): Promise<Buffer> {
  if ((body.contentLength ?? 0) > largestInput) return fail(tooLarge(`at ${body.link}`));
  const pieces: Buffer[] = [];
  let size = 0;
  let known = false;
  for await (const chunk of chunks(body, deadline)) {
    pieces.push(chunk);
    size += chunk.length;
    if (size > largestInput) return fail(tooLarge(`at ${body.link}`));
    if (known || size < headLength) continue;
    known = inputType(Buffer.concat(pieces)) !== undefined;
    if (!known && size >= wordsLength) break;
  }
  const bytes = Buffer.concat(pieces, size);
  if (size === 0) {
    return fail({
      code: 'download.truncated',
      class: 'retry',
      message: `${body.link} gave an empty file.`,
    });
  }
  if (inputType(bytes) === undefined) {
    return fail(notWanted(bytes.subarray(0, wordsLength), body.link, images, mask));
  }
  return bytes;
}

/** Decodes the bytes of a data URI (RFC 2397), in Base64 or percent-encoded, `maxBytes` at most. @throws SaveError */
export function readDataUri(uri: string, maxBytes = largestInput): Buffer {
  const comma = uri.indexOf(',');
  if (comma < 0 || comma > 1024) return fail(notImage('The data URI'));
  const data = uri.slice(comma + 1);
  // A byte takes at least one character; three bytes take four characters of Base64.
  if (data.length > maxBytes * 3) return fail(tooLarge('of the data URI'));
  const bytes = /;\s*base64\s*$/i.test(uri.slice(0, comma)) ? decoded(data) : percentDecoded(data);
  if (bytes.length > maxBytes) return fail(tooLarge('of the data URI'));
  return bytes;
}

function decoded(data: string): Buffer {
  const pieces: Buffer[] = [];
  const decoder = fromBase64(data.includes('%') ? percentDecoded(data).toString('latin1') : data);
  for (;;) {
    const { value, done } = decoder.next();
    if (done !== true) pieces.push(value);
    else return value ? Buffer.concat(pieces) : fail(notImage('The data URI'));
  }
}

const percent = '%'.charCodeAt(0);
/** The value of a hexadecimal digit by its character code; NaN for anything else. */
const hexDigits = Array.from({ length: 256 }, (_, code) => Number.parseInt(String.fromCharCode(code), 16));

/**
 * Decodes percent-encoded bytes. `decodeURIComponent` is for UTF-8 only. Works in place, byte by byte, because a replacement of 20
 * million matches would stop the run for seconds.
 */
function percentDecoded(data: string): Buffer {
  const bytes = Buffer.from(data, 'latin1');
  let length = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] as number;
    const value =
      byte === percent
        ? (hexDigits[bytes[at + 1] ?? 0] as number) * 16 + (hexDigits[bytes[at + 2] ?? 0] as number)
        : Number.NaN;
    bytes[length] = Number.isNaN(value) ? byte : value;
    if (!Number.isNaN(value)) at += 2;
    length += 1;
  }
  return bytes.subarray(0, length);
}
