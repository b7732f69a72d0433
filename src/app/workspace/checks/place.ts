import type { Pipeline } from '../../../pipeline/pipeline.ts';
import { type DirectoryFlags, runDirectory } from '../../../report/facts/layout.ts';
import { usageError } from '../../errors/cli-error.ts';
import { s3PlaceOf } from '../../service/artifact-place.ts';

/**
 * Returns the run directory of a pipeline file, like `runDirectory`. Every command with an operand FILE uses this.
 *
 * @throws CliError (exit 2) for contradicting flags
 */
export function placeOfRun(
  pipeline: Pick<Pipeline, 'name' | 'source'>,
  flags: DirectoryFlags,
  cwd: string,
): string {
  if (flags['run-directory'] !== undefined && s3PlaceOf(flags.out) === undefined)
    throw usageError(
      '--run-directory goes together with --out s3://…',
      'If the files are in the run directory, --out names it.',
    );
  return runDirectory(pipeline, flags, cwd);
}
