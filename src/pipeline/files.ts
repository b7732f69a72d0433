import path from 'node:path';
import type { DiagnosticCollector } from './diagnostics/collector.ts';
import type { Position } from './diagnostics/diagnostic.ts';
import type { Span } from './diagnostics/source.ts';

/** Facts about a file, with links resolved. */
export interface FileFacts {
  readonly kind: 'file' | 'folder' | 'other';
  /** Absolute path with links resolved. */
  readonly realPath: string;
  readonly bytes: number;
}

/** The port by which the pure rooms read files that a pipeline names. */
export interface FilePort {
  /** Real path of the folder that must contain all files of a pipeline (`--files-root`). */
  readonly root: string;
  /** Reads a file in chunks; rejects if the file is missing or unreadable. */
  read(file: string): AsyncIterable<Uint8Array>;
  /**
   * Lists the files of a listing (`listingName`) as the bytes of `listingText`, sorted by path in code units. A missing folder yields no
   * files.
   * @throws TableError for files outside the root, and for more than `tableLimits.files`
   */
  list(listing: string): AsyncIterable<Uint8Array>;
  /** Returns undefined if there is no such file. */
  facts(file: string): Promise<FileFacts | undefined>;
}

/**
 * Where a file of a pipeline is. `git` means inside the root, but in a folder of git's own: such a folder holds addresses with passwords
 * and content that was never committed, so a pipeline must not read it.
 */
export type FilePlace = 'inside' | 'outside' | 'git';

/** Whether a file is a folder or lies below it; both paths are absolute, with links resolved. */
export function isWithin(root: string, file: string): boolean {
  const way = path.relative(root, file);
  return way !== '..' && !way.startsWith(`..${path.sep}`) && !path.isAbsolute(way);
}

/** Returns where a file is. @param root the folder that must contain a pipeline's files. Both are absolute, with links resolved. */
export function placeOf(root: string, file: string): FilePlace {
  if (!isWithin(root, file)) return 'outside';
  const names = path.relative(root, file).split(path.sep);
  return names.some((name) => isGitName(name)) ? 'git' : 'inside';
}

/**
 * Whether a file system may read a name as `.git`: in any case, followed by dots, blanks or a stream's name, as its short name (Windows),
 * with invisible characters (macOS). The rules are git's `is_ntfs_dotgit` and `is_hfs_dotgit` (path.c, utf8.c).
 */
export function isGitName(name: string): boolean {
  const seen = name.replaceAll(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, '').toLowerCase();
  const start = ['.git', 'git~1'].find((spelling) => seen.startsWith(spelling));
  return start !== undefined && /^[. ]*(?::|$)/.test(seen.slice(start.length));
}

/** Checks that the files named by a pipeline exist, are files, and lie where pipelines may read. */
export class FileCheck {
  readonly #files: FilePort;
  readonly #folder: string;
  readonly #nearest: ((declared: string) => Promise<string | undefined>) | undefined;
  readonly #collector: DiagnosticCollector;
  readonly #known = new Map<string, Promise<Verdict>>();

  /**
   * @param folder absolute folder of the pipeline; its paths are relative to it
   * @param nearest finds the existing file that a wrong path most likely means
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

  /** Returns the absolute path of a file that may be read; otherwise reports an error and returns undefined. */
  async check(declared: string, where: Span | Position): Promise<string | undefined> {
    return (await this.checkWithSize(declared, where))?.file;
  }

  /** Like {@link check}, with the file's size. @param meant what else the path may mean, for the hint if the file is missing */
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
    if (declared.includes('\0')) return missing(declared, 'A path cannot contain a NUL character.');
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
      const message = `The file "${declared}" is in a folder of git, which no pipeline may read.`;
      return { wrong: { code: 'file.outside', message, hint: 'Copy it to a place beside the pipeline.' } };
    }
    if (place === 'outside') {
      const message = `The file "${declared}" is outside the folder that this pipeline may read.`;
      const hint = `The folder is ${this.#files.root}; choose another one with --files-root. Links are followed first.`;
      return { wrong: { code: 'file.outside', message, hint } };
    }
    if (facts.kind === 'file') return { bytes: facts.bytes };
    const what = facts.kind === 'folder' ? 'a folder' : 'neither a file nor a folder';
    return { wrong: { code: 'file.not-file', message: `"${declared}" is ${what}.`, hint: 'Name a file.' } };
  }
}

interface Verdict {
  /** Size of a file that may be read. */
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
