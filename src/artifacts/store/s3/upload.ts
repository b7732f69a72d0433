import { createHash } from 'node:crypto';
import { fail, SaveError } from '../../failure.ts';
import type { SealedFile } from '../incoming.ts';
import type { S3Ask, S3Client } from './client.ts';
import type { S3Problem } from './failure.ts';

/** Larger files are never sent to find out that they are there: a store may refuse by breaking off the connection. */
const largeBytes = 8 * 1024 * 1024;

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
  /** Whether the same file is probably there already: it is not sent to find that out. */
  isLikely = false,
): Promise<void> {
  let found = isLikely || file.size > largeBytes ? await look(client, name) : undefined;
  for (let turn = 0; turn < maxTurns; turn += 1) {
    if (found !== undefined && (await isSame(client, name, file, found))) return;
    const condition: Readonly<Record<string, string>> =
      found === undefined ? { 'if-none-match': '*' } : { 'if-match': found.etag };
    const outcome = await write(client, name, file, condition);
    if (outcome === 'stored') return;
    if (outcome === 'unconditional') {
      await write(client, name, file, {});
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

async function write(
  client: S3Client,
  name: string,
  file: SealedFile,
  condition: Readonly<Record<string, string>>,
): Promise<Outcome> {
  const hasCondition = Object.keys(condition).length > 0;
  const { problem } = await client.ask({
    method: 'PUT',
    name,
    headers: { ...factsOf(name, file), ...condition },
    body: file,
    doing: `write "${name}"`,
    accepts: (said) => isRefused(said) || isMissing(said) || (isUnknown(said) && hasCondition),
  });
  if (problem === undefined) return 'stored';
  return isUnknown(problem) ? 'unconditional' : 'refused';
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
