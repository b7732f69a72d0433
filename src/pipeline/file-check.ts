import path from 'node:path';
import type { Position } from './diagnostic.ts';
import { placeOf } from './file-place.ts';
import type { FilePort } from './files.ts';
import type { Reports } from './reports.ts';
import type { Span } from './source.ts';

/** Checks that the files a pipeline names are there, are files, and lie where pipelines may read. */
export class FileCheck {
  readonly #files: FilePort;
  readonly #folder: string;
  readonly #reports: Reports;
  readonly #known = new Map<string, Promise<Verdict>>();

  /** @param folder absolute folder of the pipeline, which its paths are relative to */
  constructor(files: FilePort, folder: string, reports: Reports) {
    this.#files = files;
    this.#folder = folder;
    this.#reports = reports;
  }

  /** The absolute path of a file that may be read; undefined when it may not, which is then reported. */
  async check(declared: string, where: Span | Position): Promise<string | undefined> {
    return (await this.look(declared, where))?.file;
  }

  /** {@link check}, with the size of the file. */
  async look(
    declared: string,
    where: Span | Position,
  ): Promise<{ readonly file: string; readonly bytes: number } | undefined> {
    const file = path.resolve(this.#folder, declared);
    let verdict = this.#known.get(file);
    if (verdict === undefined) {
      verdict = this.#look(file, declared);
      this.#known.set(file, verdict);
    }
    const { wrong, bytes = 0 } = await verdict;
    if (wrong === undefined) return { file, bytes };
    this.#reports.error(wrong.code, where, wrong.message, wrong.hint);
    return undefined;
  }

  async #look(file: string, declared: string): Promise<Verdict> {
    if (declared.includes('\0')) return missing(declared, 'A path cannot hold a NUL character.');
    let facts: Awaited<ReturnType<FilePort['facts']>>;
    try {
      facts = await this.#files.facts(file);
    } catch (error) {
      return missing(
        declared,
        `It cannot be looked at: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
    if (facts === undefined) return missing(declared, 'Paths are relative to the pipeline file.');
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
