import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { nearest } from '../../pipeline/diagnostics/did-you-mean.ts';
import { seenFrom } from '../../report/facts/place.ts';
import { stateFileName } from '../../state/state-files.ts';
import { type CliError, usageError } from '../errors/cli-error.ts';
import type { Correction } from '../errors/correction.ts';
import type { Io } from '../output/io.ts';

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
  const [first, ...others] = [
    ...pipelineFiles(cwd, '.'),
    ...(isThere(join(cwd, '..', defaultFile)) ? [join('..', defaultFile)] : []),
  ];
  throw usageError(
    `${command} needs FILE: there is no ${defaultFile} in this folder.`,
    `Name the pipeline file: promptpress ${command} FILE. ${
      first === undefined
        ? 'promptpress init writes a first one.'
        : `There is ${[first, ...others].slice(0, mostNamed).join(', ')}.`
    }`,
    first === undefined
      ? undefined
      : { kind: 'mended', words: ([name = command, ...rest]) => [name, first, ...rest] },
  );
}

const mostNamed = 6;

/** A folder with more entries is not one of pipelines alone. */
const mostEntries = 1000;

/** The files in a folder that can be pipelines by their names, as seen from the current one: pipeline.yaml first. */
function pipelineFiles(cwd: string, folder: string): readonly string[] {
  try {
    return readdirSync(join(cwd, folder), { withFileTypes: true })
      .slice(0, mostEntries)
      .filter((entry) => entry.isFile() && /^[^.].*\.ya?ml$/i.test(entry.name))
      .map(({ name }) => name)
      .sort((a, b) => Number(b === defaultFile) - Number(a === defaultFile) || (a < b ? -1 : 1))
      .map((name) => seenFrom(cwd, join(cwd, folder, name)));
  } catch {
    // None that could be named.
    return [];
  }
}

/**
 * Says of what was named in the place of a pipeline file why it is none, with the file that was probably meant: one that names it,
 * one beside it whose name is alike, one in a named folder, else the first one there.
 *
 * @param message why it is none
 * @param given as the user named it
 */
export function noPipelineFile(message: string, given: string, { cwd }: Pick<Io, 'cwd'>): CliError {
  const folders = [given, dirname(given), '.'].filter((folder) => folder !== given || extname(given) === '');
  const found = [...new Set(folders.flatMap((folder) => pipelineFiles(cwd, folder)))];
  const beside = found.filter((file) => dirname(file) === dirname(given));
  const near =
    found
      .slice(0, mostNamed)
      .find((file) => extname(given) !== '' && names(join(cwd, file), basename(given))) ??
    beside.find((file) => stem(file) === stem(given)) ??
    nearest(given, beside) ??
    found.find((file) => basename(file) === basename(given));
  const [first] = found;
  const meant = near ?? first;
  if (meant === undefined) return usageError(message, 'promptpress init writes a first pipeline.');
  const hint =
    near === undefined
      ? `Pipeline files near: ${found.slice(0, mostNamed).join(', ')}${found.length > mostNamed ? ', …' : ''}.`
      : `Did you mean ${near}?`;
  return usageError(message, hint, insteadOf(given, meant, near === undefined ? 'example' : 'mended'));
}

/** A larger file is no pipeline that somebody writes. */
const mostRead = 1_000_000;

/** True of a file whose text names another one, as a pipeline names its table. */
function names(file: string, other: string): boolean {
  try {
    const { size } = lstatSync(file);
    return size <= mostRead && readFileSync(file, 'utf8').includes(other);
  } catch {
    // Whoever reads the file says why it cannot be read.
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
