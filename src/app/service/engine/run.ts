import { nearest } from '../../../pipeline/diagnostics/did-you-mean.ts';
import type { RunPlace } from '../../../report/facts/place.ts';
import type { StateReader } from '../../../state/reader.ts';
import type { StateChanges } from '../../../state/sqlite/changes.ts';
import { StateError } from '../../../state/store.ts';
import { Disposables } from '../../adapters/disposables.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors/cli-error.ts';
import type { Correction } from '../../errors/correction.ts';
import { type EngineUse, type OpenEngine, openEngine, readEngineAddress } from './connect.ts';
import { type DirectoryUse, directoryFor } from './directory.ts';

/** An open run on an engine. */
export interface EngineRun {
  readonly engine: OpenEngine;
  /** Number of the run on its engine. */
  readonly run: number;
  readonly name: string;
  readonly place: RunPlace;
  /** The state of the run; closing it closes the connections too. */
  readonly state: StateReader & StateChanges;
}

/** Returns `postgres://…#name`, as messages and command lines show it. */
export const shownRun = ({ shown }: { readonly shown: string }, name: string): string => `${shown}#${name}`;

interface WantedOfRun {
  readonly out?: string | undefined;
  readonly needs: DirectoryUse;
  readonly use?: EngineUse;
}

const reading: EngineUse = { as: 'reading', name: 'reader' };

/**
 * Opens a run of an engine for reading. The caller closes its state.
 *
 * @param given address from a flag or an operand; absent: that of the environment
 * @param named name of the run, if the address has none
 * @throws CliError (exit 2) if there is no such run, or its files are not on this machine; EngineError
 */
export async function openEngineRun(
  given: string | undefined,
  named: string | undefined,
  wanted: WantedOfRun,
  context: Context,
): Promise<EngineRun> {
  return await closedOnError(async (disposables) => {
    const engine = await openEngine(given, wanted.use ?? reading, disposables, context);
    const name = engine.address.run ?? named;
    const run = await numberOf(engine, name, given);
    return await opened(engine, run, name ?? '', wanted, disposables, context);
  });
}

/**
 * Opens a run of an engine like {@link openEngineRun}, or returns none if the run or the tables do not exist. The caller closes its state.
 *
 * @returns also its address, as messages show it @throws CliError (exit 2), EngineError
 */
export async function findEngineRun(
  given: string,
  named: string,
  context: Context,
): Promise<{ readonly shown: string; readonly found: EngineRun | undefined }> {
  const address = await readEngineAddress(given, context, { mayAsk: false });
  const name = address.run ?? named;
  const shown = shownRun(address, name);
  try {
    const found = await closedOnError(async (disposables) => {
      const engine = await openEngine(given, reading, disposables, context);
      const { rows } = await engine.pool.query<{ run: number }>(
        'SELECT run FROM promptpress.runs WHERE name = $1',
        [name],
      );
      const [row] = rows;
      if (row !== undefined)
        return await opened(engine, row.run, name, { needs: 'nothing' }, disposables, context);
      await disposables.end();
      return undefined;
    });
    return { shown, found };
  } catch (error) {
    if (error instanceof StateError && error.code === 'engine.empty') return { shown, found: undefined };
    throw error;
  }
}

async function closedOnError<T>(work: (disposables: Disposables) => Promise<T>): Promise<T> {
  const disposables = new Disposables();
  try {
    return await work(disposables);
  } catch (error) {
    await disposables.end().catch(() => undefined);
    throw error;
  }
}

async function opened(
  engine: OpenEngine,
  run: number,
  name: string,
  wanted: WantedOfRun,
  disposables: Disposables,
  context: Context,
): Promise<EngineRun> {
  const { pool, address } = engine;
  const [{ engineReader }, { engineChanges }] = await Promise.all([
    import('../../../engine/state/reader.ts'),
    import('../../../engine/state/changes.ts'),
  ]);
  const state = { ...engineReader(pool, run), ...engineChanges(pool, run), close: () => disposables.end() };
  const shown = shownRun(address, name);
  const directory = await directoryFor(shown, state, wanted, disposables, context);
  return { engine, run, name, place: await placeOf(engine, run, shown, directory), state };
}

async function placeOf(
  { pool }: OpenEngine,
  run: number,
  shown: string,
  directory: string,
): Promise<RunPlace> {
  const [{ isCarriedOut }, { runStage }] = await Promise.all([
    import('../../../engine/slices/workers.ts'),
    import('../../../engine/slices/stage.ts'),
  ]);
  return {
    name: shown,
    engine: shown,
    directory,
    stage: () => runStage(pool, run),
    owner: async () => ((await isCarriedOut(pool, run)) ? { pid: 0, host: '' } : undefined),
  };
}

const maxListed = 1000;

/** A run on an engine, as a list shows it. */
export interface ListedEngineRun {
  readonly place: RunPlace;
  readonly state: StateReader;
}

/**
 * Lists the runs of an engine by name. `disposables` closes its connections.
 *
 * @returns the runs, and whether there are more @throws CliError (exit 2), EngineError
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
    `SELECT run, name FROM promptpress.runs WHERE ${isNamed} AND ($1::text IS NULL OR name = $1) ORDER BY name LIMIT ${maxListed + 1}`,
    [address.run ?? null],
  );
  const runs = rows.slice(0, maxListed).map(async ({ run, name }) => ({
    place: await placeOf(engine, run, shownRun(address, name), context.io.cwd),
    state: engineReader(pool, run),
  }));
  return { runs: await Promise.all(runs), truncated: rows.length > maxListed };
}

const maxNamed = 6;

/** Returns the number of a run. @throws CliError (exit 2) that lists the existing runs if there is no such run; EngineError */
async function numberOf(
  { pool, address }: OpenEngine,
  name: string | undefined,
  given: string | undefined,
): Promise<number> {
  const { isNamed } = await import('../../../engine/slices/remove.ts');
  const { rows } = await pool.query<{ run: number; name: string }>(
    `SELECT run, name FROM promptpress.runs WHERE ${isNamed} ORDER BY name = $1 DESC, started DESC LIMIT ${maxListed}`,
    [name ?? ''],
  );
  const [first] = rows;
  if (name !== undefined && first?.name === name) return first.run;
  const names = rows.map((row) => row.name);
  const some = `${names.slice(0, maxNamed).join(', ')}${names.length > maxNamed ? ', …' : ''}`;
  const near = name === undefined ? names[0] : nearest(name, names);
  throw usageError(
    name === undefined
      ? `The address ${address.shown} names no run.`
      : `There is no run ${name} on the engine ${address.shown}.`,
    names.length === 0
      ? 'The engine has no runs: promptpress run FILE --engine … starts one.'
      : `${near === undefined || name === undefined ? '' : `Did you mean ${near}? `}There ${names.length === 1 ? 'is' : 'are'} ${some}. A run is named behind the address: ${shownRun(address, near ?? names[0] ?? 'name')}`,
    near === undefined || given === undefined ? undefined : naming(given, near),
  );
}

const naming = (given: string, name: string): Correction => ({
  kind: 'example',
  words: (words) => words.map((word) => (word === given ? `${word.split('#', 1)[0] ?? word}#${name}` : word)),
});
