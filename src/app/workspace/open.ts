import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { isS3Address } from '../../artifacts/store/s3/address.ts';
import type { Pipeline } from '../../pipeline/pipeline.ts';
import { type DirectoryFlags, runFiles } from '../../report/facts/layout.ts';
import { placeOfDirectory, type RunPlace, seenFrom } from '../../report/facts/place.ts';
import { quoted, shownLine } from '../../report/text/printable.ts';
import { kindAt } from '../../state/files/plain-path.ts';
import type { StateReader } from '../../state/reader.ts';
import type { StateChanges } from '../../state/sqlite/changes.ts';
import { openStateForReading } from '../../state/state.ts';
import type { Context } from '../context.ts';
import { usageError } from '../errors/cli-error.ts';
import { adding, exchangingWord, without, writing } from '../errors/correction.ts';
import { refuseOtherPlace } from '../service/artifact-place.ts';
import { engineVariable, givenEngine, isEngineWord } from '../service/engine/connect.ts';
import type { DirectoryUse } from '../service/engine/directory.ts';
import type { EngineRun } from '../service/engine/run.ts';
import { checkRunDirectory } from './checks/directory.ts';
import { refuseOtherDirectory } from './checks/owned.ts';
import { placeOfRun } from './checks/place.ts';
import { checkAge } from './checks/stale-state.ts';
import { checkPipeline } from './read-pipeline.ts';

/** A run that the user named by its directory, its pipeline, or its name on an engine. */
export interface RunTarget {
  /** Absolute path of the folder with its files, or where a command may write. */
  readonly directory: string;
  readonly place: RunPlace;
  readonly state: StateReader & StateChanges;
  /** The run on an engine, if it is one. */
  readonly engine?: EngineRun;
  /** Absolute path of the pipeline that the user named; absent: the user named the run. */
  readonly file?: string;
}

/** The flags that select a run and say whether its directory is trusted. */
export type TargetFlags = DirectoryFlags & { readonly 'trust-directory': boolean };

/**
 * Opens the run that `FILE|DIR` means: a folder is the run directory, a file is a pipeline with a run in its default directory,
 * `postgres://…#name` is a run on an engine. If the environment names an engine, a pipeline's run is there, as for `run`. The caller closes
 * the state.
 *
 * @param needs what the command needs of the run's directory, for a run on an engine
 * @throws CliError (exit 2) if nothing has run there, with a place where something has
 */
export async function openTarget(
  target: string,
  flags: TargetFlags,
  context: Context,
  needs: DirectoryUse = 'nothing',
): Promise<RunTarget> {
  const { cwd } = context.io;
  if (isEngineWord(target)) return await onEngine(target, undefined, flags, needs, context);
  const { directory, pipeline, file } = await directoryOf(target, flags, context);
  const named = file === undefined ? {} : { file };
  if (pipeline !== undefined)
    return { ...(await onEngine(undefined, pipeline.name, flags, needs, context)), ...named };
  await checkRunDirectory(directory, { trusted: flags['trust-directory'] }, context.io.env);
  const state = openStateForReading(directory);
  if (state !== undefined) {
    try {
      await refuseOtherPlace(flags.out, directory, state);
    } catch (error) {
      await state.close();
      throw error;
    }
    return { directory, state, place: placeOfDirectory(directory, cwd), ...named };
  }

  const near = seenFrom(cwd, directory);
  // A full stop after ".." would look like another folder.
  const place = near.endsWith('..') || near.length > directory.length ? directory : near;
  await refuseFilesOfEngine(target, directory, place);
  await checkAge(undefined, directory, context.io.env);
  throw await noRun(target, directory, place, flags, context);
}

/**
 * Opens a run for a command that takes only runs on engines. The caller closes the state.
 *
 * @throws CliError (exit 2) for a run of one machine
 */
export async function openEngineTarget(
  command: string,
  target: string,
  context: Context,
): Promise<EngineRun> {
  if (!isEngineWord(target) && givenEngine(undefined, context.io) === undefined)
    throw usageError(
      `promptpress ${command} takes a run on an engine, and none is named.`,
      `Name it: promptpress ${command} "postgres://user@host:5432/database#NAME"; or name its pipeline, with the engine in ${engineVariable}.`,
    );
  const flags = { out: undefined, sandbox: false, 'trust-directory': false };
  const { engine } = await openTarget(target, flags, context);
  if (engine === undefined)
    throw usageError(
      `${target} is a run of one machine.`,
      'Name a pipeline file, or postgres://…#NAME, for a run on an engine.',
    );
  return engine;
}

