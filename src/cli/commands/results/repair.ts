import { join } from 'node:path';
import { closingAfter, type Disposables } from '../../../app/adapters/disposables.ts';
import type { Context } from '../../../app/context.ts';
import { exitCodes, usageError } from '../../../app/errors/cli-error.ts';
import { noFlags, type RunFlags } from '../../../app/flags.ts';
import type { Repairs } from '../../../app/run/stages.ts';
import { openArtifactsOf } from '../../../app/service/artifact-place.ts';
import { engineVariable } from '../../../app/service/engine/connect.ts';
import { engineOf } from '../../../app/service/engine/directory.ts';
import { folderCounts } from '../../../app/service/engine/folder-counts.ts';
import { notifyVariable } from '../../../app/service/notify.ts';
import { lockState } from '../../../app/workspace/checks/maker.ts';
import { checkAge, missingOnEngine, olderState } from '../../../app/workspace/checks/stale-state.ts';
import { planOfDirectory } from '../../../app/workspace/last-plan.ts';
import { openTarget } from '../../../app/workspace/open.ts';
import { writeManifest } from '../../../manifest/write.ts';
import type { JobRecord } from '../../../plan/job.ts';
import { runFiles } from '../../../report/facts/layout.ts';
import { seenFrom } from '../../../report/facts/place.ts';
import { readRunFacts } from '../../../report/facts/run.ts';
import { sandboxId } from '../../../report/facts/services.ts';
import { quoted } from '../../../report/text/printable.ts';
import { pipelineFacts } from '../../../state/binding.ts';
import type { StateReader } from '../../../state/reader.ts';
import { StateError } from '../../../state/store.ts';
import type { Finding } from '../../../upkeep/finding.ts';
import { isRepairable } from '../../../upkeep/verify.ts';
import { withoutFiles, withoutFrames } from '../../../upkeep/without-files.ts';
import { bufferErrors } from '../../terminal/buffered-io.ts';
import { runFile } from '../run.ts';

/** Flags of `verify` that are passed to the downloading run. */
export interface RepairFlags {
  readonly 'trust-directory': boolean;
  readonly 'base-url': string | undefined;
  readonly out: string | undefined;
  readonly sandbox: boolean;
}

/**
 * Removes damaged files from the state and starts a run that downloads them again without any submission. A job that is no longer in the
 * pipeline is not downloaded; its files are restored in the state, so that the damage stays known.
 *
 * @returns jobs whose download failed, which are no longer done
 */
