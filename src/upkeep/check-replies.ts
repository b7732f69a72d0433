import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { JobRecord } from '../plan/job.ts';
import type { ReplyPlace } from '../plan/job-request.ts';
import { isMissing } from '../state/files/folders.ts';
import { readFlags } from '../state/files/plain-file.ts';
import { segmentPath } from '../state/files/segment-files.ts';

/** Where the whole replies of a job lie, those of its rounds first; of a job that is being redone, those of its former result too. */
export function* placesOf({ rounds = [], text, former }: JobRecord): Generator<ReplyPlace> {
  for (const told of [{ rounds, text }, former ?? {}]) {
    yield* told.rounds ?? [];
    if (told.text?.reply !== undefined) yield told.text.reply;
  }
}

/** A line longer than this is none: what a state says of its length is not to be believed. */
const mostLine = 1024 * 1024 * 1024;

/** Reads lines of kept replies; the segment that was read last stays open. */
export class ReplyLines {
  readonly #directory: string;
  #open: { readonly segment: number; readonly handle: FileHandle | undefined } | undefined;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Whether the line is there, with the bytes that the state says. @throws the error of the file system */
  async isWhole(place: ReplyPlace): Promise<boolean> {
    return (await this.#bytes(place)) !== undefined;
  }

  /** The line, without its end; undefined where it is not as the state says. @throws the error of the file system */
  async read(place: ReplyPlace): Promise<string | undefined> {
    return (await this.#bytes(place))?.toString('utf8');
  }

  async close(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    await open?.handle?.close();
  }

  async #bytes({ segment, offset, length, sha256 }: ReplyPlace): Promise<Buffer | undefined> {
    const handle = await this.#segment(segment);
    if (handle === undefined || length > mostLine) return undefined;
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

async function openPlain(path: string): Promise<FileHandle | undefined> {
  try {
    const handle = await open(path, readFlags);
    if ((await handle.stat()).isFile()) return handle;
    await handle.close();
    return undefined;
  } catch (error) {
    // A link in its place is not followed.
    if (isMissing(error) || (error instanceof Error && 'code' in error && error.code === 'ELOOP'))
      return undefined;
    throw error;
  }
}
