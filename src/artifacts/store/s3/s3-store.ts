import { rm } from 'node:fs/promises';
import { basename } from 'node:path';
import pLimit from 'p-limit';
import { onDisk } from '../../failure.ts';
import type { Placing } from '../incoming.ts';
import { IncomingFolder } from '../incoming-folder.ts';
import { NameMarks } from '../name-marks.ts';
import { type ArtifactRoot, artifactRoots, isArtifactName } from '../names.ts';
import type { ArtifactStore, FoundArtifact } from '../store.ts';
import type { S3Client } from './client.ts';
import { namesUnder, pagesUnder } from './list.ts';
import { look, upload } from './upload.ts';

/** Most names that are removed at the same time. */
const removedAtOnce = 8;

/**
 * Opens the artifacts of a run in a bucket, under the names that they would have in its directory. A file is received on this machine,
 * in the run directory, and gets its name in the bucket once it is complete there.
 *
 * @param directory the run directory; a writer holds its lock
 */
export function openS3Artifacts(client: S3Client, directory: string): ArtifactStore {
  const incoming = new Map(artifactRoots.map((root) => [root, new IncomingFolder(directory, root)]));
  const names = new KnownNames(client);
  const remove = async (name: string): Promise<boolean> => {
    rootOf(name);
    if (!(await names.mayHave(name)) || (await look(client, name)) === undefined) return false;
    await client.ask({ method: 'DELETE', name, doing: `remove "${name}"`, accepts: isMissing });
    return true;
  };
  return {
    put: async (path, like) => {
      const place: Placing = async (file, name) => {
        rootOf(name);
        names.add(name);
        await upload(client, name, file);
        await onDisk(() => rm(file.path, { force: true }));
      };
      return await (incoming.get(rootOf(path)) as IncomingFolder).receive(basename(path), place, like);
    },
    get: (name, maxBytes) => read(client, name, maxBytes),
    open: async (name) => {
      if (!isArtifactName(name)) return { ok: false, why: 'outside' };
      const found = await look(client, name);
      if (found === undefined) return { ok: false, why: 'missing' };
      const { bytes, etag, sha256 } = found;
      return {
        ok: true,
        bytes,
        ...(sha256 === undefined ? {} : { sha256 }),
        pieces: (from = 0, before = bytes) => client.pieces(name, etag, from, before),
        close: () => Promise.resolve(),
      };
    },
    list: async function* (prefix) {
      for await (const name of namesUnder(client, prefix)) if (isArtifactName(name)) yield name;
    },
    remove: async (all) => {
      const limit = pLimit({ concurrency: removedAtOnce, rejectOnClear: true });
      return (await Promise.all(all.map((name) => limit(() => remove(name))))).some(Boolean);
    },
    close: async () => {
      for (const folder of incoming.values()) await folder.close();
    },
  };
}

/** Returns the root of a name. A name comes from a job's key, or from a search of the program itself. */
function rootOf(name: string): ArtifactRoot {
  if (isArtifactName(name)) return name.slice(0, name.indexOf('/')) as ArtifactRoot;
  throw new Error(`Internal error: no artifact is called ${JSON.stringify(name)}.`);
}

const isMissing = ({ status }: { readonly status: number }): boolean => status === 404;

async function read(client: S3Client, name: string, maxBytes: number): Promise<FoundArtifact> {
  if (!isArtifactName(name)) return { ok: false, why: 'outside' };
  const { body, isTooLarge, problem } = await client.ask({
    method: 'GET',
    name,
    doing: `read "${name}"`,
    maxBytes,
    accepts: ({ status, code }) => status === 404 && code !== 'NoSuchBucket',
  });
  if (problem !== undefined) return { ok: false, why: 'missing' };
  return isTooLarge ? { ok: false, why: 'too-large' } : { ok: true, bytes: body };
}

/**
 * The names that may be present, so that not every write has to look for the file under its other possible names. A large store is
 * listed folder by folder on first use, a small one at once. Files that another worker adds meanwhile are not seen: a file in another
 * format under the key of a job is then left over, and `verify` shows it.
 */
class KnownNames {
  readonly #client: S3Client;
  readonly #marks = new NameMarks();
  /** Listings by root, or by folder if a root has more than a page of names. */
  readonly #listings = new Map<string, Promise<boolean>>();

  constructor(client: S3Client) {
    this.#client = client;
  }

  add(name: string): void {
    this.#marks.add(name);
  }

  async mayHave(name: string): Promise<boolean> {
    const [root = '', folder = ''] = name.split('/');
    if (!(await this.#list(`${root}/`, 1))) await this.#list(`${root}/${folder}/`, Number.POSITIVE_INFINITY);
    return this.#marks.mayHave(name);
  }

  /** @returns whether these were all names */
  #list(prefix: string, maxPages: number): Promise<boolean> {
    const known = this.#listings.get(prefix);
    if (known !== undefined) return known;
    const listing = this.#mark(prefix, maxPages);
    this.#listings.set(prefix, listing);
    listing.catch(() => this.#listings.delete(prefix));
    return listing;
  }

  async #mark(prefix: string, maxPages: number): Promise<boolean> {
    let count = 0;
    for await (const { names, isLast } of pagesUnder(this.#client, prefix)) {
      for (const name of names) this.#marks.add(name);
      count += 1;
      if (isLast || count >= maxPages) return isLast;
    }
    return true;
  }
}
