import { createHash } from 'node:crypto';
import { openArtifactFile } from '../artifacts/store/open-file.ts';
import type { Artifact } from '../plan/job.ts';
import type { Looked } from './finding.ts';

const pieceBytes = 1024 * 1024;

/**
 * Compares a file with what the state says of it, byte for byte.
 *
 * @throws SaveError, where the disk fails; the signal's reason
 */
export async function checkArtifact(
  directory: string,
  { file, bytes, sha256 }: Artifact,
  looked: Looked,
  signal: AbortSignal,
): Promise<'whole' | 'missing' | 'changed'> {
  const found = await openArtifactFile(directory, file);
  if (!found.ok) return 'missing';
  const { handle } = found;
  try {
    looked.files += 1;
    if (found.bytes !== bytes) return 'changed';
    const hash = createHash('sha256');
    const buffer = Buffer.allocUnsafe(Math.max(1, Math.min(pieceBytes, bytes)));
    for (let at = 0; ; ) {
      signal.throwIfAborted();
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, at);
      if (bytesRead === 0) break;
      hash.update(buffer.subarray(0, bytesRead));
      at += bytesRead;
      looked.bytes += bytesRead;
    }
    return hash.digest('hex') === sha256 ? 'whole' : 'changed';
  } finally {
    await handle.close();
  }
}
