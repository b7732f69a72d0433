import { constants } from 'node:buffer';
import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { KeySet } from '../manifest/key-set.ts';
import type { JobRecord } from '../plan/job.ts';
import type { ReplyPlace } from '../plan/job-request.ts';
import { isMissing } from '../state/files/folders.ts';
import { readFlags } from '../state/files/plain-file.ts';
import { segmentPath } from '../state/files/segment-files.ts';
import type { StateReader } from '../state/reader.ts';

/** Yields the places of all replies of a job, those of its rounds first; for a job that is being redone, also of its former result. */
export function* placesOf({ rounds = [], text, former }: JobRecord): Generator<ReplyPlace> {
  for (const told of [{ rounds, text }, former ?? {}]) {
    yield* told.rounds ?? [];
    if (told.text?.reply !== undefined) yield told.text.reply;
  }
}

/** Largest length of a line, which was a string before it was kept: a length in a state is not to be trusted. */
const maxLine = constants.MAX_STRING_LENGTH;

/** Reads lines of kept replies; the last segment stays open. */
export class ReplyLines {
  readonly #directory: string;
  readonly #state: Pick<StateReader, 'replyLine'>;
  /** Hashes of all lines, for segments with a misplaced line. */
  readonly #lines = new Map<number, KeySet>();
  #open: { readonly segment: number; readonly handle: FileHandle | undefined } | undefined;

  /** @param state that has the lines if they are not in the directory */
  constructor(directory: string, state: Pick<StateReader, 'replyLine'> = {}) {
    this.#directory = directory;
    this.#state = state;
  }

  /** Whether the line is there, with the bytes that the state says. @throws the error of the file system */
  async isWhole(place: ReplyPlace): Promise<boolean> {
    return (await this.#bytes(place)) !== undefined;
  }

  /** Reads the line without its end; undefined if it differs from the state. @throws the error of the file system */
  async read(place: ReplyPlace): Promise<string | undefined> {
    return (await this.#bytes(place))?.toString('utf8');
  }

  /** Whether the segment has a line of these bytes at any position. @throws the error of the file system */
  async isElsewhere({ segment, sha256 }: ReplyPlace): Promise<boolean> {
    if (this.#state.replyLine !== undefined) return false;
    let lines = this.#lines.get(segment);
    if (lines === undefined) {
      lines = await linesOf(await this.#segment(segment));
      this.#lines.set(segment, lines);
    }
    return lines.has(sha256);
  }

  async close(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    await open?.handle?.close();
  }

  async #bytes(place: ReplyPlace): Promise<Buffer | undefined> {
    const { segment, offset, length, sha256 } = place;
    if (this.#state.replyLine !== undefined) {
      const kept = await this.#state.replyLine(place);
      const bytes = Buffer.from(kept ?? '');
      return createHash('sha256').update(bytes).digest('hex') === sha256 ? bytes : undefined;
    }
    const handle = await this.#segment(segment);
    if (handle === undefined || length > maxLine) return undefined;
    const bytes = Buffer.allocUnsafe(length + 1);
    const { bytesRead } = await handle.read(bytes, 0, length + 1, offset);
    if (bytesRead !== length + 1 || bytes[length] !== 0x0a) return undefined;
    const line = bytes.subarray(0, length);
    return createHash('sha256').update(line).digest('hex') === sha256 ? line : undefined;
  }

  async #segment(segment: number): Promise<FileHandle | undefined> {
    if (this.#open?.segment === segment) return this.#open.handle;
    await this.close();
    const handle = await openPlain(join(this.#directory, segmentPath(segment)));
    this.#open = { segment, handle };
    return handle;
  }
}

const pieceBytes = 1024 * 1024;

/** Returns the hashes of the lines of a file, which may be larger than the memory. */
async function linesOf(handle: FileHandle | undefined): Promise<KeySet> {
  const lines = new KeySet();
  if (handle === undefined) return lines;
  const buffer = Buffer.allocUnsafe(pieceBytes);
  let hash = createHash('sha256');
  for (let offset = 0; ; ) {
    const { bytesRead } = await handle.read(buffer, 0, pieceBytes, offset);
    if (bytesRead === 0) return lines;
    offset += bytesRead;
    const piece = buffer.subarray(0, bytesRead);
    for (let from = 0; from < piece.length; ) {
      const end = piece.indexOf(0x0a, from);
      hash.update(piece.subarray(from, end < 0 ? piece.length : end));
      if (end < 0) break;
      lines.add(hash.digest('hex'));
      hash = createHash('sha256');
      from = end + 1;
    }
  }
}

async function openPlain(path: string): Promise<FileHandle | undefined> {
  try {
    const handle = await open(path, readFlags);
    if ((await handle.stat()).isFile()) return handle;
    await handle.close();
    return undefined;
  } catch (error) {
    // A link in place of the file is not followed.
    if (isMissing(error) || (error instanceof Error && 'code' in error && error.code === 'ELOOP'))
      return undefined;
    throw error;
  }
}
