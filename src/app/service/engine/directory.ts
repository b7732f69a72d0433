import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { isObject } from '../../../pipeline/values/value.ts';
import { artifactPlaceFact, runFiles } from '../../../report/facts/layout.ts';
import { kindAt, readOwnText } from '../../../state/files/plain-path.ts';
import type { StateReader } from '../../../state/reader.ts';
import { stateFileName } from '../../../state/state-files.ts';
import type { Disposables } from '../../adapters/disposables.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors/cli-error.ts';

/** Name of the fact that stores the coordinator's run directory: {@link DirectoryFact} as JSON. */
export const directoryFact = 'run.directory';

/** The run directory of a run on an engine, and the machine that the run was begun on. */
interface DirectoryFact {
  readonly path: string;
  readonly host: string;
}

/** A command's use of a run's directory: none, reading its result files, or writing new files. */
export type DirectoryUse = 'nothing' | 'files' | 'place';

/**
 * Returns the absolute path of the folder where a command finds the files of a run, or writes new ones.
 *
 * @param out folder from the user; one that is not the run's was checked to hold nothing else
 * @throws CliError (exit 2) if the files are not on this machine; EngineError
 */
export async function directoryFor(
  shown: string,
  state: StateReader,
  { out, needs }: { readonly out?: string | undefined; readonly needs: DirectoryUse },
  disposables: Disposables,
  { io }: Context,
): Promise<string> {
  const id = await state.fact('artifacts.owner');
  const own = await ownDirectory(state);
  const here = own !== undefined && isHere(own.path, shown, id) ? own.path : undefined;
  if (needs === 'nothing') return out === undefined ? (here ?? io.cwd) : resolve(io.cwd, out);
  const isInBucket = (await state.fact(artifactPlaceFact)) !== undefined;
  if (out !== undefined && !/^s3:/i.test(out)) {
    const directory = resolve(io.cwd, out);
    const found = engineOf(directory)?.place;
    const isOther = found !== undefined && found !== id;
    if (isOther || existsSync(join(directory, stateFileName)))
      throw usageError(`--out: ${out} holds another run.`, 'Name a folder of its own.');
    if (needs === 'files' && !isInBucket && found === undefined)
      throw usageError(
        `--out: ${out} is not the folder that holds the files of ${shown}: it has no ${runFiles.engine}.`,
        own === undefined ? undefined : `They are in ${own.path} of ${own.host}.`,
      );
    if (needs === 'place') await mkdir(directory, { recursive: true });
    return directory;
  }
  if (here !== undefined) return here;
  if (needs === 'files' && isInBucket) {
    const folder = await mkdtemp(join(tmpdir(), 'promptpress-'));
    disposables.add(async () => await rm(folder, { recursive: true, force: true }));
    return folder;
  }
  const there = own === undefined ? 'another machine' : `${own.path} of ${own.host}`;
  throw needs === 'files'
    ? usageError(
        `The files of ${shown} are in ${there}, and that folder is not on this machine.`,
        'Name it as this machine has it: --out DIR',
      )
    : usageError(
        `${shown} has its run directory in ${there}, not on this machine.`,
        'Say where to write here: --out DIR',
      );
}

/** Returns the last run directory of the run's coordinator, for messages only. @throws EngineError */
export async function ownDirectory(state: Pick<StateReader, 'fact'>): Promise<DirectoryFact | undefined> {
  return textsOf(await state.fact(directoryFact), 'path', 'host');
}

/** Reads an object of texts from JSON that anybody may have written; undefined: it is none. */
export function textsOf<Name extends string>(
  json: string | undefined,
  ...names: readonly Name[]
): Readonly<Record<Name, string>> | undefined {
  try {
    const value: unknown = JSON.parse(json ?? '');
    return isObject(value) && names.every((name) => typeof value[name] === 'string')
      ? (value as Readonly<Record<Name, string>>)
      : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Whether a folder has the mark of the run. The path in the engine is not enough, since anybody who writes to the engine could change it.
 */
function isHere(path: string, shown: string, id: string | undefined): boolean {
  const found = isAbsolute(path) ? engineOf(path) : undefined;
  return found !== undefined && found.place === id && runOf(found.engine) === runOf(shown);
}

/** Returns the name of a run, without the address: machines may reach its engine under different addresses. */
const runOf = (shown: string): string => shown.slice(shown.indexOf('#') + 1);

/** Largest size of a marker, in bytes. */
const maxBytes = 65_536;

/** The marker in a folder that holds the files of a run on an engine. */
export interface EngineMarker {
  /** `postgres://…#name`, without a password. */
  readonly engine: string;
  /** Permanent id of the run: the folder with this id is the same one on every machine. */
  readonly place: string;
}

/** Returns the marker in a folder; undefined: it has none. */
export function engineOf(directory: string): EngineMarker | undefined {
  const file = join(directory, runFiles.engine);
  if (kindAt(file) !== 'file') return undefined;
  try {
    return textsOf(readOwnText(file, maxBytes), 'engine', 'place');
  } catch {
    return undefined;
  }
}
