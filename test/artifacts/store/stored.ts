import type { ArtifactStore } from '../../../src/artifacts/store/store.ts';

/** Stores a file of this content; without one, of its own name. */
export async function put(store: ArtifactStore, name: string, content = name): Promise<void> {
  const file = await store.put(name.slice(0, name.lastIndexOf('.')));
  await file.write(Buffer.from(content));
  await file.finish(name);
}

/** Names of the files whose names begin so. */
export async function listed(store: ArtifactStore, prefix = ''): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const name of store.list(prefix)) names.push(name);
  return names;
}
