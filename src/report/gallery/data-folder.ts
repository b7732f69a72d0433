import { type FileHandle, mkdir, open, readdir, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isMissing, syncFolderAsync } from '../../state/files/folders.ts';
import { kindAt } from '../../state/files/plain-path.ts';
import { unfinishedName } from '../../state/files/unfinished.ts';
import { reportFiles } from '../facts/layout.ts';
import { packResults } from '../results/pack.ts';
import type { PageDetail, PageResult, PageSummary } from '../results/wire.ts';

/**
 * Returns JSON as a script that calls a function: `promptpress.results(0,JSON.parse('…'))`. `JSON.parse` keeps a member called
 * `__proto__` harmless; the text is escaped so that it cannot end the string, the script or its element.
 */
export const callOf = (name: string, json: string, index?: number): string =>
  `${callStart(name, index)}${scriptJson(json)}${callEnd}`;

/** The text before the JSON, which may follow in pieces. */
const callStart = (name: string, index?: number): string =>
  `promptpress.${name}(${index === undefined ? '' : `${index},`}JSON.parse('`;

const callEnd = `'));\n`;

/** Escapes a chunk of JSON for a string in single quotes. JSON itself already escapes lone surrogates. */
const scriptJson = (json: string): string =>
  json.replaceAll(/[\\'<\u2028\u2029]/g, (character) => escapes[character] ?? '');

const escapes: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  "'": "\\'",
  // Prevents `</script` and `<!--` in the output.
  '<': '\\x3c',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
};

/** Number of results in one file of results or details. */
export const resultsPerFile = 2000;
export const detailsPerFile = 500;

/** Pattern of file names in the data folder. */
export const dataFile = /^(?:summary|(?:results|details)-\d{5,})\.js$/;

export const summaryFile = 'summary.js';

/** Beginning of `summary.js`, by which a folder is recognised as a report. */
export const summaryStart = callStart('summary');

/** Number of characters of details that are buffered before a write. */
const maxHeld = 256 * 1024;

const numbered = (name: string, index: number): string => `${name}-${String(index).padStart(5, '0')}.js`;

/**
 * Writer of a report's data. Files go to a temporary folder, which replaces the old data folder when they are complete. The results of
 * one file and a buffer of details are in memory.
 */
export class DataFolder {
  readonly #report: string;
  readonly #folder: string;
  readonly #steps: readonly string[];
  #results: PageResult[] = [];
  #files = 0;
  #details = 0;
  #detailsFile: FileHandle | undefined;
  #held = '';

  private constructor(report: string, folder: string, steps: readonly string[]) {
    this.#report = report;
    this.#folder = folder;
    this.#steps = steps;
  }

  /** Creates the temporary folder. @param report its existing parent @param steps names of all steps, in the order of the summary */
  static async begin(report: string, steps: readonly string[]): Promise<DataFolder> {
    const folder = unfinishedName(join(report, reportFiles.data));
    await mkdir(folder);
    return new DataFolder(report, folder, steps);
  }

  async add(result: PageResult, detail: PageDetail): Promise<void> {
    this.#results.push(result);
    if (this.#results.length === resultsPerFile) await this.#writeResults();
    await this.#addDetail(detail);
  }

  /** Writes the remaining files and replaces the old data folder. */
  async finish(summary: PageSummary): Promise<void> {
    if (this.#results.length > 0) await this.#writeResults();
    await this.#endDetails();
    await this.#write(summaryFile, callOf('summary', JSON.stringify(summary)));
    await syncFolderAsync(this.#folder);
    const place = join(this.#report, reportFiles.data);
    const before = unfinishedName(place);
    const isReplaced = await moved(place, before);
    try {
      await rename(this.#folder, place);
    } catch (error) {
      if (isReplaced) await rename(before, place);
      throw error;
    }
    await syncFolderAsync(this.#report);
    if (isReplaced) await removeData(before);
  }

  /** Whether another writer has removed the temporary folder. */
  get isGone(): boolean {
    return kindAt(this.#folder) === 'nothing';
  }

  /** Removes the temporary folder; the old data stays. */
  async discard(): Promise<void> {
    await this.#detailsFile?.close();
    this.#detailsFile = undefined;
    await removeData(this.#folder);
  }

  async #writeResults(): Promise<void> {
    const json = JSON.stringify(packResults(this.#results, this.#steps));
    await this.#write(numbered('results', this.#files), callOf('results', json, this.#files));
    this.#results = [];
    this.#files += 1;
  }

  async #addDetail(detail: PageDetail): Promise<void> {
    const index = this.#details / detailsPerFile;
    if (this.#detailsFile === undefined) {
      this.#detailsFile = await open(join(this.#folder, numbered('details', index)), 'wx');
      this.#held = `${callStart('details', index)}[`;
    } else this.#held += ',';
    this.#held += scriptJson(JSON.stringify(detail));
    this.#details += 1;
    if (this.#details % detailsPerFile === 0) await this.#endDetails();
    else if (this.#held.length > maxHeld) {
      const text = this.#held;
      this.#held = '';
      await this.#detailsFile.writeFile(text);
    }
  }

  async #endDetails(): Promise<void> {
    if (this.#detailsFile === undefined) return;
    await this.#detailsFile.writeFile(`${this.#held}]${callEnd}`);
    await this.#detailsFile.sync();
    await this.#detailsFile.close();
    this.#detailsFile = undefined;
    this.#held = '';
  }

  async #write(name: string, text: string): Promise<void> {
    await writeFile(join(this.#folder, name), text, { flag: 'wx', flush: true });
  }
}

async function moved(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

/** Removes the data files of a report from a folder, and the folder if nothing else is in it. */
export async function removeData(folder: string): Promise<void> {
  for (const name of await entriesOf(folder))
    if (dataFile.test(name)) await rm(join(folder, name), { force: true });
  try {
    await rmdir(folder);
  } catch (error) {
    if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

/** Returns the names in a folder; none if there is no such folder. */
export async function entriesOf(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}
