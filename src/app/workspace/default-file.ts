import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { nearest } from '../../pipeline/diagnostics/did-you-mean.ts';
import { seenFrom } from '../../report/facts/place.ts';
import { stateFileName } from '../../state/state-files.ts';
import { type CliError, usageError } from '../errors/cli-error.ts';
import type { Correction } from '../errors/correction.ts';
import type { Io } from '../output/io.ts';

/** Name of the pipeline that a command uses if no FILE is given; `promptpress init` writes it. */
export const defaultFile = 'pipeline.yaml';

/**
 * Returns the given pipeline file, else that of the current folder.
 *
 * @param command its name, for the message
 * @throws CliError (exit 2) if none is given and there is none
 */
export function fileOrDefault(given: string | undefined, command: string, { cwd }: Pick<Io, 'cwd'>): string {
  if (given !== undefined) return given;
  if (isThere(join(cwd, defaultFile))) return defaultFile;
  const [first, ...others] = [
    ...pipelineFiles(cwd, '.'),
    ...(isThere(join(cwd, '..', defaultFile)) ? [join('..', defaultFile)] : []),
  ];
  throw usageError(
    `${command} needs FILE: there is no ${defaultFile} in this folder.`,
    `Name the pipeline file: promptpress ${command} FILE. ${
      first === undefined
        ? 'promptpress init writes a first one.'
        : `Found: ${[first, ...others].slice(0, maxNamed).join(', ')}.`
    }`,
    first === undefined
      ? undefined
      : { kind: 'mended', words: ([name = command, ...rest]) => [name, first, ...rest] },
  );
}

const maxNamed = 6;

/** Largest number of entries that are read: a larger folder is not just one of pipelines. */
const maxEntries = 1000;

/** Returns the files in a folder that may be pipelines by their names, relative to the current folder: pipeline.yaml first. */
function pipelineFiles(cwd: string, folder: string): readonly string[] {
  try {
    return readdirSync(join(cwd, folder), { withFileTypes: true })
      .slice(0, maxEntries)
      .filter((entry) => entry.isFile() && /^[^.].*\.ya?ml$/i.test(entry.name))
      .map(({ name }) => name)
      .sort((a, b) => Number(b === defaultFile) - Number(a === defaultFile) || (a < b ? -1 : 1))
      .map((name) => seenFrom(cwd, join(cwd, folder, name)));
  } catch {
    // The folder cannot be read: there is nothing to suggest.
    return [];
  }
}

/**
 * Makes the error for an operand that is not a pipeline file. It suggests the file that was probably meant: one that uses the given file,
 * one beside it with a similar name, one in the given folder, else the first one there.
 *
 * @param message why the operand is not a pipeline
 * @param given as the user named it
 */
export function noPipelineFile(message: string, given: string, { cwd }: Pick<Io, 'cwd'>): CliError {
  const folders = [given, dirname(given), '.'].filter((folder) => folder !== given || extname(given) === '');
  const found = [...new Set(folders.flatMap((folder) => pipelineFiles(cwd, folder)))];
  const beside = found.filter((file) => dirname(file) === dirname(given));
  const near =
    found
      .slice(0, maxNamed)
      .find((file) => extname(given) !== '' && names(join(cwd, file), basename(given))) ??
    beside.find((file) => stem(file) === stem(given)) ??
    nearest(given, beside) ??
    found.find((file) => basename(file) === basename(given));
  const [first] = found;
  const meant = near ?? first;
  if (meant === undefined) return usageError(message, 'promptpress init writes a first pipeline.');
  const hint =
    near === undefined
      ? `Pipeline files near: ${found.slice(0, maxNamed).join(', ')}${found.length > maxNamed ? ', …' : ''}.`
      : `Did you mean ${near}?`;
  return usageError(message, hint, insteadOf(given, meant, near === undefined ? 'example' : 'mended'));
}

/** Largest number of bytes that are read: nobody writes a larger pipeline. */
const maxRead = 1_000_000;

/** Whether the text of a file contains the name of another one, as a pipeline names its table. */
function names(file: string, other: string): boolean {
  try {
    const { size } = lstatSync(file);
    return size <= maxRead && readFileSync(file, 'utf8').includes(other);
  } catch {
    // The code that reads the file reports the error.
    return false;
  }
}

const stem = (file: string): string => basename(file, extname(file)).toLowerCase();

const insteadOf = (given: string, meant: string, kind: Correction['kind']): Correction => ({
  kind,
  words: (words) => {
    const at = words.indexOf(given, 1);
    return at < 0 ? undefined : [...words.slice(0, at), meant, ...words.slice(at + 1)];
  },
});

/** Returns the given run, else that of the current folder, which is a run directory or has a pipeline. */
export function targetOrDefault(
  given: string | undefined,
  command: string,
  { cwd }: Pick<Io, 'cwd'>,
): string {
  if (given !== undefined) return given;
  if (isThere(join(cwd, stateFileName))) return '.';
  if (isThere(join(cwd, defaultFile))) return defaultFile;
  throw usageError(
    `${command} needs FILE or DIR: this folder has no ${defaultFile} and is not a run directory.`,
    `Name a pipeline file or a run directory: promptpress ${command} FILE|DIR. promptpress ls lists the runs below a folder.`,
  );
}

/** Whether anything exists at a path; the code that reads it reports errors. */
const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;
