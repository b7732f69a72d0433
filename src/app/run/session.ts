import type { KnownImageFiles } from '../../artifacts/input/known-files.ts';
import { type Plan, preparePlan } from '../../plan/plan.ts';
import { namesDirectory } from '../../report/facts/layout.ts';
import { type InputTable, type RunFacts, writeRunFacts } from '../../report/facts/run.ts';
import { enterService, type RunService, stateOfService } from '../../report/facts/services.ts';
import { noteOnOtherService } from '../../report/text/other-service.ts';
import { settledJobs, sumsOf } from '../../results/sums.ts';
import { bindDirectory, checkDirectory, type PipelineIdentity } from '../../state/binding.ts';
import { removeUnfinished } from '../../state/files/unfinished.ts';
import type { StateReader, StoreTotals } from '../../state/reader.ts';
import { StateError, type StateStore } from '../../state/store.ts';
import type { Context } from '../context.ts';
import { usageError } from '../errors/cli-error.ts';
import { giving, without } from '../errors/correction.ts';
import { s3PlaceOf, takePlace } from '../service/artifact-place.ts';
import type { ServiceSettings } from '../service/settings.ts';
import { checkRunDirectory } from '../workspace/checks/directory.ts';
import { lockState } from '../workspace/checks/maker.ts';
import { refuseOtherDirectory } from '../workspace/checks/owned.ts';
import { placeOfRun } from '../workspace/checks/place.ts';
import { checkSet, refuseDefaultDirectory } from '../workspace/checks/set.ts';
import { missingWork, noteMissing, olderState } from '../workspace/checks/stale-state.ts';
import { checkFrozen } from '../workspace/frozen.ts';
import { imagesForRun } from '../workspace/images.ts';
import { type ReadPipeline, reported } from '../workspace/read-pipeline.ts';
import { checkChosen, checkSelection, selectionOf } from '../workspace/selection.ts';
import { forgetOtherInputs, keepInputs, keptFiles } from '../workspace/tables.ts';
import type { CheckedRun, LockedRun, PlannedRun } from './stages.ts';

/** A run directory that this process has locked, and that belongs to the pipeline. */
export interface LockedDirectory extends LockedRun {
  readonly state: StateStore;
  /** Unix ms by the clock of the file system: no table or image of the pipeline was read before. */
  readonly readSince: number;
}

/** A run of this process that has begun: its work is not done yet. */
export interface RunSession extends PlannedRun {
  readonly state: StateStore;
  readonly readSince: number;
  readonly plan: Plan;
  readonly images: KnownImageFiles;
  /** Address for requests: that of the service, or of the sandbox of a rehearsal. */
  readonly baseUrl: string;
  readonly known?: undefined;
}

/** The part of a planned run that does not need its service. */
export type Unreached<Planned extends PlannedRun> = Omit<
  Planned,
  'settings' | 'origin' | 'reached' | 'baseUrl'
>;

/** Returns the service of a run as its state names it. */
export const stateServiceOf = ({ id, baseUrl }: Pick<ServiceSettings, 'id' | 'baseUrl'>): RunService => ({
  id,
  ...(baseUrl === undefined ? {} : { origin: new URL(baseUrl).origin }),
});

/** Returns a pipeline as the state of its directory names it. */
export const identityIn = ({ pipeline, path }: ReadPipeline): PipelineIdentity => ({
  file: path,
  text: pipeline.source.text,
});

/**
 * Takes the lock of a run directory for a pipeline. The order matters: nothing in the directory is changed before it is known to be ours and
 * free.
 *
 * @throws StateError, CliError
 */
export async function lockDirectory(run: CheckedRun): Promise<LockedDirectory> {
  const { read, service, flags, interrupts, disposables, context } = run;
  const { pipeline } = read;
  const { io } = context;
  const readSince = io.machine.timeOfDay();
  const wanted = s3PlaceOf(flags.out);
  const directory = placeOfRun(pipeline, flags, io.cwd);
  const isDefault = !namesDirectory(flags);
  const trust = { trusted: flags['trust-directory'] };
  const startedAt = io.now();
  await checkPlace(directory, { ...trust, isDefault }, io);
  await refuseOtherDirectory(directory);
  if (isDefault) await refuseDefaultDirectory(directory, pipeline, io.cwd);
  const state = lockState(directory, 'promptpress run', trust, disposables, context);
  await checkOwner(state.reader, directory, identityIn(read), isDefault);
  await checkSet(state.reader, directory, pipeline, io.cwd);
  const missing = await missingWork(state.reader, directory, io.env);
  if (missing !== undefined && !flags['accept-older-state'] && flags['in-doubt'] !== 'find')
    throw olderState(directory, missing);
  // A frozen run reports another service itself.
  if (!flags['new-service'] && !flags.frozen) {
    const place = { directory, file: pipeline.source.file, cwd: io.cwd };
    const other = await noteOnOtherService(state.reader, stateServiceOf(service), place);
    if (other !== undefined)
      throw usageError(other.message, other.hint, isDefault ? undefined : without('--out', true));
  }
  if (missing === undefined) state.cutReplies();
  await removeUnfinished(directory);
  const { store: artifacts, remote } = await takePlace(
    { directory, pipeline: pipeline.name, wanted },
    state,
    interrupts.leave,
    disposables,
    context,
  );
  return {
    directory,
    state,
    artifacts,
    ...(remote && { remote }),
    startedAt,
    readSince,
    ...(missing && { missing }),
    totals: (isOver) =>
      sumsOf(
        state.totals(),
        isOver ? state.unfinished().filter(({ status }) => status === 'submitting') : [],
      ),
  };
}