async function onEngine(
  given: string | undefined,
  name: string | undefined,
  { out }: TargetFlags,
  needs: DirectoryUse,
  context: Context,
): Promise<RunTarget> {
  const [{ openEngineRun }, { engineOf }] = await Promise.all([
    import('../service/engine/run.ts'),
    import('../service/engine/directory.ts'),
  ]);
  if (needs === 'place' && out !== undefined && !isS3Address(out)) {
    const folder = resolve(context.io.cwd, out);
    if (engineOf(folder) === undefined) await refuseOtherDirectory(folder);
  }
  const engine = await openEngineRun(given, name, { out, needs }, context);
  const { place, state } = engine;
  try {
    await refuseOtherPlace(out, place.directory, state);
  } catch (error) {
    await state.close();
    throw error;
  }
  return { directory: place.directory, place, state, engine };
}

/** Refuses the files of a run on an engine. @throws CliError (exit 2) for a folder that holds them and no state */
async function refuseFilesOfEngine(target: string, directory: string, place: string): Promise<void> {
  const marker =
    kindAt(join(directory, runFiles.engine)) === 'file'
      ? (await import('../service/engine/directory.ts')).engineOf(directory)
      : undefined;
  if (marker !== undefined)
    throw usageError(
      `The files of a run on an engine are in ${place}; its state is on the engine.`,
      `Name it there: ${shownLine(marker.engine)}`,
      exchangingWord(target, marker.engine),
    );
}

/** Makes the error for a directory without a run. Its hint says how to start one, or where a run is. */
async function noRun(
  target: string,
  directory: string,
  place: string,
  flags: TargetFlags,
  { io: { cwd } }: Context,
): Promise<Error> {
  const message = `There is no run in ${place === '.' ? 'this folder' : place}.`;
  const isFile = !(await isFolder(resolve(cwd, target)));
  if (flags.out !== undefined || (!isFile && target === '.'))
    return usageError(message, 'promptpress ls lists the runs below this folder.', writing('ls'));
  const seen = (folder: string): string => seenFrom(cwd, folder);
  const rehearsal = `${directory}.sandbox`;
  if (!flags.sandbox && (await isFolder(rehearsal)))
    return usageError(
      message,
      `There is a rehearsal, in ${seen(rehearsal)}.`,
      isFile ? adding('--sandbox') : exchangingWord(target, seen(rehearsal)),
    );
  const real = directory.replace(/\.sandbox$/, '');
  if (flags.sandbox && isFile && real !== directory && (await isFolder(real)))
    return usageError(
      message,
      `There is a run that is not a rehearsal, in ${seen(real)}.`,
      without('--sandbox'),
    );
  const start = `promptpress run ${quoted(isFile ? target : 'pipeline.yaml')}${flags.sandbox ? ' --sandbox' : ''}`;
  return usageError(
    message,
    `${isFile ? '' : 'promptpress ls lists the runs below a folder. '}A run is started by: ${start}`,
    isFile ? undefined : writing('ls'),
  );
}

async function directoryOf(
  target: string,
  flags: { readonly out?: string | undefined; readonly sandbox: boolean },
  context: Context,
): Promise<{ readonly directory: string; readonly pipeline?: Pipeline; readonly file?: string }> {
  const path = resolve(context.io.cwd, target);
  if (await isFolder(path)) return { directory: path };
  const { pipeline, path: file } = await checkPipeline(target, {}, context);
  // A rehearsal runs on this machine, whatever the environment says.
  if (pipeline !== undefined && !flags.sandbox && givenEngine(undefined, context.io) !== undefined)
    return { directory: '', pipeline, file };
  if (pipeline !== undefined) return { directory: placeOfRun(pipeline, flags, context.io.cwd), file };
  throw usageError(
    `${target} is not a valid pipeline, so its run directory is not known.`,
    'Name the directory instead, for example runs/foxes; promptpress validate shows what is wrong with the file.',
  );
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    // A folder that cannot be read is not treated as a run directory; using it would report why.
    return false;
  }
}
