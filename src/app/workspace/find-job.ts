import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { runsFolder } from '../../report/facts/layout.ts';
import { placeOfDirectory, seenFrom } from '../../report/facts/place.ts';
import type { StateReader } from '../../state/reader.ts';
import { openStateForReading } from '../../state/state.ts';
import type { Context } from '../context.ts';
import { usageError } from '../errors/cli-error.ts';
import { adding, exchangingWord, writing } from '../errors/correction.ts';
import type { Io } from '../output/io.ts';
import { checkRunDirectory } from './checks/directory.ts';
import { readJobFile } from './checks/job-file.ts';
import { openTarget, type RunTarget, type TargetFlags } from './open.ts';

/** Smallest length of an abbreviated key. */
const leastLength = 4;

const maxListed = 5;

/** Returns the keys that a word can mean: the exact key, else keys that begin with it, one more than are shown at most. */
export async function jobsNamed(named: string, state: StateReader): Promise<readonly string[]> {
  if ((await state.get(named)) !== undefined) return [named];
  return named.length < leastLength ? [] : await state.keysWithPrefix(named, maxListed + 1);
}

/**
 * Returns the key of the only job that a user names, by the whole key or its beginning.
 *
 * @throws CliError (exit 2) if there is none, or more than one
 */
export async function findJob(named: string, state: StateReader): Promise<string> {
  const found = await jobsNamed(named, state);
  const [key] = found;
  if (key === undefined) throw noSuchJob(named, await state.keysWithPrefix('', 1));
  if (found.length > 1) throw severalJobs(named, found);
  return key;
}

const lookedUp = 1000;

/**
 * Returns the keys of the jobs that a file lists, by whole keys or their beginnings.
 *
 * @throws CliError (exit 2) with the first line that names no job, or several; the error of the file system
 */
export async function jobsInFile(
  name: string,
  flag: string,
  state: StateReader,
  cwd: string,
): Promise<readonly string[]> {
  const keys: string[] = [];
  const look = async (group: readonly (readonly [string, number])[]): Promise<void> => {
    const known = await state.numbersOf(group.map(([key]) => key));
    for (const [word, line] of group) {
      const found = known.has(word) ? [word] : await jobsNamed(word, state);
      const [key] = found;
      if (key === undefined || found.length > 1)
        throw usageError(
          `${flag} ${name}, line ${line}: ${key === undefined ? 'no job of this run directory has' : 'several jobs have keys that begin with'} "${word}"${key === undefined ? ' as its key' : ''}.`,
          'Nothing was submitted. The column "job" of manifest.csv has the keys, in the run directory.',
        );
      keys.push(key);
    }
  };
  let group: (readonly [string, number])[] = [];
  for (const entry of await readJobFile(name, flag, cwd, 'keep')) {
    group.push(entry);
    if (group.length < lookedUp) continue;
    await look(group);
    group = [];
  }
  await look(group);
  return keys;
}

/** Makes the error for an unknown job. @param known an existing key, if any: it shows what a key looks like */
function noSuchJob(named: string, [known]: readonly string[]): Error {
  const message =
    named.length < leastLength
      ? `"${named}" is too short to name a job: give ${leastLength} characters of its key or more.`
      : `No job has the key "${named}", nor a key that begins with it.`;
  return usageError(
    message,
    'The column "job" of manifest.csv has the keys, in the run directory; the beginning of one is enough.',
    known === undefined ? undefined : exchangingWord(named, known.slice(0, shownLength), 'example'),
  );
}

/** Length of a shortened key that is unique in practice. */
const shownLength = 8;

const severalJobs = (named: string, found: readonly string[]): Error => {
  const more = found.length > maxListed ? ', …' : '';
  return usageError(
    `Several jobs have keys that begin with "${named}": ${found.slice(0, maxListed).join(', ')}${more}`,
    'Give more of the key.',
    exchangingWord(named, found[0] ?? named, 'example'),
  );
};

/** A job that the user named, and its run directory. */
export interface JobTarget extends RunTarget {
  readonly key: string;
}

/**
 * Finds the job of `JOB [FILE|DIR]`. Without FILE or DIR, searches the current folder if it is a run directory, else the runs in `runs/`
 * here and in the subfolders. The service is part of every key, so a rehearsal's job is not found in the real run. The caller closes the
 * state.
 *
 * @throws CliError (exit 2) if there is no such job, or no such run
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
      adding('pipeline.yaml'),
    );
  }
  const place = target === undefined ? await placeOf(named, flags, context.io) : undefined;
  const run = place ?? (await openTarget(target ?? '.', flags, context));
  try {
    return { ...run, key: await findJob(named, run.state) };
  } catch (error) {
    await run.state.close();
    throw error;
  }
}

async function placeOf(named: string, flags: TargetFlags, { cwd, env }: Io): Promise<RunTarget> {
  const trust = { trusted: flags['trust-directory'] };
  await checkRunDirectory(cwd, trust, env);
  const here = openStateForReading(cwd);
  if (here !== undefined) return { directory: cwd, state: here, place: placeOfDirectory(cwd, cwd) };

  const found: RunTarget[] = [];
  const examples: string[] = [];
  let searched = 0;
  try {
    for (const directory of await runDirectories(cwd)) {
      await checkRunDirectory(directory, trust, env);
      const state = openStateForReading(directory);
      if (state === undefined) continue;
      searched += 1;
      if ((await jobsNamed(named, state)).length > 0)
        found.push({ directory, state, place: placeOfDirectory(directory, cwd) });
      else {
        if (examples.length === 0) examples.push(...(await state.keysWithPrefix('', 1)));
        await state.close();
      }
    }
  } catch (error) {
    for (const { state } of found) await state.close();
    throw error;
  }
  const [only, ...others] = found;
  if (only !== undefined && others.length === 0) return only;
  for (const { state } of found) await state.close();
  if (searched === 0) {
    throw usageError(
      `There is no run under ${runsFolder}/ here, nor in a folder in this one.`,
      'Name the run behind the job, by its pipeline or its directory; promptpress ls lists the runs below a folder.',
      writing('ls'),
    );
  }
  if (only === undefined) throw noSuchJob(named, examples);
  throw usageError(
    `Several runs have jobs that begin with "${named}": ${found.map(({ directory }) => seenFrom(cwd, directory)).join(', ')}.`,
    'Name the run behind the job.',
    adding(seenFrom(cwd, only.directory)),
  );
}

/** Largest number of searched folders: beyond it, the user must name the run. */
const maxFolders = 1000;

/** Returns the run directories of the current folder first, then those of its subfolders, each sorted by name. */
async function runDirectories(cwd: string): Promise<readonly string[]> {
  const folders = (await foldersIn(cwd)).filter((folder) => !/^(?:\.|node_modules$)/.test(basename(folder)));
  const places: string[] = [];
  for (const folder of [cwd, ...folders.slice(0, maxFolders)])
    places.push(...(await foldersIn(join(folder, runsFolder))));
  return places;
}

/** Returns the subfolders; empty if there is no folder, or it cannot be read. */
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