/**
 * Opens a locked run directory for a run. The facts of the last run are replaced only after all checks of this run have passed.
 *
 * @throws StateError, CliError, Reported; the reason of the run's signal
 */
export async function openRunSession(
  { read, service, flags, interrupts: { drain }, context }: CheckedRun,
  locked: LockedDirectory,
): Promise<Unreached<RunSession>> {
  const { pipeline, files } = read;
  const { directory, state } = locked;
  const selection = selectionOf(flags);
  const { id: serviceId } = service;
  const tables = await keepInputs(pipeline, files, directory);
  if (flags.frozen) await checkFrozen(state.reader, { text: pipeline.source.text, tables, serviceId });
  const images = imagesForRun(pipeline, files.root, state);
  const prepared = await preparePlan(pipeline, {
    files: keptFiles(tables, directory, files),
    serviceId,
    images,
    signal: drain,
  });
  if (!prepared.ok) throw await reported(prepared.error, context);
  const plan = prepared.value;
  await checkSelection(plan, selection, drain);
  checkChosen(plan, await plan.matrix.chosen(selection, drain));
  drain.throwIfAborted();
  const facts = await beginRun(read, stateServiceOf(service), selection, tables, locked);
  return { ...locked, state: await stateOfService(state, serviceId), plan, tables, images, selection, facts };
}

/** Records the beginning of a run in the state, with its pipeline and service. @returns the facts of the run, without an outcome */
export async function beginRun(
  read: ReadPipeline,
  service: RunService,
  selection: RunFacts['selection'],
  tables: readonly InputTable[],
  { state, directory, startedAt, missing }: LockedDirectory,
): Promise<RunFacts> {
  await bindDirectory(state, directory, identityIn(read));
  if (missing !== undefined) noteMissing(state, missing);
  const facts = factsAtStart(read, service, { tables, selection, startedAt }, state.totals());
  // Written before the facts of the run, which give the service of a state without this fact.
  await enterService(state, service);
  await writeRunFacts(state, facts);
  await forgetOtherInputs(tables, directory);
  return facts;
}

/** Returns the facts of a run that begins. @param totals sums of its state before */
export function factsAtStart(
  { pipeline: { source }, files }: ReadPipeline,
  { id: serviceId, origin }: RunService,
  run: Pick<RunFacts, 'tables' | 'selection' | 'startedAt'>,
  totals: StoreTotals,
): RunFacts {
  const { attempts, cost, possibleCost } = totals;
  return {
    filesRoot: files.root,
    serviceId,
    ...(origin === undefined ? {} : { origin }),
    ...(source.set && { set: source.set }),
    ...run,
    atStart: { settled: settledJobs(totals), attempts, cost, possibleCost },
  };
}

/** Checks that a directory can be a run directory. @throws StateError; CliError (exit 2) if `--out` is not a folder */
export async function checkPlace(
  directory: string,
  run: { readonly trusted: boolean; readonly isDefault: boolean },
  { env }: Pick<Context['io'], 'env'>,
): Promise<void> {
  try {
    await checkRunDirectory(directory, { trusted: run.trusted, artifacts: true }, env);
  } catch (error) {
    const isItself = error instanceof StateError && error.message.startsWith(`${directory} cannot be`);
    if (run.isDefault || !isItself) throw error;
    throw usageError(`--out: ${error.message}`, error.hint, {
      ...giving('--out', 'runs/second'),
      kind: 'example',
    });
  }
}

/** Checks whose directory it is. @throws CliError (exit 2) if `--out` is another pipeline's; StateError if the default one is another's */
export async function checkOwner(
  state: StateReader,
  directory: string,
  identity: PipelineIdentity,
  isDefault: boolean,
): Promise<void> {
  try {
    await checkDirectory(state, directory, identity);
  } catch (error) {
    if (isDefault || !(error instanceof StateError) || error.code !== 'state.foreign') throw error;
    throw usageError(error.message, error.hint, without('--out', true));
  }
}
