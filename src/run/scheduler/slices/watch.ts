import type { CellSource } from '../../ports.ts';
import type { RunInput } from '../commit.ts';

/** Passes a run the slices that it has lost, and whether dead workers have left slices. @returns a function that ends the watch */
export function watchSource(source: CellSource, accept: (input: RunInput) => void): () => void {
  const unwatch = [
    source.onLost?.((lease) => accept({ type: 'lost', lease })),
    source.onOrphans?.((areThere) => accept({ type: 'orphans', areThere })),
  ];
  return () => {
    for (const end of unwatch) end?.();
  };
}
