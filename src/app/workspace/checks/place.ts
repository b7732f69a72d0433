import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  type DirectoryFlags,
  directoryName,
  namesDirectory,
  runDirectory,
  runsFolder,
} from '../../../report/facts/layout.ts';
import { seenFrom } from '../../../report/facts/place.ts';
import { quoted } from '../../../report/text/printable.ts';
import { checkDirectory } from '../../../state/binding.ts';
import { openStateForReading } from '../../../state/state.ts';
import { StateError } from '../../../state/store.ts';
import { usageError } from '../../errors/cli-error.ts';
import { s3PlaceOf } from '../../service/artifact-place.ts';
import type { ReadPipeline } from '../read-pipeline.ts';

/**
 * The run directory of a pipeline file that the user named, as `runDirectory` has it. Every command that takes FILE
 * finds it here.
 *
 * A run of this pipeline may lie in `runs/<name>` of the current folder, where earlier releases put it. It is not run
 * again beside that, which would pay for all of it again.
 *
 * @throws CliError (exit 2) where nothing has run in the default directory and a run of this pipeline lies in that
 *   other place, with both ways on; StateError where what lies there cannot be read
 */
export async function placeOfRun(
  { pipeline, path }: Pick<ReadPipeline, 'pipeline' | 'path'>,
  flags: DirectoryFlags,
  cwd: string,
): Promise<string> {
  if (flags['run-directory'] !== undefined && s3PlaceOf(flags.out) === undefined)
    throw usageError(
      '--run-directory goes together with --out s3://…',
      'Where the files lie in the run directory, --out names it.',
    );
  const directory = runDirectory(pipeline, flags, cwd);
  if (namesDirectory(flags)) return directory;
  const earlier = join(cwd, runsFolder, directoryName(pipeline, flags));
  if (isOnePlace(earlier, directory) || (await hasState(directory))) return directory;
  if (!(await holdsRunOf(earlier, { file: path, text: pipeline.source.text }))) return directory;

  const [from, to] = [earlier, directory].map((place) => seenFrom(cwd, place));
  throw usageError(
    `A run of ${pipeline.source.file} lies in ${from}. Its directory is ${to}, beside the pipeline file, where nothing has run: what is done would be paid for again.`,
    `Move it there:        ${moving(earlier, directory, cwd)}\nOr use it as it lies: --out ${quoted(from ?? '')}`,
  );
}

/** True where links lead from one to the other. */
function isOnePlace(a: string, b: string): boolean {
  try {
    return a === b || realpathSync(a) === realpathSync(b);
  } catch {
    // Where one of them is not there.
    return false;
  }
}

/** True also for a state that cannot be read: the command that opens it reports why. */
async function hasState(directory: string): Promise<boolean> {
  try {
    const state = openStateForReading(directory);
    await state?.close();
    return state !== undefined;
  } catch {
    return true;
  }
}

async function holdsRunOf(
  directory: string,
  pipeline: Parameters<typeof checkDirectory>[2],
): Promise<boolean> {
  try {
    const state = openStateForReading(directory);
    if (state === undefined) return false;
    try {
      await checkDirectory(state, directory, pipeline);
      return true;
    } finally {
      await state.close();
    }
  } catch (error) {
    // Another pipeline's, or another program's.
    if (error instanceof StateError && error.code === 'state.foreign') return false;
    throw error;
  }
}

/** A command line that leaves nothing behind: `mv` into a folder that is there would put the one inside the other. */
function moving(from: string, to: string, cwd: string): string {
  const word = (place: string): string => quoted(seenFrom(cwd, place));
  const before = existsSync(to)
    ? `mv ${word(to)} ${word(`${to}.before`)} && `
    : existsSync(dirname(to))
      ? ''
      : `mkdir -p ${word(dirname(to))} && `;
  return `${before}mv ${word(from)} ${word(to)}`;
}
