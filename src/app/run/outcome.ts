import { join } from 'node:path';
import { hasArtifacts } from '../../artifacts/store/store.ts';
import { first } from '../../report/facts/in-doubt.ts';
import type { JsonOutputs } from '../../report/facts/json-outputs.generated.ts';
import { runFiles } from '../../report/facts/layout.ts';
import { readLearned } from '../../report/facts/learned.ts';
import { seenFrom } from '../../report/facts/place.ts';
import { readPutBack } from '../../report/facts/put-back.ts';
import { outcomeFacts, writeRunFacts } from '../../report/facts/run.ts';
import type { RunSummary } from '../../report/text/summary.ts';
import type { ManifestTotals } from '../../results/row-ledger.ts';
import { jobsInDoubt, readSums, type SpentAtStart, spentInRun, spentSoFar } from '../../results/sums.ts';
import type { RunEnd } from '../../run/events.ts';
import { kindAt } from '../../state/files/plain-path.ts';
import type { StateReader } from '../../state/reader.ts';
import type { Context } from '../context.ts';
import { exitCodes } from '../errors/cli-error.ts';
import type { RunFlags } from '../flags.ts';
import { publishFiles } from '../service/artifact-place.ts';
import { type RunBegin, writeRunRecord } from '../workspace/record.ts';
import type { RedoOutcome } from './redo-order.ts';
import type { BegunRun } from './session.ts';

/** Output of a run. With `--quiet`, a command buffers everything except warnings until the first job changes. */
export interface RunOutput {
  /** Called when the first job changes. */
  readonly onWork: () => void;
  /** Prints a message at once, for example that a notification failed. */
  readonly warn: (text: string) => void;
  /** Called when everything is written, before notifications are sent. @param again the command that continues the run */
  readonly tell: (summary: RunSummary, again: string) => void | Promise<void>;
  /** Called instead of `tell` if the run is left to the workers of its engine. Absent: the run has no engine. */
  readonly registered?: (run: JsonOutputs['registered']) => Promise<void>;
}

/** The result of the work of a run. */
export interface RunWork {
  readonly report: {
    readonly end: RunEnd;
    /** Number of submissions of this invocation; absent: several machines made them, and the state has counted them. */
    readonly submits?: number;
    readonly redosFailed: number;
  };
  /** Number of grids that were cut into frames. */
  readonly gridsCut: number;
  readonly timedOutAgain?: number;
  /** Writes the manifest. @throws the error of the file system, StateError, TableError, the signal's reason */
  readonly list: (signal: AbortSignal) => Promise<ManifestTotals>;
  /** Stores the fingerprint of a run that left nothing to do; called where no redo is left. Absent: there is none. */
  readonly note?: () => Promise<void>;
}

/** The result of a run whose manifest was written. */
export interface RunResult extends Pick<RunWork, 'report' | 'gridsCut' | 'timedOutAgain'> {
  /** Totals of the manifest; absent: the run left before it could be written. */
  readonly totals: ManifestTotals | undefined;
  readonly exitCode: number;
  /** What became of the redo orders; absent: there are none. */
  readonly redo?: RedoOutcome | undefined;
}

/**
 * Records the outcome of a run in its state, in `run.json` and in its bucket, and adds up its results.
 *
 * @param begin the facts that `run.json` has already
 */
export async function conclude(
  run: EndedRun,
  begin: RunBegin,
  { report, totals, redo, gridsCut, timedOutAgain = 0, ...result }: RunResult,
  leave: AbortSignal,
  flags: Pick<RunFlags, 'sandbox'>,
  context: Context,
): Promise<RunSummary> {
  const { io, redactor } = context;
  const { end, redosFailed } = report;
  const { atStart } = run.facts;
  const finishedAt = io.now();
  const publish = (name: string): Promise<boolean> => publishFiles(run, [name], leave, context);
  const isListed = end.kind === 'disk' || totals === undefined || (await publish(runFiles.manifest));
  const exitCode = isListed || end.kind !== 'complete' ? result.exitCode : exitCodes.disk;
  const soFar = await readSums(run.state.reader, false);
  const submits = report.submits ?? Math.max(0, soFar.attempts - atStart.attempts);
  const spent = spentSoFar(soFar);
  const outcome = { finishedAt, end, exitCode, submits, spent, ...(totals === undefined ? {} : { totals }) };
  const noted = { ...outcome, ...(end.kind === 'complete' && context.repairs?.left) };
  // A full disk takes no more data; the state of an engine is elsewhere.
  if (end.kind !== 'disk' || begin.engine !== undefined) {
    await writeRunFacts(run.state, {
      ...run.facts,
      outcome: outcomeFacts({ ...noted, timedOutAgain }),
    });
    await writeRunRecord(join(run.directory, runFiles.record), begin, noted, redactor);
  }
  if (isListed && end.kind !== 'disk') await publish(runFiles.record);
  return await summarize(run, {
    ...outcome,
    redosFailed,
    redo,
    gridsCut,
    timedOutAgain,
    totals,
    atStart,
    cwd: io.cwd,
    origin: begin.origin,
    sandbox: flags.sandbox,
  });
}

