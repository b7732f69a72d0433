import { join, resolve } from 'node:path';
import { isS3Address } from '../../artifacts/store/s3/address.ts';
import type { Pipeline } from '../../pipeline/pipeline.ts';
import { repliesFolder } from '../../state/files/segment-files.ts';

/** Names of files and folders in a run directory, without those of the state. */
export const runFiles = {
  manifest: 'manifest.csv',
  record: 'run.json',
  log: 'run.log',
  /** Identity of the run on an engine whose files are here. */
  engine: 'engine.json',
  images: 'images',
  /** Full replies of text calls. */
  replies: repliesFolder,
  videos: 'video',
  /** Copies of the tables of the last run. */
  inputs: 'inputs',
  /** Tasks of the local service (`--sandbox`). */
  sandbox: 'sandbox',
  /** The gallery (`promptpress report`). */
  report: 'report',
} as const;

/** Names in the folder of a gallery. The other files of the built page lie beside them. */
export const reportFiles = {
  page: 'index.html',
  /** Folder of scripts with the results. */
  data: 'data',
  thumbnails: 'thumbnails',
} as const;

/** Default folder of run directories (without `--out`). */
export const runsFolder = 'runs';

/** The flags that choose the directory of a pipeline's run. */
export interface DirectoryFlags {
  /** Run directory, or the place of its files in a bucket. */
  readonly out?: string | undefined;
  /** Run directory, if `out` is a place in a bucket. */
  readonly 'run-directory'?: string | undefined;
  readonly sandbox: boolean;
}

/** Whether the flags name the run directory itself and not only the pipeline. */
export const namesDirectory = ({ out, 'run-directory': named }: Omit<DirectoryFlags, 'sandbox'>): boolean =>
  named !== undefined || (out !== undefined && !isS3Address(out));

/** Name of the fact with the place of a run's files outside its directory: `s3://bucket/prefix`. */
export const artifactPlaceFact = 'artifacts.place';

/** Name of a table in `inputs/`: its hash. A table being copied ends in `.part`. */
export const inputFile = /^[0-9a-f]{64}$|\.part$/;

/**
 * Returns the absolute run directory of a pipeline: `--run-directory` or a local `--out`, relative to the current folder; else
 * `runs/<name>` beside the pipeline file. With `--sandbox` it is `runs/<name>.sandbox`, so that rehearsed images never mix with real
 * ones.
 */
export const runDirectory = (
  pipeline: Pick<Pipeline, 'name' | 'source'>,
  flags: DirectoryFlags,
  cwd: string,
): string =>
  namesDirectory(flags)
    ? resolve(cwd, flags['run-directory'] ?? flags.out ?? '')
    : join(pipeline.source.folder, runsFolder, flags.sandbox ? `${pipeline.name}.sandbox` : pipeline.name);