export async function repair(
  found: {
    readonly target: string;
    readonly directory: string;
    readonly isOnEngine: boolean;
    readonly file: string | undefined;
    readonly faults: readonly Finding[];
  },
  flags: RepairFlags,
  leave: AbortSignal,
  context: Context,
): Promise<number> {
  const { directory, faults, isOnEngine } = found;
  const { io, redactor } = context;
  if (isOnEngine) refuseWithoutFile(found);
  const mendable = faults.flatMap((fault) => ('isRepairable' in fault && fault.isRepairable ? [fault] : []));
  const keys = new Set(mendable.map(({ job }) => job));
  /** Jobs with damaged files of their own, and not only damaged frames. */
  const toDownload = new Set(mendable.filter(({ isFrame }) => !isFrame).map(({ job }) => job));
  const underLock = async <T>(
    work: (state: LockedState, disposables: Disposables) => T | Promise<T>,
  ): Promise<T> =>
    await closingAfter(async (disposables) => {
      const state = isOnEngine
        ? await holdEngine(found.target, flags, leave, disposables, context)
        : await lockDirectory(directory, flags, disposables, context);
      return await work(state, disposables);
    });
  const before = new Map<string, JobRecord>();
  /** The run may be refused, for example because of a link; the state is restored even then. */
  let ran: Promise<number> | undefined;
  if (keys.size > 0) {
    const download = await underLock(async (state) => {
      const download = await downloadOf(found, state.reader, flags, io.cwd);
      if (download === undefined) return undefined;
      for (const key of keys) {
        const record = await state.get(key);
        if (record === undefined || !isRepairable(record)) continue;
        before.set(key, record);
        await state.put((toDownload.has(key) ? withoutFiles : withoutFrames)(record));
      }
      return download;
    });
    if (download !== undefined) ran = runQuietly(download, context);
    await ran?.catch(() => undefined);
  }
  const failed = await underLock(async (state, disposables) => {
    let failed = 0;
    for (const [key, { artifacts, frames }] of before) {
      const record = await state.get(key);
      if (record === undefined) continue;
      const lacksFiles = record.artifacts.length === 0;
      const lacksFrames = frames !== undefined && record.frames === undefined;
      if (!lacksFiles && !lacksFrames) continue;
      const known = { ...(lacksFiles && { artifacts }), ...(lacksFrames && { frames }) };
      if (record.status === 'done') await state.put({ ...record, ...known });
      else if (lacksFiles) failed += 1;
    }
    const { plan, facts } = await planOfDirectory(directory, state.reader, context, found.file);
    const file = join(directory, runFiles.manifest);
    const { selection } = facts;
    await writeManifest({ plan, selection, reader: state.reader, redact: redactor.applyToData, file });
    const { remote } = await openArtifactsOf(directory, state.reader, leave, disposables, context);
    await remote?.publish(runFiles.manifest, file);
    return failed;
  });
  await ran;
  return failed;
}

/** A locked state of a run. */
interface LockedState {
  readonly reader: StateReader;
  get(key: string): JobRecord | undefined | Promise<JobRecord | undefined>;
  put(record: JobRecord): unknown;
}

/** Locks a run directory. @throws StateError `state.locked` (exit 75) during a run */
async function lockDirectory(
  directory: string,
  flags: RepairFlags,
  disposables: Disposables,
  context: Context,
): Promise<LockedState> {
  const trust = { trusted: flags['trust-directory'] };
  const state = lockState(directory, 'promptpress verify --repair', trust, disposables, context);
  await checkAge(state.reader, directory, context.io.env);
  return {
    reader: state.reader,
    get: (key) => state.get(key),
    put: (record) => state.commit({ records: [record], attempts: [] }),
  };
}

/**
 * Takes the lead of an ended run on an engine.
 *
 * @throws StateError `state.locked` (exit 75) during the run, or if another process leads it; CliError; EngineError
 */
async function holdEngine(
  target: string,
  flags: RepairFlags,
  leave: AbortSignal,
  disposables: Disposables,
  context: Context,
): Promise<LockedState> {
  const [{ leaseRun }, { closeRun, runStatus }, { readSharedJob, settleSharedJob }] = await Promise.all([
    import('../../../engine/slices/lead-lease.ts'),
    import('../../../engine/slices/runs.ts'),
    import('../../../engine/doubts.ts'),
  ]);
  const { engine, directory, state, place } = await openTarget(target, flags, context, 'files');
  disposables.add(() => state.close());
  if (engine === undefined) throw new Error('Internal error: a run on an engine is found there again.');
  const {
    run,
    name,
    engine: { pool, clock },
  } = engine;
  const onWait = (ms: number): void =>
    context.io.err(`The process that led the run may be gone: waiting ${Math.ceil(ms / 1000)} s for it.\n`);
  const lease = await leaseRun({ pool, clock }, run, name, { signal: leave, onWait });
  disposables.add(() => lease.close());
  const { state: stage, fed = false, waiting = 0 } = (await runStatus(pool, run)) ?? {};
  const isOver = stage === 'ended' || (stage === 'open' && fed && waiting === 0);
  if (!isOver || (await closeRun(pool, run, lease.epoch)) > 0)
    throw new StateError(
      'state.locked',
      `${place.name} has not ended, and its files cannot be repaired before.`,
      {
        hint: `Wait for its end, or stop it: promptpress stop ${quoted(place.name)}`,
      },
    );
  const { remote } = await openArtifactsOf(directory, state, leave, disposables, context);
  const missing = await missingOnEngine(pool, run, place.name, remote?.counts ?? folderCounts(directory));
  if (missing !== undefined) throw olderState(place.name, missing);
  return {
    reader: state,
    get: async (key) => await state.get(key),
    put: async (record) => {
      const job = await readSharedJob(pool, run, record.key);
      // This process leads and no worker is alive, so nobody else writes.
      if (job === undefined || !(await settleSharedJob(pool, run, job, { records: [record], attempts: [] })))
        throw new StateError('state.locked', `Another process has changed job ${record.key} meanwhile.`);
    },
  };
}

