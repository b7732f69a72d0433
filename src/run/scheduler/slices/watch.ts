import type { CellSource } from '../../ports.ts';
import type { RunInput } from '../commit.ts';

/** Tells a run of the slices that it has lost, and of those that dead workers have left. @returns what ends the watch */
export function watchSource(source: CellSource, accept: (input: RunInput) => void): () => void {
  const unwatch = [
    source.onLost?.((hold) => accept({ type: 'lost', hold })),
    source.onOrphans?.((areThere) => accept({ type: 'orphans', areThere })),
  ];
  return () => {
    for (const end of unwatch) end?.();
  };
}
