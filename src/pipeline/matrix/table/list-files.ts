import path from 'node:path';
import { type FilePort, isGitName, placeOf } from '../../files.ts';
import { TableError, tableLimits } from './error.ts';
import { type FileGlob, type GlobPart, listingParts, partMatches, readGlob } from './glob.ts';

/** An entry of a folder; links are not followed. */
export interface FolderEntry {
  readonly name: string;
  readonly kind: 'file' | 'folder' | 'link' | 'other';
}

/** Access to the folders that {@link listFiles} reads. */
export interface Folders extends Pick<FilePort, 'root' | 'facts'> {
  entries(folder: string): AsyncIterable<FolderEntry>;
}

/**
 * Folder with a pipeline's runs, beside the pipeline. Wildcards skip it: a pipeline that made rows of its own images would ask for more
 * of them in every run. A glob that begins with this name is allowed.
 */
const runsFolder = 'runs';

/** A folder of a listing that has not been read yet. */
interface Open {
  /** Absolute path. */
  readonly folder: string;
  /** Path from the base of the glob, with `/`; empty for the base itself. */
  readonly way: string;
  /** Indexes of the glob parts that entries of this folder may match, in order. */
  readonly at: readonly number[];
}

/**
 * Lists the files of a listing relative to the pipeline, with `/`, sorted by code unit: the same on every machine. A link to a file
 * counts if it leads to a file inside the root; `**` does not follow links, which may form cycles.
 *
 * @param listing see `listingName`; its glob has passed the checks
 * @throws TableError `table.outside` | `table.too-many` | `table.unreadable`
 */
export async function listFiles(listing: string, folders: Folders): Promise<readonly string[]> {
  const { folder, glob: written } = listingParts(listing);
  const read = readGlob(written);
  if ('diagnostic' in read) throw new Error(`Internal error: the glob ${written} passed the checks`);
  return await new Walk(read.glob, folder, folders).files();
}

class Walk {
  readonly #glob: FileGlob;
  readonly #base: string;
  readonly #runs: string;
  readonly #folders: Folders;
  readonly #found: string[] = [];
  #searched = 0;

  constructor(glob: FileGlob, folder: string, folders: Folders) {
    this.#glob = glob;
    this.#base = path.resolve(folder, glob.base);
    this.#runs = path.resolve(folder, runsFolder);
    this.#folders = folders;
  }

  async files(): Promise<readonly string[]> {
    if ((await this.#follow(this.#base, '')) !== 'folder') return [];
    const open: Open[] = [{ folder: this.#base, way: '', at: this.#reached([0]) }];
    for (let next = open.pop(); next !== undefined; next = open.pop())
      open.push(...(await this.#listFolder(next)));
    return this.#found.sort();
  }

  /** Collects the matching files of a folder; returns the folders to read next. */
  async #listFolder({ folder, way, at }: Open): Promise<readonly Open[]> {
    const { parts } = this.#glob;
    const on: Open[] = [];
    for await (const entry of this.#folders.entries(folder)) {
      this.#count();
      const below = way === '' ? entry.name : `${way}/${entry.name}`;
      const wanted = at.filter((index) => fits(parts[index] as GlobPart, entry, index === parts.length - 1));
      if (wanted.length === 0) continue;
      const target = path.join(folder, entry.name);
      if (target === this.#runs) continue;
      const kind = entry.kind === 'link' ? await this.#follow(target, below) : entry.kind;
      if (kind === 'file' && wanted.includes(parts.length - 1)) this.#take(below);
      else if (kind === 'folder') {
        const next = this.#reached(
          wanted.flatMap((index) => {
            if ((parts[index] as GlobPart).kind === 'folders') return [index];
            return index + 1 < parts.length ? [index + 1] : [];
          }),
        );
        if (next.length > 0) on.push({ folder: target, way: below, at: next });
      }
    }
    return on;
  }

  /** Adds the parts after each `**`, which may match zero folders. */
  #reached(indexes: readonly number[]): readonly number[] {
    const { parts } = this.#glob;
    return [...new Set(indexes.flatMap((at) => (parts[at]?.kind === 'folders' ? [at, at + 1] : [at])))];
  }

  #shown(way: string): string {
    return [this.#glob.base, way].filter((part) => part !== '').join('/');
  }

  #take(way: string): void {
    this.#found.push(this.#shown(way));
    if (this.#found.length <= tableLimits.files) return;
    const message = `The glob matches more than ${tableLimits.files} files; list them in a table.`;
    throw new TableError('table.too-many', message, 1);
  }

  #count(): void {
    this.#searched += 1;
    if (this.#searched <= tableLimits.searched) return;
    const message = `More than ${tableLimits.searched} files and folders would have to be searched; name a closer folder.`;
    throw new TableError('table.too-many', message, 1);
  }

  async #follow(target: string, way: string): Promise<'file' | 'folder' | 'other' | undefined> {
    const facts = await this.#folders.facts(target);
    if (facts === undefined && way !== '') {
      const message = `"${this.#shown(way)}" is a link that leads nowhere.`;
      throw new TableError('table.unreadable', message, 1);
    }
    const place = facts === undefined ? 'inside' : placeOf(this.#folders.root, facts.realPath);
    if (place === 'inside') return facts?.kind;
    const why =
      place === 'git'
        ? 'in a folder of git, which no pipeline may read.'
        : `outside the folder that this pipeline may read, which is ${this.#folders.root}; choose another one with --files-root.`;
    throw new TableError('table.outside', `"${this.#shown(way)}" is ${why}`, 1);
  }
}

/** Whether an entry may match a part, or lead to a match. git's own folder never does. */
function fits(part: GlobPart, { name, kind }: FolderEntry, isLast: boolean): boolean {
  if (isGitName(name)) return false;
  if (part.kind === 'names') return partMatches(part, name, isLast);
  return kind === 'folder' && !name.startsWith('.');
}
