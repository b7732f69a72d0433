/** What a file is, with links resolved. */
export interface FileFacts {
  readonly kind: 'file' | 'folder' | 'other';
  /** Absolute, links resolved. */
  readonly realPath: string;
  readonly bytes: number;
}

/** The only way the pure rooms reach files that a pipeline names. */
export interface FilePort {
  /** Real path of the folder that all files of a pipeline must lie in (`--files-root`). */
  readonly root: string;
  /** The file's bytes in chunks; a missing or unreadable file rejects. */
  read(file: string): AsyncIterable<Uint8Array>;
  /**
   * The files that a listing means (`listingName`), as the bytes of `listingText`: sorted by their whole path, by code unit.
   * A folder that is not there holds none. Files that lead out of the root, and more files than
   * `tableLimits.files`, are a TableError.
   */
  list(listing: string): AsyncIterable<Uint8Array>;
  /** Undefined when nothing is there. */
  facts(file: string): Promise<FileFacts | undefined>;
}
