import { join, resolve } from 'node:path';
import { isNarrowed } from '../manifest/cells.ts';
import { runFiles } from '../report/facts/layout.ts';
import { seenFrom } from '../report/facts/place.ts';
import { money } from '../report/text/amounts.ts';
import { runAgain } from '../report/text/next-commands.ts';
import type { RunSummary } from '../report/text/summary.ts';
import type { ManifestTotals } from '../results/row-ledger.ts';
import { isOpenOrder } from '../state/redo-order.ts';
import { closingAfter } from './adapters/disposables.ts';
import { gitFacts } from './adapters/git/git.ts';
import { checkMetricsFile, type MetricsWatch, watchMetrics } from './adapters/metrics-file.ts';
import type { Context } from './context.ts';
import { usageError } from './errors/cli-error.ts';
import { failureText, shownErrorOf } from './errors/render.ts';
import type { RunFlags } from './flags.ts';
import { estimateRun } from './run/dry-run.ts';
import { listInTime } from './run/execute.ts';
import { runExitCode } from './run/exit-code.ts';
import { conclude } from './run/outcome.ts';
import { askedFor, closeOrders, redoWishOf, takeOrders } from './run/redo-order.ts';
import { reuseJobs } from './run/reuse.ts';
import type { CheckedRun, DoneWork, LockedRun, Repairs, Runner, RunOutput } from './run/stages.ts';
import { notify, notifyTarget } from './service/notify.ts';
import { settleService } from './service/settings.ts';
import { admit } from './service/trust.ts';
import { addressWarning, keyWarning } from './service/warnings.ts';
import { loadPipeline, type PipelineText, type ReadPipeline } from './workspace/read-pipeline.ts';
import { type RunBegin, writeRunRecord } from './workspace/record.ts';

/**
 * Reads and checks a pipeline, settles its service and asks for permissions. Takes no lock and sends nothing.
 *
 * @throws CliError (exit 2), Reported for an invalid pipeline
 */
export async function openRun(
  given: string | PipelineText,
  flags: RunFlags,
  context: Context,
): Promise<Pick<CheckedRun, 'read' | 'service'>> {
  const { io, redactor } = context;
  const read = await loadPipeline(given, flags, context);
  const settled = settleService(read.pipeline, flags, io.env, redactor);
  const service = await admit(settled, read.pipeline.source.file, context, { mayAsk: true });
  const { baseUrl, apiKey } = service;
  const warnings = baseUrl === undefined ? [] : [addressWarning(baseUrl), keyWarning(apiKey)];
  for (const warning of warnings) {
    if (warning !== undefined) io.err(failureText(`warning: ${warning}`));
  }
  await askAboutCost(read, flags, context);
  return { read, service };
}

/**
 * Asks for confirmation if the estimate of a run is above `budget.ask`, before anything is opened or sent. A rehearsal costs nothing and
 * asks nothing.
 *
 * @throws CliError (exit 2) if the user says no, or cannot be asked and gave no --yes
 */
async function askAboutCost(read: ReadPipeline, flags: RunFlags, context: Context): Promise<void> {
  const { ask } = read.pipeline.budget;
  if (ask === undefined || flags.yes || flags.sandbox) return;
  const { atMost: cost, exact } = await closingAfter((disposables) =>
    estimateRun(read, flags, disposables, context),
  );
  if (cost <= ask) return;
  const { io } = context;
  const says = `${exact ? '' : 'At most: '}${read.pipeline.source.file} is about to spend ${money(cost)}, more than budget.ask (${money(ask)})`;
  if (io.ask === undefined)
    throw usageError(
      `${says}, and there is no terminal to ask at. Nothing was submitted.`,
      'Say yes on the command line (--yes), or run a part of it (--limit, --filter). promptpress plan shows what it is for.',
    );
  const typed = await io.ask(`${says}. Go on? [y/N] `);
  if (/^\s*y(?:es)?\s*$/i.test(typed ?? '')) return;
  throw usageError(
    'Not confirmed: nothing was submitted.',
    'promptpress plan shows what it costs; --limit runs a part of it.',
  );
}

/**
 * Runs a pipeline from beginning to end: takes the lock, plans, does the work, writes the manifest, records the outcome and tells of it.
 *
 * @param runner does the work
 * @param repairs the run only downloads; absent: it does what its flags choose
 * @returns undefined if the run continues without this process
 * @throws CliError, StateError, Reported if the run is refused; an error that ends a run is in its summary
 */
