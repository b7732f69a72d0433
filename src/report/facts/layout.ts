import { join, resolve } from 'node:path';
import type { Pipeline } from '../../pipeline/pipeline.ts';
import { repliesFolder } from '../../state/files/segment-files.ts';

/** Names within a run directory; the state's own names are the state room's. */
export const runFiles = {
  manifest: 'manifest.csv',
  record: 'run.json',
  log: 'run.log',
  images: 'images',
  /** Whole replies of text calls. */
  replies: repliesFolder,
  /** Texts of earlier releases. */
  texts: 'text',
  videos: 'video',
  /** Copies of the tables that the last run was planned from. */
  inputs: 'inputs',
  /** Which cells the last run has left nothing to do in. */
  cells: 'settled.cells',
  /** The tasks of the local service, with `--sandbox`. */
  sandbox: 'sandbox',
  /** The gallery (`promptpress report`). */
  report: 'report',
} as const;

/** Names within the folder of a gallery; beside them lie the other files of the built page. */
export const reportFiles = {
  page: 'index.html',
  /** Scripts with the results. */
  data: 'data',
  thumbnails: 'thumbnails',
} as const;

/** Folder of run directories, where `--out` does not say otherwise. */
export const runsFolder = 'runs';

/** The flags that say where a pipeline's run lies. */
export interface DirectoryFlags {
  readonly out?: string | undefined;
  readonly sandbox: boolean;
}

/** A table in `inputs/`, by its hash, and one that is being copied. */
export const inputFile = /^[0-9a-f]{64}$|\.part$/;

/**
 * Where a pipeline's run lies: `--out`, relative to the current folder, else `runs/<name>` beside the pipeline file,
 * wherever the command is started; with `--sandbox` `runs/<name>.sandbox`, so that rehearsed images never mix with real
 * ones. Absolute.
 */
export const runDirectory = (
  pipeline: Pick<Pipeline, 'name' | 'source'>,
  flags: DirectoryFlags,
  cwd: string,
): string =>
  flags.out === undefined
    ? join(pipeline.source.folder, runsFolder, directoryName(pipeline, flags))
    : resolve(cwd, flags.out);

/** Name of a default run directory. */
export const directoryName = (
  { name }: Pick<Pipeline, 'name'>,
  { sandbox }: Pick<DirectoryFlags, 'sandbox'>,
): string => (sandbox ? `${name}.sandbox` : name);
