import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { maxFileBytes } from '../../src/artifacts/media.ts';
import type { ArtifactStore } from '../../src/artifacts/store/store.ts';
import { type Copied, copyArtifacts, copyAsStated } from '../../src/upkeep/copy.ts';
import { imagineRecord } from '../rig/jobs.ts';
import { memoryArtifacts } from '../rig/memory-artifacts.ts';
import { memoryStore } from '../rig/memory-store.ts';

const files = new Map<string, Buffer>();
const state = memoryStore();
for (let n = 0; n < 20; n += 1) {
  const key = createHash('sha256').update(String(n)).digest('hex').slice(0, 12);
  const file = `images/${key.slice(0, 2)}/${key}-1.png`;
  const bytes = Buffer.from(`image ${n}`);
  files.set(file, bytes);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const artifacts = [
    { file, bytes: bytes.length, sha256, output: 1, mime: 'image/png', width: 1, height: 1 },
  ];
  state.commit({ records: [imagineRecord({ key, status: 'done', artifacts })], attempts: [] });
}
const source = memoryArtifacts(files);

/** A store whose process is killed at its n-th call, and the names that files got there. */
function mortal(to: ArtifactStore, n: number): { readonly store: ArtifactStore; readonly named: string[] } {
  let calls = 0;
  const named: string[] = [];
  const alive = (): void => {
    calls += 1;
    if (calls >= n) throw new Error('killed');
  };
  const store: ArtifactStore = {
    ...to,
    open: async (name) => {
      alive();
      return await to.open(name);
    },
    put: async (path) => {
      alive();
      const file = await to.put(path);
      return {
        get size() {
          return file.size;
        },
        get sha256() {
          return file.sha256;
        },
        read: (position, length) => file.read(position, length),
        write: async (chunk) => {
          alive();
          await file.write(chunk);
        },
        seal: () => file.seal(),
        finish: async (name) => {
          alive();
          named.push(name);
          await file.finish(name);
        },
        discard: () => file.discard(),
      };
    },
  };
  return { store, named };
}

const copy = (to: ArtifactStore, from: ArtifactStore = source): Promise<Copied> =>
  copyArtifacts(from, to, state.reader, new AbortController().signal, () => undefined);

describe('copying the artifacts of a state', () => {
  it('continues after a kill at any call, and never gives a partial file its final name', async () => {
    for (let n = 1, isKilled = true; isKilled; n += 1) {
      const there = new Map<string, Buffer>();
      const target = memoryArtifacts(there);
      const first = mortal(target, n);
      isKilled = await copy(first.store).then(
        () => false,
        () => true,
      );
      expect(target.unfinished).toBe(0);
      for (const [name, bytes] of there) expect(files.get(name)?.equals(bytes)).toBe(true);
      const second = mortal(target, Number.POSITIVE_INFINITY);
      const copied = await copy(second.store);
      expect([copied.files + copied.there, copied.faults]).toEqual([20, 0]);
      expect([...first.named, ...second.named].toSorted()).toEqual([...files.keys()].toSorted());
    }
  });

  it('replaces different files in the target, and rejects files that differ from the state', async () => {
    const [[changed = '', bytes = Buffer.alloc(0)] = [], [gone = ''] = []] = files;
    const lacking = new Map(files);
    lacking.set(changed, Buffer.from(bytes).reverse());
    lacking.delete(gone);
    const there = new Map([[[...files.keys()][2] ?? '', Buffer.from('image x')]]);
    const copied = await copy(memoryArtifacts(there), memoryArtifacts(lacking));
    expect(copied).toMatchObject({ files: 18, there: 0, faults: 2 });
    expect(copied.named.toSorted()).toEqual([changed, gone].toSorted());
    for (const name of copied.named) lacking.delete(name);
    expect(there).toEqual(lacking);
  });
});

it('a copy skips files that match the state, whether or not a store records hashes', async () => {
  const [first = '', second = '', third = '', ...others] = files.keys();
  const content = files.get(second) ?? Buffer.alloc(0);
  // One that is whole, one of another length, one with other bytes of the same length; all others are not there.
  const there = new Map([
    [first, files.get(first) ?? Buffer.alloc(0)],
    [second, Buffer.concat([content, content])],
    [third, Buffer.from((files.get(third)?.toString() ?? '').toUpperCase())],
  ]);
  for (const notesHashes of [true, false]) {
    const to = memoryArtifacts(new Map(there));
    const noting: Pick<ArtifactStore, 'open' | 'put'> = {
      put: (path) => to.put(path),
      open: async (name) => {
        const found = await to.open(name);
        if (!found.ok) return found;
        const { sha256: _, ...plain } = found;
        const bytes = there.get(name) ?? Buffer.alloc(0);
        const sha256 = createHash('sha256').update(bytes).digest('hex');
        return notesHashes ? { ...plain, sha256 } : plain;
      },
    };
    const copied = await copyArtifacts(source, noting, state.reader, new AbortController().signal, () => {});
    expect([notesHashes, copied.there, copied.files, copied.faults]).toEqual([
      notesHashes,
      1,
      others.length + 2,
      0,
    ]);
  }
});

it('a file of another state is not opened where it is larger than a download may be', async () => {
  const key = 'a'.repeat(12);
  const from = { open: () => Promise.reject(new Error('opened')) };
  for (const [folder, extension, most] of [
    ['images', 'png', maxFileBytes.image],
    ['video', 'mp4', maxFileBytes.video],
  ] as const) {
    const artifact = { file: `${folder}/aa/${key}-1.${extension}`, sha256: '', output: 1, mime: 'image/png' };
    const copied = (bytes: number) =>
      copyAsStated(
        key,
        { ...artifact, bytes },
        from,
        memoryArtifacts(new Map()),
        new AbortController().signal,
      );
    expect(await copied(most + 1)).toBe('fault');
    await expect(copied(most)).rejects.toThrow('opened');
  }
});
