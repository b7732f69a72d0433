import { createHash } from 'node:crypto';
import pLimit from 'p-limit';
import { fail, SaveError } from '../../failure.ts';
import type { SealedFile } from '../incoming.ts';
import { filePieces } from '../open-file.ts';
import type { S3Ask, S3Client } from './client.ts';
import type { S3Problem } from './failure.ts';
import { decoderOf } from './list.ts';
import type { FilePiece } from './send.ts';
import { elements, escaped, textOf } from './xml.ts';

/** Sizes of uploads, in bytes. S3 accepts parts of 5 MiB and more, at most 10,000 for a file. */
export interface UploadSizes {
  /** Largest file that is sent whole; larger ones are sent in parts. */
  readonly wholeBytes: number;
  readonly partBytes: number;
}

export const uploadSizes: UploadSizes = { wholeBytes: 64 * 1024 * 1024, partBytes: 16 * 1024 * 1024 };

/** Most parts of one file in flight. */
const partsAtOnce = 4;

/** Most tries to write a name that others keep changing. */
const maxTurns = 8;

const hashHeader = 'x-amz-meta-sha256';

interface Found {
  readonly etag: string;
  readonly bytes: number;
  /** Hash that its writer has noted; absent: it is not one of our files. */
  readonly sha256?: string;
}

const isRefused = ({ status, code }: S3Problem): boolean => status === 412 || code === 'PreconditionFailed';

const isMissing = ({ status, code }: S3Problem): boolean => status === 404 && code !== 'NoSuchBucket';

const isUnknown = ({ status, code }: S3Problem): boolean => status === 501 || code === 'NotImplemented';

/**
 * Stores a local file under a name, completely or not at all. Replaces a different file there, but only as it was seen: every write has
 * a condition, so that a late write (of a stopped process, on a slow connection) never replaces a newer one. If the answer to a write
 * was lost, the next try finds its own file there.
 *
 * @throws SaveError
 */
export async function upload(
  client: S3Client,
  name: string,
  file: SealedFile,
  options: {
    readonly sizes?: UploadSizes;
    /** Whether the same file is probably there already: a large one is never sent to find that out. */
    readonly isLikely?: boolean;
  } = {},
): Promise<void> {
  const { sizes = uploadSizes, isLikely = false } = options;
  const isLarge = file.size > sizes.wholeBytes;
  let found = isLarge || isLikely ? await look(client, name) : undefined;
  for (let turn = 0; turn < maxTurns; turn += 1) {
    if (found !== undefined && (await isSame(client, name, file, found))) return;
    const condition: Readonly<Record<string, string>> =
      found === undefined ? { 'if-none-match': '*' } : { 'if-match': found.etag };
    const write = isLarge ? putInParts : putWhole;
    const outcome = await write(client, name, file, condition, sizes);
    if (outcome === 'stored') return;
    if (outcome === 'unconditional') {
      await write(client, name, file, {}, sizes);
      return;
    }
    found = await look(client, name);
  }
  fail({
    code: 's3.failed',
    class: 'stop',
    message: `"${name}" in the store was changed again and again while it was written: another program writes there.`,
  });
}

/** `refused`: the object differs from the condition; `unconditional`: the store does not know such conditions. */
type Outcome = 'stored' | 'refused' | 'unconditional';

const outcomeOf = (problem: S3Problem | undefined): Outcome => {
  if (problem === undefined) return 'stored';
  return isUnknown(problem) ? 'unconditional' : 'refused';
};

async function putWhole(
  client: S3Client,
  name: string,
  file: SealedFile,
  condition: Readonly<Record<string, string>>,
): Promise<Outcome> {
  const { problem } = await client.ask({
    method: 'PUT',
    name,
    headers: { ...factsOf(name, file), ...condition },
    body: { path: file.path, from: 0, bytes: file.size, sha256: file.sha256 },
    doing: `write "${name}"`,
    accepts: (said) => isRefused(said) || isMissing(said) || (isUnknown(said) && hasAny(condition)),
  });
  return outcomeOf(problem);
}

/** Uploads in parts. The end of the upload obeys its condition; an unfinished upload is removed. */
async function putInParts(
  client: S3Client,
  name: string,
  file: SealedFile,
  condition: Readonly<Record<string, string>>,
  { partBytes }: UploadSizes,
): Promise<Outcome> {
  const doing = `write "${name}"`;
  const begun = await client.ask({
    method: 'POST',
    name,
    query: { uploads: '' },
    headers: factsOf(name, file),
    doing,
  });
  const uploadId = textOf(begun.body.toString(), 'UploadId') ?? '';
  try {
    const limit = pLimit({ concurrency: partsAtOnce, rejectOnClear: true });
    const count = Math.ceil(file.size / partBytes);
    const sent = await Promise.allSettled(
      Array.from({ length: count }, (_, at) =>
        limit(async () => {
          const body = await pieceOf(file, at * partBytes, Math.min(partBytes, file.size - at * partBytes));
          const query = { partNumber: String(at + 1), uploadId };
          const { headers } = await client.ask({ method: 'PUT', name, query, body, doing });
          return String(headers['etag'] ?? '');
        }).catch((error: unknown) => {
          // No further part is started.
          limit.clearQueue();
          throw error;
        }),
      ),
    );
    // A part that arrives after the end of its upload would be kept without anybody knowing.
    const lost = sent.find((part) => part.status === 'rejected');
    if (lost !== undefined) throw lost.reason;
    const etags = sent.flatMap((part) => (part.status === 'fulfilled' ? [part.value] : []));
    const parts = etags.map(
      (etag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>${escaped(etag)}</ETag></Part>`,
    );
    const { problem } = await client.ask({
      method: 'POST',
      name,
      query: { uploadId },
      headers: condition,
      body: Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`),
      doing,
      // If the answer to an end was lost, the upload is gone: the object shows whether it succeeded.
      accepts: (said) => isRefused(said) || isMissing(said) || (isUnknown(said) && hasAny(condition)),
    });
    const outcome = outcomeOf(problem);
    if (outcome !== 'stored') await dropUpload(client, name, uploadId);
    return outcome;
  } catch (error) {
    // The next run finds whatever fails here too.
    await dropUpload(client, name, uploadId).catch(() => undefined);
    throw error;
  }
}

