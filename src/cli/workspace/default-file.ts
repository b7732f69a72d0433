import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { stateFileName } from '../../state/state-files.ts';
import { usageError } from '../errors/cli-error.ts';
import type { Io } from '../terminal/io.ts';

/** The pipeline that a command takes where no FILE is named, in the current folder; `promptpress init` writes it. */
export const defaultFile = 'pipeline.yaml';

/**
 * The pipeline that a command is about: the named one, else that of the current folder.
 *
 * @param command its name, for the message
 * @throws CliError (exit 2) where none is named and none is there
 */
export function fileOrDefault(given: string | undefined, command: string, { cwd }: Pick<Io, 'cwd'>): string {
  if (given !== undefined) return given;
  if (isThere(join(cwd, defaultFile))) return defaultFile;
  throw usageError(
    `${command} needs FILE: there is no ${defaultFile} in this folder.`,
    `Name the pipeline file: promptpress ${command} FILE. promptpress init writes a first one.`,
  );
}

/** The run that a command is about: the named one, else that of the current folder, which is a run directory or has a pipeline. */
export function targetOrDefault(
  given: string | undefined,
  command: string,
  { cwd }: Pick<Io, 'cwd'>,
): string {
  if (given !== undefined) return given;
  if (isThere(join(cwd, stateFileName))) return '.';
  if (isThere(join(cwd, defaultFile))) return defaultFile;
  throw usageError(
    `${command} needs FILE or DIR: this folder has no ${defaultFile} and is no run directory.`,
    `Name a pipeline file or a run directory: promptpress ${command} FILE|DIR. promptpress ls lists the runs below a folder.`,
  );
}

/** Whatever it is: who reads it says what is wrong with it. */
const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;
