import { hostname } from 'node:os';
import type { KnownImageFiles } from '../../artifacts/input/known-files.ts';
import type { S3Address } from '../../artifacts/store/s3/address.ts';
import type { ArtifactStore } from '../../artifacts/store/store.ts';
import type { Pipeline } from '../../pipeline/pipeline.ts';
import type { Selection } from '../../plan/cell.ts';
import type { Matrix } from '../../plan/matrix/types.ts';
import { type Plan, preparePlan } from '../../plan/plan.ts';
import { type InputTable, type RunFacts, writeRunFacts } from '../../report/facts/run.ts';
import { enterService, type RunService, stateOfService } from '../../report/facts/services.ts';
import { noteOnOtherService } from '../../report/text/other-service.ts';
import { settledJobs } from '../../results/sums.ts';
import { bindDirectory, checkDirectory, type PipelineIdentity } from '../../state/binding.ts';
import { removeUnfinished } from '../../state/files/unfinished.ts';
import { acquireLock } from '../../state/lock/lock.ts';
import type { StateReader } from '../../state/reader.ts';
import { openState } from '../../state/state.ts';
import { StateError, type StateStore } from '../../state/store.ts';
import type { Disposables } from '../adapters/disposables.ts';
import type { Context } from '../context.ts';
import { usageError } from '../errors/cli-error.ts';
import { giving, without } from '../errors/correction.ts';
import { type RemotePlace, takePlace } from '../service/artifact-place.ts';
import { checkRunDirectory } from '../workspace/checks/directory.ts';
import { takeState } from '../workspace/checks/maker.ts';
import { refuseOtherDirectory } from '../workspace/checks/owned.ts';
import { checkSet, refuseDefaultDirectory } from '../workspace/checks/set.ts';
import { type MissingWork, missingWork, noteMissing, olderState } from '../workspace/checks/stale-state.ts';
import { checkFrozen } from '../workspace/frozen.ts';
import { imagesForRun } from '../workspace/images.ts';
import { type ReadPipeline, reported } from '../workspace/read-pipeline.ts';
import { checkChosen, checkSelection } from '../workspace/selection.ts';
import { forgetOtherInputs, keepInputs, keptFiles } from '../workspace/tables.ts';

/** A locked run directory that belongs to the pipeline. */
export interface HeldDirectory {
  /** Absolute path. */
  readonly directory: string;
  readonly state: StateStore;
  /** The store of the files that jobs produce. */
  readonly artifacts: ArtifactStore;
  /** The bucket of these files; absent: they are in the directory. */
  readonly remote?: RemotePlace;
  readonly startedAt: number;
  /** Work that was sent and that the state does not know; nothing is paid before the user has decided about it. */
  readonly missing?: MissingWork;
}

/** A run that has begun: the facts for its first and last messages. */
export interface BegunRun extends HeldDirectory {
  readonly plan: Pick<Plan, 'pipeline' | 'serviceId' | 'slotGraph'> & {
    readonly matrix: Pick<Matrix, 'cellCount'>;
  };
  readonly tables: readonly InputTable[];
  /** The images of the pipeline that were read. */
  readonly images: Pick<KnownImageFiles, 'known'>;
  readonly selection: Selection;
  /** The recorded facts, without an outcome. */
  readonly facts: RunFacts;
}

/** A run directory that is ready for a run: locked, bound to the pipeline, its plan made from the kept tables. */
export interface RunSession extends BegunRun {
  readonly plan: Plan;
  readonly images: KnownImageFiles;
  /** Folder that all files of the pipeline must lie in, links resolved. */
  readonly filesRoot: string;
}

/** The user's settings for a run that is about to be opened. */
export interface RunOpening {
  readonly directory: string;
  readonly service: RunService;
  /** The user accepts that the directory holds work for another service, and keeps that work (`--new-service`). */
  readonly newService: boolean;
  readonly selection: Selection;
  /** True if the directory is the pipeline's default one (no `--out`). */
  readonly isDefault: boolean;
  /** The bucket for its files (`--out s3://…`); absent: where they were before, at first in the directory. */
  readonly place?: S3Address;
  readonly frozen: boolean;
  /** True: accept files that git tracks in the directory, and the state of another user (`--trust-directory`). */
  readonly trusted: boolean;
  /** True: the user has decided how to continue a state that is older than its directory. */
  readonly acceptsOlder: boolean;
}

/**
 * Takes the lock of a run directory for a pipeline. `disposables` closes everything that this opens.
 *
 * @param leave aborted when the user no longer wants to wait
 *
 * The order matters: nothing in the directory is changed before it is known to be ours and free.
 *
 * @throws StateError, CliError
 */
