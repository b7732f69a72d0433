import path from 'node:path';
import type { FilePort } from '../../src/pipeline/files.ts';
import { listingText } from '../../src/pipeline/matrix/table/glob.ts';
import { type FolderEntry, type Folders, listFiles } from '../../src/pipeline/matrix/table/list-files.ts';

/** What stands in the folders of files that are known by their absolute paths; folders come last, as nobody sorts them. */
const entriesOf = (names: () => Iterable<string>, links: ReadonlySet<string>): Folders['entries'] =>
  async function* (folder) {
    const found = new Map<string, FolderEntry['kind']>();
    for (const name of names()) {
      const way = path.relative(folder, name);
      const [head = '', ...rest] = way.split(path.sep);
      if (head === '..' || head === '') continue;
      found.set(head, links.has(name) ? 'link' : rest.length > 0 ? 'folder' : 'file');
    }
    for (const [name, kind] of [...found].toReversed()) yield { name, kind };
  };

/** `FilePort.list` over files in memory. */
export const memoryListing = (
  files: Pick<FilePort, 'root' | 'facts'>,
  names: () => Iterable<string>,
  links: ReadonlySet<string> = new Set(),
): FilePort['list'] =>
  async function* (listing) {
    const facts: FilePort['facts'] = async (file) => {
      const own = await files.facts(file);
      if (own !== undefined) return own;
      const below = file.endsWith(path.sep) ? file : `${file}${path.sep}`;
      const isFolder = [...names()].some((name) => name.startsWith(below));
      return isFolder ? { kind: 'folder', realPath: file, bytes: 0 } : undefined;
    };
    const found = await listFiles(listing, { root: files.root, facts, entries: entriesOf(names, links) });
    yield Buffer.from(listingText(found));
  };
