import type { Bytes } from '../formats/format.ts';

/**
 * A file that is being received. It has no name yet: nobody can list or get it.
 *
 * Every method throws SaveError, `disk.*` or `s3.*`, if the store cannot be written.
 */
export interface IncomingArtifact extends Bytes {
  /** SHA-256 of the bytes written so far, in hex. */
  readonly sha256: string;
  /** Writes a chunk, whose bytes may not change afterwards. */
  write(chunk: Buffer): Promise<void>;
  /** Ends the writing: all bytes are durable, and nothing is held open. */
  seal(): Promise<void>;
  /** Seals the file and gives it its final name, durably. An existing file of that name is replaced as a whole. */
  finish(name: string): Promise<void>;
  /** Removes the file unless it is finished. */
  discard(): Promise<void>;
}

/** The content of an artifact, or why there is none. */
export type FoundArtifact =
  | { readonly ok: true; readonly bytes: Buffer }
  | {
      readonly ok: false;
      /** `missing`: no file of the name can be read; `outside`: the name, or a link in its place, leads out of the store. */
      readonly why: 'missing' | 'outside' | 'too-large';
      /** Cause in the store's own form. */
      readonly cause?: unknown;
    };

/** An artifact that is read in pieces: a video need not fit into memory. The opener closes it. */
export type OpenArtifact =
  | {
      readonly ok: true;
      readonly bytes: number;
      /** Hash that its writer has noted beside the file; absent: only its bytes tell. */
      readonly sha256?: string;
      /** Path of the file, without links; absent: it is not on this machine. */
      readonly path?: string;
      /** Reads the bytes from one position to before another; default: all. The reader owns each piece. */
      pieces(from?: number, before?: number): AsyncIterable<Buffer>;
      close(): Promise<void>;
    }
  | { readonly ok: false; readonly why: 'missing' | 'outside' };

/**
 * Keeps the files of artifacts. Names are those of `names.ts`, and the state keeps them: a store returns a file under the name that it
 * was finished with, wherever the bytes lie.
 *
 * One run writes at a time, under the lock of its run directory. All actions are idempotent. Besides the errors named below, every
 * method throws SaveError of the class `stop`, `disk.*` or `s3.*`, if the store cannot be reached: only the store itself retries.
 */
export interface ArtifactStore {
  /**
   * Begins to receive a file. Files that an earlier run was receiving when it was killed are removed first.
   *
   * @param path the name of the file without extension: only its content gives the extension
   * @param like a local file whose bytes it has from the start (`OpenArtifact.path`), shared with it where the file system can; nothing
   * may be written to it then
   */
  put(path: string, like?: string): Promise<IncomingArtifact>;
  /** Reads a whole file of at most `maxBytes`. It may have been changed since it was written: compare hashes. */
  get(name: string, maxBytes: number): Promise<FoundArtifact>;
  /** Opens a file. If it changes meanwhile, the reading fails, or returns the bytes of one of the two versions. */
  open(name: string): Promise<OpenArtifact>;
  /** Lists names of finished files that begin with `prefix`, in order; one folder of names is in memory at a time. */
  list(prefix: string): AsyncIterable<string>;
  /** Removes finished files. @returns whether any of them was there */
  remove(names: readonly string[]): Promise<boolean>;
  /** Removes unfinished files that are no longer being received. */
  close(): Promise<void>;
}

/** Whether the name of any file begins with a prefix. @throws SaveError */
export async function hasArtifacts(store: Pick<ArtifactStore, 'list'>, prefix: string): Promise<boolean> {
  for await (const _name of store.list(prefix)) return true;
  return false;
}
