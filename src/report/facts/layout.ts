import { join, resolve } from 'node:path';
import { isS3Address } from '../../artifacts/store/s3/address.ts';
import type { Pipeline } from '../../pipeline/pipeline.ts';
import { repliesFolder } from '../../state/files/segment-files.ts';

/** Names within a run directory; the state's own names are the state room's. */
export const runFiles = {
  manifest: 'manifest.csv',
  record: 'run.json',
  log: 'run.log',
  /** Of which run on an engine the files are. */
  engine: 'engine.json',
  images: 'images',
  /** Whole replies of text calls. */
  replies: repliesFolder,
  videos: 'video',
  /** Copies of the tables that the last run was planned from. */
  inputs: 'inputs',
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
  /** The run directory, or the place of its files in a bucket. */
  readonly out?: string | undefined;
  /** The run directory, where `out` is a place in a bucket. */
  readonly 'run-directory'?: string | undefined;
  readonly sandbox: boolean;
}

/** Whether a user has named the run directory, and not only its pipeline. */
export const namesDirectory = ({ out, 'run-directory': named }: Omit<DirectoryFlags, 'sandbox'>): boolean =>
  named !== undefined || (out !== undefined && !isS3Address(out));

/** Name of the fact that says where the files of a run lie that do not lie in its directory: `s3://bucket/prefix`. */
export const artifactPlaceFact = 'artifacts.place';

/** A table in `inputs/`, by its hash, and one that is being copied. */
export const inputFile = /^[0-9a-f]{64}$|\.part$/;

/**
 * Where a pipeline's run lies: `--out`, relative to the current folder, else `runs/<name>` beside the pipeline file,
 * wherever the command is started; where `--out` is a place in a bucket, `--run-directory` says it in its stead; with `--sandbox` `runs/<name>.sandbox`, so that rehearsed images never mix with real
 * ones. Absolute.
 */
export const runDirectory = (
  pipeline: Pick<Pipeline, 'name' | 'source'>,
  flags: DirectoryFlags,
  cwd: string,
): string =>
  namesDirectory(flags)
    ? resolve(cwd, flags['run-directory'] ?? flags.out ?? '')
    : join(pipeline.source.folder, runsFolder, flags.sandbox ? `${pipeline.name}.sandbox` : pipeline.name);
