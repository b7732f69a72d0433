import { join, resolve } from 'node:path';
import type { Pipeline } from '../pipeline/pipeline.ts';

/** Names within a run directory (DESIGN.md section 7); the state's own names are the state room's. */
export const runFiles = {
  manifest: 'manifest.csv',
  record: 'run.json',
  log: 'run.log',
  images: 'images',
  texts: 'text',
  videos: 'video',
  /** Copies of the tables that the last run was planned from. */
  inputs: 'inputs',
  /** The tasks of the local service, with `--sandbox`. */
  sandbox: 'sandbox',
} as const;

/**
 * Where a pipeline's run lies: `--out`, else `runs/<name>`, and with `--sandbox` `runs/<name>.sandbox`, so that
 * rehearsed images never mix with real ones. Absolute.
 */
export const runDirectory = (
  pipeline: Pick<Pipeline, 'name'>,
  flags: { readonly out?: string | undefined; readonly sandbox: boolean },
  cwd: string,
): string =>
  resolve(cwd, flags.out ?? join('runs', flags.sandbox ? `${pipeline.name}.sandbox` : pipeline.name));