const hasAny = (headers: Readonly<Record<string, string>>): boolean => Object.keys(headers).length > 0;

/** Removes an upload in parts; one that is gone is fine. @throws SaveError */
async function dropUpload(client: S3Client, name: string, uploadId: string): Promise<void> {
  await client.ask({
    method: 'DELETE',
    name,
    query: { uploadId },
    doing: `drop the upload of "${name}"`,
    accepts: isMissing,
  });
}

/** Hashes a piece before it is sent, because the signature covers it. */
async function pieceOf({ path }: SealedFile, from: number, bytes: number): Promise<FilePiece> {
  const hash = createHash('sha256');
  for await (const piece of filePieces(path, from, from + bytes)) hash.update(piece);
  return { path, from, bytes, sha256: hash.digest('hex') };
}

/** Looks up the object under a name. @throws SaveError */
export async function look(client: S3Client, name: string): Promise<Found | undefined> {
  const ask: S3Ask = { method: 'HEAD', name, doing: `read "${name}"`, accepts: isMissing };
  const { headers, problem } = await client.ask(ask);
  if (problem !== undefined) return undefined;
  const sha256 = headers[hashHeader];
  return {
    etag: String(headers['etag'] ?? ''),
    bytes: Number(headers['content-length'] ?? Number.NaN),
    ...(typeof sha256 === 'string' ? { sha256 } : {}),
  };
}

async function isSame(client: S3Client, name: string, file: SealedFile, found: Found): Promise<boolean> {
  if (found.bytes !== file.size) return false;
  if (found.sha256 !== undefined) return found.sha256 === file.sha256;
  const hash = createHash('sha256');
  try {
    for await (const piece of client.pieces(name, found.etag, 0, found.bytes)) hash.update(piece);
  } catch (error) {
    // Gone, or replaced meanwhile: the writer looks again.
    if (error instanceof SaveError && error.failure.status === 412) return false;
    if (error instanceof SaveError && error.failure.status === 404) return false;
    throw error;
  }
  return hash.digest('hex') === file.sha256;
}

const types: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  webp: 'image/webp',
  gif: 'image/gif',
  avif: 'image/avif',
  mp4: 'video/mp4',
  mov: 'video/quicktime',
  webm: 'video/webm',
  csv: 'text/csv; charset=utf-8',
  json: 'application/json',
};

/** Returns the facts that are kept beside a file, so that a later write recognises the same file. */
const factsOf = (name: string, { sha256 }: SealedFile): Readonly<Record<string, string>> => ({
  'content-type': types[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream',
  [hashHeader]: sha256,
});

/**
 * Removes uploads in parts that killed runs left. A store that does not let its uploads be listed keeps them: they are not objects,
 * most stores can remove them after some days, and nothing depends on it.
 *
 * @param isOurs by the name within the place
 * @param startedBefore Unix ms: later ones may be in progress
 * @returns how many there were @throws SaveError
 */
export async function dropLeftUploads(
  client: S3Client,
  isOurs: (name: string) => boolean,
  startedBefore: number,
): Promise<number> {
  let count = 0;
  const base = client.keyOf('');
  for (let marker: Readonly<Record<string, string>> = {}; ; ) {
    const { body } = await client.ask({
      method: 'GET',
      query: { uploads: '', prefix: base, 'encoding-type': 'url', ...marker },
      doing: 'list the uploads',
    });
    const xml = body.toString();
    const decoded = decoderOf(xml);
    for (const one of elements(xml, 'Upload')) {
      const key = decoded(textOf(one, 'Key') ?? '');
      const name = key.slice(base.length);
      const begun = Date.parse(textOf(one, 'Initiated') ?? '');
      if (!key.startsWith(base) || !isOurs(name) || begun > startedBefore) continue;
      await dropUpload(client, name, textOf(one, 'UploadId') ?? '');
      count += 1;
    }
    const next = textOf(xml, 'NextKeyMarker');
    const more = {
      'key-marker': decoded(next ?? ''),
      'upload-id-marker': textOf(xml, 'NextUploadIdMarker') ?? '',
    };
    // A store that always returns the same page has no further one.
    const isSame = Object.entries(more).every(([name, value]) => marker[name] === value);
    if (textOf(xml, 'IsTruncated') !== 'true' || next === undefined || isSame) return count;
    marker = more;
  }
}
