import { join } from 'node:path';
import { hasArtifacts } from '../../artifacts/store/store.ts';
import { isNarrowed } from '../../manifest/cells.ts';
import type { Selection } from '../../plan/cell.ts';
import { first } from '../../report/facts/in-doubt.ts';
import { runFiles } from '../../report/facts/layout.ts';
import { readLearned } from '../../report/facts/learned.ts';
import { seenFrom } from '../../report/facts/place.ts';
import { readPutBack } from '../../report/facts/put-back.ts';
import { outcomeFacts, writeRunFacts } from '../../report/facts/run.ts';
import type { RunSummary } from '../../report/text/summary.ts';
import type { ManifestTotals } from '../../results/row-ledger.ts';
import { jobsInDoubt, readSums, spentInRun, spentSoFar } from '../../results/sums.ts';
import { kindAt } from '../../state/files/plain-path.ts';
import type { StateReader } from '../../state/reader.ts';
import { exitCodes } from '../errors/cli-error.ts';
import { publishFiles } from '../service/artifact-place.ts';
import { type RunBegin, type RunOutcome, writeRunRecord } from '../workspace/record.ts';
import type { RedoOutcome } from './redo-order.ts';
import type { CheckedRun, DoneWork, PlannedRun } from './stages.ts';

/**
 * Records the outcome of a run in its state, in `run.json` and in its bucket, and adds up its results.
 *
 * @param begin the facts that `run.json` has already
 * @param totals of the manifest; undefined: the run left before it could be written
 * @param redo what became of the redo orders; undefined: there are none
 */
export async function conclude(
  { flags, interrupts: { leave }, context, repairs }: CheckedRun,
  run: PlannedRun,
  begin: RunBegin,
  done: DoneWork & {
    readonly totals: ManifestTotals | undefined;
    readonly exitCode: number;
    readonly redo: RedoOutcome | undefined;
  },
): Promise<RunSummary> {
  const { io, redactor } = context;
  const { end, totals, timedOutAgain } = done;
  const { state, directory, facts } = run;
  const finishedAt = io.now();
  const publish = (name: string): Promise<boolean> => publishFiles(run, [name], leave, context);
  const isListed = end.kind === 'disk' || totals === undefined || (await publish(runFiles.manifest));
  const exitCode = isListed || end.kind !== 'complete' ? done.exitCode : exitCodes.disk;
  const soFar = await readSums(state.reader, false);
  const submits = done.submits ?? Math.max(0, soFar.attempts - facts.atStart.attempts);
  const spent = spentSoFar(soFar);
  const outcome = { finishedAt, end, exitCode, submits, spent, ...(totals === undefined ? {} : { totals }) };
  const groups = leftOut(facts.selection, totals, end);
  const noted = { ...outcome, ...(end.kind === 'complete' && repairs?.left) };
  // A full disk takes no more data; the state of an engine is elsewhere.
  if (end.kind !== 'disk' || run.shown !== undefined) {
    await writeRunFacts(state, { ...facts, outcome: outcomeFacts({ ...noted, ...groups, timedOutAgain }) });
    await writeRunRecord(join(directory, runFiles.record), begin, noted, redactor);
  }
  if (isListed && end.kind !== 'disk') await publish(runFiles.record);
  return await summarize(run, { ...done, ...outcome, ...groups, totals }, flags.sandbox, io.cwd);
}

const maxInDoubt = 20;

async function summarize(
  { plan, state, artifacts, remote, directory, startedAt, facts, origin }: PlannedRun,
  run: Parameters<typeof conclude>[3] &
    Pick<RunOutcome, 'finishedAt' | 'submits'> &
    Pick<RunSummary, 'leftOut'>,
  sandbox: boolean,
  cwd: string,
): Promise<RunSummary> {
  const { totals } = run;
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
  const runCost = spentInRun(soFar, facts.atStart);
  return {
    pipeline: name,
    file: source.file,
    service: plan.serviceId,
    origin,
    sandbox,
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
    ...(run.leftOut && { leftOut: run.leftOut }),
    ...(runCost === undefined ? {} : { runCost }),
    ...spentSoFar(soFar),
    ...(soFar.tokens === 0 ? {} : { allTokens: soFar.tokens }),
    reasons: totals?.reasons ?? [],
    inDoubt: await firstInDoubt(state.reader),
  };
}

/** Returns the slots for groups of cells that wait for results which the flags left out: the run has done all that it could. */
const leftOut = (
  selection: Selection,
  totals: ManifestTotals | undefined,
  { kind }: DoneWork['end'],
): Pick<RunSummary, 'leftOut'> =>
  kind === 'complete' &&
  isNarrowed(selection) &&
  totals?.pendingGroups !== undefined &&
  totals.slots['in-doubt'] === 0
    ? { leftOut: totals.pendingGroups }
    : {};

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
  (await first(maxInDoubt, jobsInDoubt(state, false))).map(({ key, origin: { step, branch, cell } }) => ({
    job: key,
    step,
    branch,
    cell,
  }));
