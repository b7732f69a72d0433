import { existsSync, lstatSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { nearest } from '../../../pipeline/diagnostics/did-you-mean.ts';
import { isObject } from '../../../pipeline/values/value.ts';
import { artifactPlaceFact, runFiles } from '../../../report/facts/layout.ts';
import type { RunPlace } from '../../../report/facts/place.ts';
import { kindAt, readOwnText } from '../../../state/files/plain-path.ts';
import type { StateReader } from '../../../state/reader.ts';
import type { StateChanges } from '../../../state/sqlite/changes.ts';
import { stateFileName } from '../../../state/state-files.ts';
import { Disposables } from '../../adapters/disposables.ts';
import type { Context } from '../../args/command.ts';
import { usageError } from '../../errors/cli-error.ts';
import type { Correction } from '../../errors/correction.ts';
import { type EngineUse, type OpenEngine, openEngine } from './connect.ts';

/** Name of the fact that says where the coordinator had the run directory: {@link DirectoryFact} as JSON. */
export const directoryFact = 'run.directory';

/** The run directory of a run on an engine, on the machine that it was begun on. */
interface DirectoryFact {
  readonly path: string;
  readonly host: string;
}

/** What a command needs of a run's directory: nothing, the files of its results, or a place to write what it makes. */
export type DirectoryUse = 'nothing' | 'files' | 'place';

/** A run on an engine, opened. */
export interface EngineRun {
  readonly engine: OpenEngine;
  /** Its number there. */
  readonly run: number;
  readonly name: string;
  readonly place: RunPlace;
  /** Closes the connections too. */
  readonly state: StateReader & StateChanges;
}

/** `postgres://…#name`, as messages and command lines show it. */
export const shownRun = ({ shown }: { readonly shown: string }, name: string): string => `${shown}#${name}`;

/**
 * Opens a run of an engine to be read. The caller closes its state.
 *
 * @param given the address, of a flag or an operand; absent: the environment's
 * @param named the run, where the address names none
 * @throws CliError (exit 2) where there is no such run, or where its files are not on this machine; EngineError
 */
export async function openEngineRun(
  given: string | undefined,
  named: string | undefined,
  wanted: { readonly out?: string | undefined; readonly needs: DirectoryUse; readonly use?: EngineUse },
  context: Context,
): Promise<EngineRun> {
  const disposables = new Disposables();
  try {
    const engine = await openEngine(
      given,
      wanted.use ?? { as: 'reading', name: 'reader' },
      disposables,
      context,
    );
    const { pool, address } = engine;
    const name = address.run ?? named;
    const run = await numberOf(engine, name, given);
    const [{ engineReader }, { engineChanges }] = await Promise.all([
      import('../../../engine/state/reader.ts'),
      import('../../../engine/state/changes.ts'),
    ]);
    const state = { ...engineReader(pool, run), ...engineChanges(pool, run), close: () => disposables.end() };
    const shown = shownRun(address, name ?? '');
    return {
      engine,
      run,
      name: name ?? '',
      place: await placeOf(
        engine,
        run,
        shown,
        await directoryFor(shown, state, wanted, disposables, context),
      ),
      state,
    };
  } catch (error) {
    await disposables.end().catch(() => undefined);
    throw error;
  }
}

async function placeOf(
  { pool }: OpenEngine,
  run: number,
  shown: string,
  directory: string,
): Promise<RunPlace> {
  const { isCarriedOut } = await import('../../../engine/slices/crew.ts');
  return {
    name: shown,
    engine: shown,
    directory,
    owner: async () => ((await isCarriedOut(pool, run)) ? { pid: 0, host: '' } : undefined),
  };
}

/** Runs of an engine that are listed. */
const mostListed = 1000;

/** A run on an engine in a list. */
export interface ListedEngineRun {
  readonly place: RunPlace;
  readonly state: StateReader;
}

/**
 * All runs of an engine, by name. `disposables` closes their connections.
 *
 * @returns those, and whether there are more @throws CliError (exit 2), EngineError
 */
export async function listEngineRuns(
  given: string,
  disposables: Disposables,
  context: Context,
): Promise<{ readonly runs: readonly ListedEngineRun[]; readonly truncated: boolean }> {
  const engine = await openEngine(given, { as: 'reading', name: 'ls' }, disposables, context);
  const { pool, address } = engine;
  const [{ engineReader }, { isNamed }] = await Promise.all([
    import('../../../engine/state/reader.ts'),
    import('../../../engine/slices/remove.ts'),
  ]);
  const { rows } = await pool.query<{ run: number; name: string }>(
    `SELECT run, name FROM promptpress.runs WHERE ${isNamed} AND ($1::text IS NULL OR name = $1) ORDER BY name LIMIT ${mostListed + 1}`,
    [address.run ?? null],
  );
  const runs = rows.slice(0, mostListed).map(async ({ run, name }) => ({
    place: await placeOf(engine, run, shownRun(address, name), context.io.cwd),
    state: engineReader(pool, run),
  }));
  return { runs: await Promise.all(runs), truncated: rows.length > mostListed };
}

/** Names that a message lists. */
const mostNamed = 6;

/** @throws CliError (exit 2) where there is no such run, with those that are there; EngineError */
async function numberOf(
  { pool, address }: OpenEngine,
  name: string | undefined,
  given: string | undefined,
): Promise<number> {
  const { isNamed } = await import('../../../engine/slices/remove.ts');
  const { rows } = await pool.query<{ run: number; name: string }>(
    `SELECT run, name FROM promptpress.runs WHERE ${isNamed} ORDER BY name = $1 DESC, started DESC LIMIT ${mostListed}`,
    [name ?? ''],
  );
  const [first] = rows;
  if (name !== undefined && first?.name === name) return first.run;
  const names = rows.map((row) => row.name);
  const some = `${names.slice(0, mostNamed).join(', ')}${names.length > mostNamed ? ', …' : ''}`;
  const near = name === undefined ? names[0] : nearest(name, names);
  throw usageError(
    name === undefined
      ? `The address ${address.shown} names no run.`
      : `There is no run ${name} on the engine ${address.shown}.`,
    names.length === 0
      ? 'There is none at all: promptpress run FILE --engine … starts one.'
      : `${near === undefined || name === undefined ? '' : `Did you mean ${near}? `}There ${names.length === 1 ? 'is' : 'are'} ${some}. A run is named behind the address: ${shownRun(address, near ?? names[0] ?? 'name')}`,
    near === undefined || given === undefined ? undefined : naming(given, near),
  );
}

const naming = (given: string, name: string): Correction => ({
  kind: 'example',
  words: (words) => words.map((word) => (word === given ? `${word.split('#', 1)[0] ?? word}#${name}` : word)),
});

/** Where a command finds the files of a run, or writes what it makes. */
async function directoryFor(
  shown: string,
  state: StateReader,
  { out, needs }: { readonly out?: string | undefined; readonly needs: DirectoryUse },
  disposables: Disposables,
  { io }: Context,
): Promise<string> {
  const own = await ownDirectory(state);
  if (needs === 'nothing') return out === undefined ? (own?.path ?? io.cwd) : resolve(io.cwd, out);
  const id = await state.fact('artifacts.owner');
  const isInBucket = (await state.fact(artifactPlaceFact)) !== undefined;
  if (out !== undefined && !/^s3:/i.test(out)) {
    const directory = resolve(io.cwd, out);
    const found = runHeldBy(directory);
    const isOther = found !== undefined && found !== id;
    if (isOther || existsSync(join(directory, stateFileName)))
      throw usageError(`--out: ${out} holds another run.`, 'Name a folder of its own.');
    if (needs === 'files' && !isInBucket && found === undefined)
      throw usageError(
        `--out: ${out} is not the folder that the files of ${shown} lie in: it has no ${runFiles.engine}.`,
        own === undefined ? undefined : `They lie in ${own.path} of ${own.host}.`,
      );
    if (needs === 'place') await mkdir(directory, { recursive: true });
    return directory;
  }
  if (own !== undefined && isHere(own, id)) return own.path;
  if (needs === 'files' && isInBucket) {
    const folder = await mkdtemp(join(tmpdir(), 'promptpress-'));
    disposables.add(async () => await rm(folder, { recursive: true, force: true }));
    return folder;
  }
  const there = own === undefined ? 'another machine' : `${own.path} of ${own.host}`;
  throw needs === 'files'
    ? usageError(
        `The files of ${shown} lie in ${there}, and that folder is not on this machine.`,
        'Name it as this machine has it: --out DIR',
      )
    : usageError(
        `${shown} has its run directory in ${there}, not on this machine.`,
        'Say where to write here: --out DIR',
      );
}

async function ownDirectory(state: StateReader): Promise<DirectoryFact | undefined> {
  const text = await state.fact(directoryFact);
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (!isObject(value)) return undefined;
    const { path, host } = value;
    return typeof path === 'string' && typeof host === 'string' ? { path, host } : undefined;
  } catch {
    return undefined;
  }
}

/** A path of another machine may be somebody else's folder here. */
const isHere = ({ path, host }: DirectoryFact, id: string | undefined): boolean => {
  const isFolder = lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  if (!isFolder) return false;
  const found = runHeldBy(path);
  return found === undefined ? host === hostname() : found === id;
};

/** Longer than any marker. */
const mostBytes = 65_536;

/** What a folder says of the run on an engine that its files are of: an id. */
function runHeldBy(directory: string): string | undefined {
  return engineOf(directory)?.place;
}

/** The run on an engine that a folder says its files are of; undefined: it says nothing. */
export function engineOf(directory: string): { readonly engine: string; readonly place: string } | undefined {
  const file = join(directory, runFiles.engine);
  if (kindAt(file) !== 'file') return undefined;
  try {
    const value: unknown = JSON.parse(readOwnText(file, mostBytes) ?? '');
    if (!isObject(value)) return undefined;
    const { engine, place } = value;
    return typeof engine === 'string' && typeof place === 'string' ? { engine, place } : undefined;
  } catch {
    return undefined;
  }
}