export async function holdDirectory(
  { pipeline, path }: ReadPipeline,
  run: RunOpening,
  leave: AbortSignal,
  disposables: Disposables,
  context: Context,
): Promise<HeldDirectory> {
  const { directory, service } = run;
  const { io } = context;
  const startedAt = io.now();
  await checkPlace(directory, run, io);
  await refuseOtherDirectory(directory);
  if (run.isDefault) await refuseDefaultDirectory(directory, pipeline, io.cwd);
  const lock = acquireLock(directory, {
    pid: io.machine.pid,
    host: hostname(),
    startedAt: new Date(startedAt).toISOString(),
    command: 'promptpress run',
  });
  disposables.add(() => lock.release());
  const state = openState(directory, { lock });
  disposables.add(() => state.close());
  takeState(state, directory, run, context);
  const identity = { file: path, text: pipeline.source.text };
  await checkOwner(state.reader, directory, identity, run.isDefault);
  await checkSet(state.reader, directory, pipeline, io.cwd);
  const missing = await missingWork(state.reader, directory, io.env);
  if (missing !== undefined && !run.acceptsOlder) throw olderState(directory, missing);
  // A frozen run reports another service itself.
  if (!run.newService && !run.frozen) {
    const place = { directory, file: pipeline.source.file, cwd: io.cwd };
    const other = await noteOnOtherService(state.reader, service, place);
    if (other !== undefined)
      throw usageError(other.message, other.hint, run.isDefault ? undefined : without('--out', true));
  }
  if (missing === undefined) state.cutReplies();
  await removeUnfinished(directory);
  const wanted = { directory, pipeline: pipeline.name, wanted: run.place };
  const { store: artifacts, remote } = await takePlace(wanted, state, leave, disposables, context);
  const place = remote === undefined ? {} : { remote };
  return { directory, state, artifacts, ...place, startedAt, ...(missing === undefined ? {} : { missing }) };
}

/**
 * Opens a held run directory for a run. The facts of the last run are replaced only after all checks of this run have passed.
 *
 * @param signal aborted before the run has begun: its reason is thrown
 * @throws StateError, CliError, Reported
 */
export async function openRunSession(
  { pipeline, path, files }: ReadPipeline,
  run: RunOpening,
  held: HeldDirectory,
  signal: AbortSignal,
  context: Context,
): Promise<RunSession> {
  const { service, selection } = run;
  const { directory, state } = held;
  const { id: serviceId } = service;
  const tables = await keepInputs(pipeline, files, directory);
  if (run.frozen) await checkFrozen(state.reader, { text: pipeline.source.text, tables, serviceId });
  const images = imagesForRun(pipeline, files.root, state);
  const prepared = await preparePlan(pipeline, {
    files: keptFiles(tables, directory, files),
    serviceId,
    images,
    signal,
  });
  if (!prepared.ok) throw await reported(prepared.error, context);
  const plan = prepared.value;
  await checkSelection(plan, selection, signal);
  checkChosen(plan, await plan.matrix.chosen(selection, signal));
  signal.throwIfAborted();

  const identity = { file: path, text: pipeline.source.text };
  const facts = await beginRun(
    { identity, filesRoot: files.root, tables, service, selection },
    pipeline,
    held,
  );
  return {
    ...held,
    state: await stateOfService(state, serviceId),
    plan,
    tables,
    images,
    filesRoot: files.root,
    selection,
    facts,
  };
}

/** Records the beginning of a run in the state, with its pipeline and service. @returns the facts of the run, without an outcome */
export async function beginRun(
  run: Pick<RunFacts, 'filesRoot' | 'tables' | 'selection'> & {
    readonly identity: PipelineIdentity;
    readonly service: RunService;
  },
  { source: { set } }: Pick<Pipeline, 'source'>,
  { state, directory, startedAt, missing }: HeldDirectory,
): Promise<RunFacts> {
  const { identity, service, filesRoot, tables, selection } = run;
  await bindDirectory(state, directory, identity);
  if (missing !== undefined) noteMissing(state, missing);
  const totals = state.totals();
  const facts: RunFacts = {
    filesRoot,
    tables,
    serviceId: service.id,
    ...(service.origin === undefined ? {} : { origin: service.origin }),
    ...(set === undefined ? {} : { set }),
    selection,
    startedAt,
    atStart: {
      settled: settledJobs(totals),
      attempts: totals.attempts,
      cost: totals.cost,
      possibleCost: totals.possibleCost,
    },
  };
  // Written before the facts of the run, which give the service of a state without this fact.
  await enterService(state, service);
  await writeRunFacts(state, facts);
  await forgetOtherInputs(tables, directory);
  return facts;
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