/** Requires a pipeline file and a local directory: paths in the state may be another machine's. @throws CliError (exit 2) */
function refuseWithoutFile({
  file,
  directory,
}: {
  readonly file: string | undefined;
  readonly directory: string;
}): void {
  if (file === undefined)
    throw usageError(
      'verify --repair of a run on an engine needs its pipeline file, to start a run that downloads.',
      `${engineVariable}=postgres://… promptpress verify FILE --repair`,
    );
  if (engineOf(directory) === undefined)
    throw usageError(
      'verify --repair of a run on an engine writes its manifest, but its run directory is not on this machine.',
      'Name it with --out DIR, or run the command on the machine that led the run.',
    );
}

/** Exit codes of a run that need its messages, because its files do not explain them. */
const unexplained: ReadonlySet<number> = new Set([exitCodes.stopped, exitCodes.internal, exitCodes.disk]);

/** The run that downloads. */
interface Download {
  /** The pipeline, relative to the current folder. */
  readonly file: string;
  readonly flags: RunFlags;
  readonly repairs: Repairs;
}

/** Runs without messages, notification and summary; the caller then checks the result. */
async function runQuietly({ file, flags, repairs }: Download, context: Context): Promise<number> {
  const words = bufferErrors(context.io);
  const io = {
    ...words.io,
    env: { ...context.io.env, [notifyVariable]: undefined },
    out: async () => undefined,
  };
  const said = { onWork: () => {}, warn: (text: string) => io.err(text) };
  const code = await runFile(file, flags, { ...context, io }, said, repairs);
  if (unexplained.has(code)) words.flush();
  return code;
}

/** Returns the last run again with its selection, so that the next manifest lists the same cells. */
async function downloadOf(
  {
    directory,
    isOnEngine,
    file,
  }: { readonly directory: string; readonly isOnEngine: boolean; readonly file: string | undefined },
  state: StateReader,
  given: RepairFlags,
  cwd: string,
): Promise<Download | undefined> {
  const facts = await readRunFacts(state);
  const path = isOnEngine ? file : await state.fact(pipelineFacts.path);
  if (facts === undefined || path === undefined) return undefined;
  const { limit, filters = [], shard, only = [] } = facts.selection;
  const flags: RunFlags = {
    ...noFlags,
    out: seenFrom(cwd, directory),
    'max-submits': 0,
    // Nothing is submitted, so there is no cost to confirm.
    yes: true,
    'no-progress': true,
    // The lease queue needs no other server and no session, whatever queue the run used.
    queue: isOnEngine ? 'lease' : undefined,
    sandbox: facts.serviceId === sandboxId,
    'trust-directory': given['trust-directory'],
    'base-url': given['base-url'],
    set: facts.set ?? [],
    limit,
    filter: filters,
    shard,
    only,
  };
  const { end, exitCode } = facts.outcome ?? {};
  const isLeft = end !== undefined && exitCode !== undefined && end.kind !== 'complete';
  return { file: seenFrom(cwd, path), flags, repairs: isLeft ? { left: { end, exitCode } } : {} };
}
