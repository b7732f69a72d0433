import { join } from 'node:path';
import { hasArtifacts } from '../../artifacts/store/store.ts';
import type { ManifestTotals } from '../../manifest/tally.ts';
import { first } from '../../report/facts/in-doubt.ts';
import { runFiles } from '../../report/facts/layout.ts';
import { readLearned } from '../../report/facts/learned.ts';
import { seenFrom } from '../../report/facts/place.ts';
import { readPutBack } from '../../report/facts/put-back.ts';
import { type SpentAtStart, spentInRun, spentSoFar, totalsWithLeft } from '../../report/facts/spent.ts';
import type { RunSummary } from '../../report/text/summary.ts';
import type { RunEnd } from '../../run/events.ts';
import { kindAt } from '../../state/files/plain-path.ts';
import type { StateReader } from '../../state/reader.ts';
import type { RedoOutcome } from './redo-order.ts';
import type { BegunRun } from './session.ts';

/** What is said of a run at its end. */
export type EndedRun = Pick<BegunRun, 'plan' | 'artifacts' | 'remote' | 'directory' | 'startedAt'> & {
  readonly state: { readonly reader: StateReader };
};

const mostInDoubt = 20;

/** Adds up the results of a run. */
export async function summarize(
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
    /** What was spent when it began. */
    readonly atStart: SpentAtStart;
  },
): Promise<RunSummary> {
  const { totals, cwd } = run;
  const place = (name = ''): string => seenFrom(cwd, join(directory, name));
  /** A bucket that has ended the run, or that nobody waits for any more, is not asked. */
  const has = async (folder: string): Promise<boolean> => {
    if (remote === undefined) return await hasArtifacts(artifacts, `${folder}/`);
    if (run.end.kind === 'disk') return false;
    return await hasArtifacts(artifacts, `${folder}/`).catch(() => false);
  };
  /** Of what lies with the artifacts. */
  const fileAt = (name: string): string => (remote === undefined ? place(name) : `${remote.url}/${name}`);
  const putBack = (await readPutBack(state.reader)).reduce((sum, { count }) => sum + count, 0);
  const limits = (await readLearned(state.reader))?.limits;
  const { name, source } = plan.pipeline;
  const soFar = await totalsWithLeft(state.reader, false);
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
    // Which buttons make videos only their labels say.
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
  (await first(mostInDoubt, state.withStatus('in-doubt'))).map(({ key, origin: { step, branch, cell } }) => ({
    job: key,
    step,
    branch,
    cell,
  }));
