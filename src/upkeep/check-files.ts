import { createHash } from 'node:crypto';
import type { ArtifactStore } from '../artifacts/store/store.ts';
import type { Artifact } from '../plan/job.ts';
import type { Looked } from './finding.ts';

/**
 * Compares a file with its size and hash in the state.
 *
 * @throws SaveError if the store fails; the signal's reason
 */
export async function checkArtifact(
  artifacts: Pick<ArtifactStore, 'open'>,
  { file, bytes, sha256 }: Artifact,
  looked: Looked,
  signal: AbortSignal,
): Promise<'whole' | 'missing' | 'changed'> {
  const found = await artifacts.open(file);
  if (!found.ok) return 'missing';
  try {
    looked.files += 1;
    if (found.bytes !== bytes) return 'changed';
    const hash = createHash('sha256');
    for await (const piece of found.pieces()) {
      signal.throwIfAborted();
      hash.update(piece);
      looked.bytes += piece.length;
    }
    return hash.digest('hex') === sha256 ? 'whole' : 'changed';
  } finally {
    await found.close();
  }
}
