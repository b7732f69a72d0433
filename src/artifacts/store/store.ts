import type { Bytes } from '../formats/format.ts';

/**
 * A file that is being received. It has no name yet: nobody can list or get it.
 *
 * Every method throws SaveError, `disk.*` or `s3.*`, where the store cannot be written.
 */
export interface IncomingArtifact extends Bytes {
  /** SHA-256 of what is written so far, in hex. */
  readonly sha256: string;
  /** The bytes of the chunk may not change afterwards. */
  write(chunk: Buffer): Promise<void>;
  /** Nothing more follows: what is written is durable, and nothing is held open. */
  seal(): Promise<void>;
  /** Seals the file and gives it its final name, durably. A file that has the name is replaced whole. */
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
      /** Of the store's own kind. */
      readonly cause?: unknown;
    };

/** An artifact that is read piece by piece: a video need not fit into memory. Who opened it closes it. */
export type OpenArtifact =
  | {
      readonly ok: true;
      readonly bytes: number;
      /** As its writer has noted it beside the file; absent: only its bytes tell. */
      readonly sha256?: string;
      /** Its bytes from one place to before another; default: all. A piece is the reader's own. */
      pieces(from?: number, before?: number): AsyncIterable<Buffer>;
      close(): Promise<void>;
    }
  | { readonly ok: false; readonly why: 'missing' | 'outside' };

/**
 * Where the files of artifacts are kept. Names are those of `names.ts`, and the state keeps them: a store gives a file under
 * the name that it was finished with, wherever the bytes lie.
 *
 * One run writes at a time, under the lock of its run directory. Whatever is done twice has the effect of doing it once.
 * Besides what is said below, every method throws SaveError of the class `stop`, `disk.*` or `s3.*`, where the store cannot be reached: the
 * store itself has tried again by then what may pass, and nobody else does.
 */
export interface ArtifactStore {
  /**
   * Begins to receive a file. What an earlier run was receiving when it was killed is removed first.
   *
   * @param path the name that the file is to have, without extension: the extension is known only from its content
   */
  put(path: string): Promise<IncomingArtifact>;
  /** Reads a whole file, but none of more than `mostBytes`. It may have been changed since it was written: compare hashes. */
  get(name: string, mostBytes: number): Promise<FoundArtifact>;
  /** Opens a file; where it changes while it is read, the reading fails, or gives the bytes of one of both. */
  open(name: string): Promise<OpenArtifact>;
  /** Names of finished files that begin with `prefix`, in order; one folder of names is in memory at a time. */
  list(prefix: string): AsyncIterable<string>;
  /** Removes finished files. @returns whether any of them was there */
  remove(names: readonly string[]): Promise<boolean>;
  /** Removes what is unfinished and is received no more. */
  close(): Promise<void>;
}

/** Whether any file has a name that begins so. @throws SaveError */
export async function hasArtifacts(store: Pick<ArtifactStore, 'list'>, prefix: string): Promise<boolean> {
  for await (const _name of store.list(prefix)) return true;
  return false;
}