export const runOpened = (
  opened: Pick<CheckedRun, 'read' | 'service'>,
  flags: RunFlags,
  context: Context,
  output: RunOutput,
  runner: Runner,
  repairs?: Repairs,
): Promise<RunSummary | undefined> =>
  closingAfter(async (disposables) => {
    const { io, redactor } = context;
    const { pipeline } = opened.read;
    const warn = (text: string): void => output.warn(failureText(`warning: ${text}`));
    // A wrong address is refused before any lock is taken.
    const target = notifyTarget(flags.notify, io.env, redactor);
    // A run that continues without this process has no metrics here.
    const metricsFile = flags.detach ? undefined : flags['metrics-file'];
    const file = metricsFile && resolve(io.cwd, metricsFile);
    if (file !== undefined) await checkMetricsFile(file, '--metrics-file');
    // Until the first job changes, the run may be killed: nothing is paid that its state does not know.
    const interrupts = io.interrupts('late');
    disposables.add(() => interrupts.stop());
    const run: CheckedRun = { ...opened, flags, interrupts, output, disposables, context, repairs };
    const locked = await runner.lock(run);
    let isOver = false;
    const measured = {
      pipeline: pipeline.name,
      startedAt: locked.startedAt,
      totals: () => locked.totals(isOver),
      workersStatus: () => locked.workersStatus?.(),
    };
    const metrics = file === undefined ? undefined : watchMetrics({ file, ...measured }, io, warn);
    let summary: RunSummary | undefined;
    try {
      summary = await runLocked(run, locked, runner, metrics).finally(() => {
        isOver = true;
      });
      if (summary === undefined) return undefined;
      // The engine's address without its password, which a command line would show to others.
      const engine = flags.engine && locked.shown;
      await output.tell(summary, runAgain(pipeline.source.file, { ...flags, engine }));
    } catch (error) {
      await metrics?.end({ exitCode: shownErrorOf(error).exitCode });
      throw error;
    }
    await metrics?.end({ exitCode: summary.exitCode, kind: summary.end.kind });
    if (target === undefined) return summary;
    const { clock } = io.machine;
    const failure = await notify(target, summary, redactor, { clock, env: io.env, leave: interrupts.leave });
    if (failure !== undefined) warn(failure);
    return summary;
  });

/** Plans a locked run, does its work, writes its manifest and records the outcome. */
async function runLocked(
  run: CheckedRun,
  locked: LockedRun,
  runner: Runner,
  metrics: MetricsWatch | undefined,
): Promise<RunSummary | undefined> {
  const { read, flags, interrupts, context } = run;
  const { io, redactor } = context;
  const wish = await redoWishOf(flags, locked.state.reader, io.cwd);
  const planned = await runner.plan(run, locked, wish);
  const { reader } = planned.state;
  const git = await gitFacts(read.pipeline.source.folder, { env: io.env, signal: interrupts.leave });
  if (!flags['no-progress']) for (const line of planned.reached) io.err(`${line}\n`);
  const begin: RunBegin = { ...planned, ...(git && { git }), redo: askedFor(wish) };
  await writeRunRecord(join(planned.directory, runFiles.record), begin, undefined, redactor);
  const orders = await runner.orders(run, planned);
  for (const line of await takeOrders(wish, orders, reader)) io.err(`${line}\n`);

  await reuseJobs(run, planned, runner);
  const done = await runner.work(run, planned, metrics);
  if (done === undefined) return undefined;
  const isOnDisk = done.end.kind !== 'disk';
  const listed = await listWork(done, locked.shown ?? seenFrom(io.cwd, planned.directory), run);
  const isWhole = done.end.kind === 'complete' && !isNarrowed(planned.selection) && done.redosFailed === 0;
  const isDone = isWhole && listed.totals !== undefined && isAllDone(listed.totals.slots);
  const { redo, notice } = isOnDisk ? await closeOrders(orders, reader, isDone) : {};
  if (notice !== undefined) io.err(`${notice}\n`);
  // The next run must find the jobs that are still to be remade.
  if (isOnDisk && listed.totals !== undefined && !(redo !== undefined && isOpenOrder(redo)))
    await done.note?.();
  return await conclude(run, planned, begin, { ...done, ...listed, redo });
}

/** Whether nothing is left of a plan, and nothing has failed. */
const isAllDone = ({ done: _done, skipped: _skipped, ...others }: ManifestTotals['slots']): boolean =>
  Object.values(others).every((count) => count === 0);

/** Writes the manifest, however the run ended: even after an interrupt or a full disk the finished work is listed. */
async function listWork(
  { end, redosFailed, list }: DoneWork,
  place: string,
  { interrupts, context: { io } }: CheckedRun,
): Promise<{ readonly totals: ManifestTotals | undefined; readonly exitCode: number }> {
  const codeOf = (totals: ManifestTotals | undefined): number =>
    runExitCode(end, totals?.slots, interrupts.first(), redosFailed);
  try {
    const say = (text: string): void => io.err(text);
    const totals = await listInTime(interrupts, place, say, list, io.machine.clock);
    return { totals, exitCode: codeOf(totals) };
  } catch (error) {
    const { text, exitCode } = shownErrorOf(error);
    if (text !== undefined) io.err(text);
    return { totals: undefined, exitCode: end.kind === 'complete' ? exitCode : codeOf(undefined) };
  }
}
