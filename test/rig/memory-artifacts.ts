import { createHash } from 'node:crypto';
import { isArtifactName } from '../../src/artifacts/store/names.ts';
import type { ArtifactStore, IncomingArtifact } from '../../src/artifacts/store/store.ts';

/** An ArtifactStore in memory, with the contract of the folder (the same suite runs on both). */
export interface MemoryArtifacts extends ArtifactStore {
  /** How many files are being received, and are neither finished nor discarded. */
  readonly unfinished: number;
}

/** @param files what the store holds, by name; another store over the same map is the next run */
export function memoryArtifacts(files = new Map<string, Buffer>()): MemoryArtifacts {
  const incoming = new Set<IncomingArtifact>();
  const check = (name: string): void => {
    if (!isArtifactName(name))
      throw new Error(`Internal error: no artifact is called ${JSON.stringify(name)}.`);
  };
  return {
    get unfinished() {
      return incoming.size;
    },
    put: (path) => {
      check(path);
      const file = receive(files, check, () => incoming.delete(file));
      incoming.add(file);
      return Promise.resolve(file);
    },
    get: (name, maxBytes) => {
      const bytes = files.get(name);
      if (!isArtifactName(name)) return Promise.resolve({ ok: false, why: 'outside' });
      if (bytes === undefined) return Promise.resolve({ ok: false, why: 'missing' });
      if (bytes.length > maxBytes) return Promise.resolve({ ok: false, why: 'too-large' });
      return Promise.resolve({ ok: true, bytes: Buffer.from(bytes) });
    },
    open: (name) => {
      const bytes = files.get(name);
      if (!isArtifactName(name)) return Promise.resolve({ ok: false, why: 'outside' });
      if (bytes === undefined) return Promise.resolve({ ok: false, why: 'missing' });
      return Promise.resolve({
        ok: true,
        bytes: bytes.length,
        pieces: async function* (from = 0, before = bytes.length) {
          yield await Promise.resolve(Buffer.from(bytes.subarray(from, before)));
        },
        close: () => Promise.resolve(),
      });
    },
    async *list(prefix) {
      for (const name of [...files.keys()].sort()) if (name.startsWith(prefix)) yield name;
    },
    remove: async (names) => {
      for (const name of names) check(name);
      return await Promise.resolve(names.map((name) => files.delete(name)).some(Boolean));
    },
    close: () => Promise.resolve(),
  };
}

function receive(
  files: Map<string, Buffer>,
  check: (name: string) => void,
  over: () => void,
): IncomingArtifact {
  let bytes = Buffer.alloc(0);
  let isSealed = false;
  return {
    get size() {
      return bytes.length;
    },
    get sha256() {
      return createHash('sha256').update(bytes).digest('hex');
    },
    write: (chunk) => {
      if (isSealed) throw new Error('A sealed file was written to.');
      bytes = Buffer.concat([bytes, chunk]);
      return Promise.resolve();
    },
    read: (position, length) => Promise.resolve(bytes.subarray(position, position + length)),
    seal: () => {
      isSealed = true;
      return Promise.resolve();
    },
    finish: (name) => {
      check(name);
      isSealed = true;
      files.set(name, bytes);
      over();
      return Promise.resolve();
    },
    discard: () => {
      over();
      return Promise.resolve();
    },
  };
}
