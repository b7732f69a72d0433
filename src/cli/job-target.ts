import { readdir } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { openStateForReading } from '../state/state.ts';
import { checkRunDirectory } from './check-directory.ts';
import type { Context } from './command.ts';
import { usageError } from './failure.ts';
import { findJob, jobsNamed, noSuchJob } from './find-job.ts';
import type { Io } from './io.ts';
import { runsFolder } from './run-files.ts';
import { openTarget, type RunTarget, type TargetFlags } from './run-target.ts';

/** A job that the user named, and the run directory it is in. */
export interface JobTarget extends RunTarget {
  readonly key: string;
}

/**
 * Finds the job that `JOB [FILE|DIR]` means. Without a place: the run directory that the current folder is, else the
 * one that knows the job under `runs/`, here or in a folder of this one, where pipelines may lie (the service is part of
 * every key, so that a rehearsal's job is not in the real run). The caller closes the state.
 *
 * @throws CliError (exit 2) when there is no such job, or no such run
 */
export async function openJob(
  named: string,
  target: string | undefined,
  flags: TargetFlags,
  context: Context,
): Promise<JobTarget> {
  if (target === undefined && (flags.sandbox || flags.out !== undefined)) {
    throw usageError(
      '--sandbox and --out say which run of a pipeline file is meant; no file is named.',
      'Name the pipeline file, or the run directory alone.',
    );
  }
  const place = target === undefined ? await placeOf(named, flags, context.io) : undefined;
  const run = place ?? (await openTarget(target ?? '.', flags, context));
  try {
    return { ...run, key: findJob(named, run.state) };
  } catch (error) {
    run.state.close();
    throw error;
  }
}

async function placeOf(named: string, flags: TargetFlags, { cwd, env }: Io): Promise<RunTarget> {
  const trust = { trusted: flags['trust-directory'] };
  await checkRunDirectory(cwd, trust, env);
  const here = openStateForReading(cwd);
  if (here !== undefined) return { directory: cwd, state: here };

  const found: RunTarget[] = [];
  let looked = 0;
  try {
    for (const directory of await runDirectories(cwd)) {
      await checkRunDirectory(directory, trust, env);
      const state = openStateForReading(directory);
      if (state === undefined) continue;
      looked += 1;
      if (jobsNamed(named, state).length > 0) found.push({ directory, state });
      else state.close();
    }
  } catch (error) {
    for (const { state } of found) state.close();
    throw error;
  }
  const [only, ...others] = found;
  if (only !== undefined && others.length === 0) return only;
  for (const { state } of found) state.close();
  if (looked === 0) {
    throw usageError(
      `There is no run under ${runsFolder}/ here, nor in a folder of this one.`,
      'Name the run: promptpress … JOB FILE|DIR, by its pipeline or its directory.',
    );
  }
  if (only === undefined) throw noSuchJob(named);
  throw usageError(
    `Several runs have jobs that begin with "${named}": ${found.map(({ directory }) => relative(cwd, directory)).join(', ')}.`,
    'Name the run behind the job.',
  );
}

/** More folders than one has pipelines in: past them, the run is to be named. */
const mostFolders = 1000;

/** Those of the current folder first, then those of the folders in it, each in the order of their names. */
async function runDirectories(cwd: string): Promise<readonly string[]> {
  const folders = (await foldersIn(cwd)).filter((folder) => !/^(?:\.|node_modules$)/.test(basename(folder)));
  const places: string[] = [];
  for (const folder of [cwd, ...folders.slice(0, mostFolders)])
    places.push(...(await foldersIn(join(folder, runsFolder))));
  return places;
}

/** None where there is no folder, or none that may be read. */
async function foldersIn(folder: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => join(folder, name))
      .sort();
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM'].includes(code)) return [];
    throw error;
  }
}