/** The facts about a run that its final report shows. */
export type EndedRun = Pick<
  BegunRun,
  'plan' | 'artifacts' | 'remote' | 'directory' | 'startedAt' | 'facts'
> & {
  readonly state: Parameters<typeof writeRunFacts>[0] & { readonly reader: StateReader };
};

const mostInDoubt = 20;

async function summarize(
  { plan, state, artifacts, remote, directory, startedAt }: EndedRun,
  run: {
    readonly cwd: string;
    readonly origin: string;
    readonly sandbox: boolean;
    readonly finishedAt: number;
    readonly end: RunEnd;
    readonly exitCode: number;
    readonly submits: number;
    readonly redosFailed: number;
    readonly redo?: RedoOutcome | undefined;
    readonly gridsCut: number;
    readonly timedOutAgain?: number;
    readonly totals: ManifestTotals | undefined;
    /** Spending in the directory when the run began. */
    readonly atStart: SpentAtStart;
  },
): Promise<RunSummary> {
  const { totals, cwd } = run;
  const place = (name = ''): string => seenFrom(cwd, join(directory, name));
  /** Skipped for a bucket that has ended the run, or if the user no longer waits. */
  const has = async (folder: string): Promise<boolean> => {
    if (remote === undefined) return await hasArtifacts(artifacts, `${folder}/`);
    if (run.end.kind === 'disk') return false;
    return await hasArtifacts(artifacts, `${folder}/`).catch(() => false);
  };
  /** Returns the path or address of a file beside the artifacts. */
  const fileAt = (name: string): string => (remote === undefined ? place(name) : `${remote.url}/${name}`);
  const putBack = (await readPutBack(state.reader)).reduce((sum, { count }) => sum + count, 0);
  const limits = (await readLearned(state.reader))?.limits;
  const { name, source } = plan.pipeline;
  const soFar = await readSums(state.reader, false);
  const runCost = spentInRun(soFar, run.atStart);
  return {
    pipeline: name,
    file: source.file,
    service: plan.serviceId,
    origin: run.origin,
    sandbox: run.sandbox,
    directory: place(),
    ...((await has(runFiles.images)) ? { images: fileAt(runFiles.images) } : {}),
    ...(kindAt(join(directory, runFiles.replies)) === 'folder' ? { replies: place(runFiles.replies) } : {}),
    // Only the labels of buttons tell which ones make videos.
    ...((await has(runFiles.videos)) ? { videos: fileAt(runFiles.videos) } : {}),
    log: place(runFiles.log),
    ...(totals === undefined ? {} : { manifest: fileAt(runFiles.manifest) }),
    startedAt: new Date(startedAt).toISOString(),
    finishedAt: new Date(run.finishedAt).toISOString(),
    end: run.end,
    exitCode: run.exitCode,
    submits: run.submits,
    ...(run.redosFailed === 0 ? {} : { redosFailed: run.redosFailed }),
    ...(run.redo === undefined ? {} : { redo: run.redo }),
    ...(run.gridsCut === 0 ? {} : { gridsCut: run.gridsCut }),
    ...(run.timedOutAgain ? { timedOutAgain: run.timedOutAgain } : {}),
    ...(putBack === 0 ? {} : { putBack }),
    ...(limits === undefined ? {} : { limits }),
    ...(totals === undefined ? {} : totalsFacts(totals)),
    ...(runCost === undefined ? {} : { runCost }),
    ...spentSoFar(soFar),
    ...(soFar.tokens === 0 ? {} : { allTokens: soFar.tokens }),
    reasons: totals?.reasons ?? [],
    inDoubt: await firstInDoubt(state.reader),
  };
}

const totalsFacts = ({ slots, otherSlots, rows, files, tokens, unanswered, sameFiles }: ManifestTotals) => ({
  slots,
  otherSlots,
  rows,
  files,
  ...(tokens === undefined ? {} : { tokens }),
  ...(unanswered === undefined ? {} : { unanswered }),
  ...(sameFiles === undefined ? {} : { sameFiles }),
});

const firstInDoubt = async (state: StateReader): Promise<RunSummary['inDoubt']> =>
  (await first(mostInDoubt, jobsInDoubt(state, false))).map(({ key, origin: { step, branch, cell } }) => ({
    job: key,
    step,
    branch,
    cell,
  }));
