import path from 'node:path';
import type { DiagnosticCollector } from './diagnostics/collector.ts';
import type { Position } from './diagnostics/diagnostic.ts';
import type { Span } from './diagnostics/source.ts';

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

/**
 * Where a file of a pipeline lies: `git` is inside the root, but in a folder that git uses for itself. Such a folder holds
 * addresses with passwords, and content that was never committed; a pipeline must not read it.
 */
export type FilePlace = 'inside' | 'outside' | 'git';

/** Whether a file is a folder or lies below it; both are absolute, their links resolved. */
export function isWithin(root: string, file: string): boolean {
  const way = path.relative(root, file);
  return way !== '..' && !way.startsWith(`..${path.sep}`) && !path.isAbsolute(way);
}

/** @param root the folder that a pipeline's files must lie in. Both are absolute, their links resolved. */
export function placeOf(root: string, file: string): FilePlace {
  if (!isWithin(root, file)) return 'outside';
  const names = path.relative(root, file).split(path.sep);
  return names.some((name) => isGitName(name)) ? 'git' : 'inside';
}

/**
 * True for each spelling by which a file system finds `.git`: in any case, with dots, blanks or a stream's name behind it
 * and by its short name (Windows), with characters that are not seen (macOS). As git's own `is_ntfs_dotgit` and
 * `is_hfs_dotgit` (path.c, utf8.c) have it.
 */
export function isGitName(name: string): boolean {
  const seen = name.replaceAll(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, '').toLowerCase();
  const start = ['.git', 'git~1'].find((spelling) => seen.startsWith(spelling));
  return start !== undefined && /^[. ]*(?::|$)/.test(seen.slice(start.length));
}

/** Checks that the files a pipeline names are there, are files, and lie where pipelines may read. */
export class FileCheck {
  readonly #files: FilePort;
  readonly #folder: string;
  readonly #nearest: ((declared: string) => Promise<string | undefined>) | undefined;
  readonly #collector: DiagnosticCollector;
  readonly #known = new Map<string, Promise<Verdict>>();

  /**
   * @param folder absolute folder of the pipeline, which its paths are relative to
   * @param nearest finds the file that a path most likely means under which there is none
   */
  constructor(
    files: FilePort,
    folder: string,
    collector: DiagnosticCollector,
    nearest?: (declared: string) => Promise<string | undefined>,
  ) {
    this.#nearest = nearest;
    this.#files = files;
    this.#folder = folder;
    this.#collector = collector;
  }

  /** The absolute path of a file that may be read; undefined when it may not, which is then reported. */
  async check(declared: string, where: Span | Position): Promise<string | undefined> {
    return (await this.checkWithSize(declared, where))?.file;
  }

  /** {@link check}, with the size of the file. @param meant what else the path may mean, for the hint where there is no file */
  async checkWithSize(
    declared: string,
    where: Span | Position,
    meant?: string,
  ): Promise<{ readonly file: string; readonly bytes: number } | undefined> {
    const file = path.resolve(this.#folder, declared);
    let verdict = this.#known.get(file);
    if (verdict === undefined) {
      verdict = this.#check(file, declared);
      this.#known.set(file, verdict);
    }
    const { wrong, bytes = 0 } = await verdict;
    if (wrong === undefined) return { file, bytes };
    const hint = wrong.code === 'file.missing' ? (meant ?? wrong.hint) : wrong.hint;
    this.#collector.error(wrong.code, where, wrong.message, hint);
    return undefined;
  }

  async #hintForMissing(declared: string): Promise<string> {
    const near = await this.#nearest?.(declared);
    const rule = 'Paths are relative to the pipeline file.';
    return near === undefined ? rule : `Did you mean "${near}"? ${rule}`;
  }

  async #check(file: string, declared: string): Promise<Verdict> {
    if (declared.includes('\0')) return missing(declared, 'A path cannot hold a NUL character.');
    let facts: Awaited<ReturnType<FilePort['facts']>>;
    try {
      facts = await this.#files.facts(file);
    } catch (error) {
      return missing(
        declared,
        `It cannot be read: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
    if (facts === undefined) return missing(declared, await this.#hintForMissing(declared));
    const place = placeOf(this.#files.root, facts.realPath);
    if (place === 'git') {
      const message = `The file "${declared}" lies in a folder of git, which no pipeline may read.`;
      return { wrong: { code: 'file.outside', message, hint: 'Copy it to a place beside the pipeline.' } };
    }
    if (place === 'outside') {
      const message = `The file "${declared}" lies outside the folder that this pipeline may read.`;
      const hint = `That folder is ${this.#files.root}; --files-root names another. Links are followed before this is decided.`;
      return { wrong: { code: 'file.outside', message, hint } };
    }
    if (facts.kind === 'file') return { bytes: facts.bytes };
    const what = facts.kind === 'folder' ? 'a folder' : 'neither a file nor a folder';
    return { wrong: { code: 'file.not-file', message: `"${declared}" is ${what}.`, hint: 'Name a file.' } };
  }
}

interface Verdict {
  /** Of a file that may be read. */
  readonly bytes?: number;
  readonly wrong?: {
    readonly code: 'file.missing' | 'file.outside' | 'file.not-file';
    readonly message: string;
    readonly hint: string;
  };
}

const missing = (declared: string, hint: string): Verdict => ({
  wrong: { code: 'file.missing', message: `There is no file "${declared}".`, hint },
});
