import { join, resolve } from 'node:path';
import { closingAfter, type Disposables } from '../../app/adapters/disposables.ts';
import { gitFacts } from '../../app/adapters/git/git.ts';
import { checkMetricsFile } from '../../app/adapters/metrics-file.ts';
import { type MetricsWatch, watchMetrics } from '../../app/adapters/metrics-watch.ts';
import type { Context } from '../../app/context.ts';
import { exitCodes } from '../../app/errors/cli-error.ts';
import { failureText, shownErrorOf } from '../../app/errors/render.ts';
import { engineOfRun } from '../../app/flags.ts';
import type { Interrupts } from '../../app/output/io.ts';
import { jsonLine } from '../../app/output/json-line.ts';
import { finishedResult, identityOfRun, openFinished, settledSteps } from '../../app/receipt/finished.ts';
import { knownPlan } from '../../app/receipt/known-plan.ts';
import { reusableCells } from '../../app/receipt/reuse.ts';
import { workOff } from '../../app/receipt/work-off.ts';
import { askAboutCost } from '../../app/run/ask-budget.ts';
import { showPlan } from '../../app/run/dry-run.ts';
import { askedFor, redoWishOf, takeOrders } from '../../app/run/redo-order.ts';
import { type HeldDirectory, holdDirectory, openRunSession, type RunOpening } from '../../app/run/session.ts';
import { runSettings } from '../../app/run/settings.ts';
import { summarize } from '../../app/run/summary.ts';
import { publishFiles, s3PlaceOf } from '../../app/service/artifact-place.ts';
import { notify, notifyTarget } from '../../app/service/notify.ts';
import { reachService, rehearsalSettings } from '../../app/service/sandbox.ts';
import { settleService } from '../../app/service/settings.ts';
import { type AdmittedService, admit } from '../../app/service/trust.ts';
import { addressWarning, keyWarning } from '../../app/service/warnings.ts';
import { placeOfRun } from '../../app/workspace/checks/place.ts';
import { fileOrDefault } from '../../app/workspace/default-file.ts';
import { loadPipeline, type ReadPipeline } from '../../app/workspace/read-pipeline.ts';
import { type RunBegin, writeRunRecord } from '../../app/workspace/record.ts';
import { selectionOf } from '../../app/workspace/selection.ts';
import { isInterrupted } from '../../plan/estimate/revival.ts';
import { namesDirectory, runFiles } from '../../report/facts/layout.ts';
import { outcomeFacts, writeRunFacts } from '../../report/facts/run.ts';
import { spentSoFar, totalsWithLeft, withReserveOf } from '../../report/facts/spent.ts';
import { runAgain } from '../../report/text/next-commands.ts';
import { serviceWords } from '../../report/text/plan-text.ts';
import { endingText, type RunSummary } from '../../report/text/summary.ts';
import type { StoreTotals } from '../../state/reader.ts';
import { command } from '../args/command.ts';
import type { FlagValues } from '../args/flags.ts';
import { checkEngineFlags, checkRehearsal, runFlags } from '../args/run-flags.ts';
import { summaries } from '../args/summaries.ts';
import { holdWords } from '../terminal/held-words.ts';
import { showProgress } from '../terminal/progress/progress.ts';

type RunFlags = FlagValues<typeof runFlags>;

/** `promptpress run FILE` */
export const run = command(
  {
    name: 'run',
    summary: summaries.run,
    operands: '[FILE]',
    about: `Runs a pipeline and leaves its images, manifest.csv and run.json in the run directory, runs/<name> beside the pipeline file. The same command again continues: finished jobs are not repeated, failed jobs stay failed until --retry-failed, and after an edit only changed jobs are made. It may be killed at any moment. Without FILE it takes pipeline.yaml of the current folder.
Press Ctrl-C once to stop taking on new work and settle what is in flight, twice to leave at once; both can be continued.
Exit codes: 0 all done or skipped; 1 some failed or blocked; 2 wrong use or invalid pipeline; 3 stopped by the service (key, address, the same rejection over and over); 4 budget reached; 5 jobs in doubt; 70 a bug; 74 disk full or not writable, or a bucket that takes nothing, or a state that is damaged, older than its run, or was removed while in use; 75 another run holds the directory; 130, 143 interrupted.`,
    examples: [
      {
        command: 'promptpress run pipeline.yaml --sandbox',
        does: 'rehearse on this machine: no key, no cost',
      },
      {
        command: 'promptpress run pipeline.yaml --limit 3',
        does: 'the first three cells, to see whether it is right',
      },
      { command: 'promptpress run pipeline.yaml', does: 'all of it, or what is left of it' },
      { command: 'promptpress run pipeline.yaml --filter animal=fox', does: 'only the cells of one value' },
      { command: 'promptpress run pipeline.yaml --retry-failed', does: 'what failed, once more' },
      { command: 'promptpress run pipeline.yaml --max-duration 6h', does: 'as much as a night allows' },
    ],
    flags: runFlags,
  },
  { least: 0, most: 1 },
  async (flags, [given], plain) => {
    const context = { ...plain, showProgress };
    context.io.boundCompiler();
    const file = fileOrDefault(given, 'run', context.io);
    checkRehearsal(flags);
    checkEngineFlags(flags, context.io);
    if (!flags.quiet || flags['dry-run'])
      return await runFile(file, flags, context, { onWork: () => {}, warn: (text) => context.io.err(text) });
    const words = holdWords(context.io);
    let exitCode: number | undefined;
    try {
      exitCode = await runFile(
        file,
        flags,
        { ...context, io: words.io },
        // A warning is to be read, also where all else is held back because nothing was to be done.
        { onWork: () => words.speak(), warn: (text) => context.io.err(text) },
      );
      return exitCode;
    } finally {
      if (exitCode !== exitCodes.ok) words.speak();
    }
  },
);

/** How a run is heard that says nothing while nothing is to be done. */
interface Hearing {
  /** Called when the first job changes. */
  readonly onWork: () => void;
  /** Says on standard error at once what the user would miss: that nobody was notified. */
  readonly warn: (text: string) => void;
}

async function runFile(file: string, flags: RunFlags, context: Context, hearing: Hearing): Promise<number> {
  const read = await loadPipeline(file, flags, context);
  if (flags['dry-run']) return await showPlan(read, flags, context, knownPlan);

  const settled = settleService(read.pipeline, flags, context.io.env, context.redactor);
  const service = await admit(settled, file, context, { mayAsk: true });
  const { baseUrl, apiKey } = service;
  const warnings = baseUrl === undefined ? [] : [addressWarning(baseUrl), keyWarning(apiKey)];
  for (const warning of warnings) {
    if (warning !== undefined) context.io.err(failureText(`warning: ${warning}`));
  }
  await askAboutCost(read, flags, context, knownPlan);
  if (engineOfRun(flags, context.io) !== undefined) {
    const { runOnEngine } = await import('../../app/engine/lead/command.ts');
    return await runOnEngine(read, service, flags, context, hearing.warn);
  }
  return await closingAfter((disposables) =>
    runPipeline(read, service, flags, disposables, context, hearing),
  );
}

async function runPipeline(
  read: ReadPipeline,
  service: AdmittedService,
  flags: RunFlags,
  disposables: Disposables,
  context: Context,
  { onWork, warn: say }: Hearing,
): Promise<number> {
  const { io, redactor } = context;
  const target = notifyTarget(flags.notify, io.env, redactor);
  const metricsName = flags['metrics-file'] && resolve(io.cwd, flags['metrics-file']);
  if (metricsName !== undefined) await checkMetricsFile(metricsName, '--metrics-file');
  const readSince = Date.now();
  // Until the first job changes a run may be killed: nothing is paid that its state does not know.
  const interrupts = io.interrupts('late');
  disposables.add(() => interrupts.stop());
  const place = s3PlaceOf(flags.out);
  const opening: RunOpening = {
    directory: await placeOfRun(read, flags, io.cwd),
    service: {
      id: service.id,
      ...(service.baseUrl === undefined ? {} : { origin: new URL(service.baseUrl).origin }),
    },
    newService: flags['new-service'],
    selection: selectionOf(flags),
    isDefault: !namesDirectory(flags),
    ...(place === undefined ? {} : { place }),
    frozen: flags.frozen,
    trusted: flags['trust-directory'],
    acceptsOlder: flags['accept-older-state'] || flags['in-doubt'] === 'find',
  };
  const held = await holdDirectory(read, opening, interrupts.leave, disposables, context);
  const warn = (text: string): void => say(failureText(`warning: ${text}`));
  let isOver = false;
  const metrics =
    metricsName === undefined
      ? undefined
      : watchMetrics(
          {
            file: metricsName,
            pipeline: read.pipeline.name,
            startedAt: held.startedAt,
            totals: () => (isOver ? totalsAtEnd(held.state) : held.state.totals()),
          },
          io,
          warn,
        );
  let summary: RunSummary;
  try {
    const started = { readSince, interrupts, opening, held, metrics, onWork };
    summary = await carriedOut(read, service, flags, started, disposables, context);
  } catch (error) {
    isOver = true;
    await metrics?.end({ exitCode: shownErrorOf(error).exitCode });
    throw error;
  }
  isOver = true;
  const { end, exitCode } = summary;
  await metrics?.end({ exitCode, kind: end.kind });
  if (target !== undefined) {
    const ports = { clock: io.machine.clock, env: io.env, leave: interrupts.leave };
    const failure = await notify(target, summary, redactor, ports);
    if (failure !== undefined) warn(failure);
  }
  return exitCode;
}

/** What was left without an answer may have been paid. */
const totalsAtEnd = (state: HeldDirectory['state']): StoreTotals =>
  state.unfinished().filter(isInterrupted).reduce(withReserveOf, state.totals());

/** Carries a run out in a directory that is held, and says what came of it. */
async function carriedOut(
  read: ReadPipeline,
  service: AdmittedService,
  flags: RunFlags,
  started: {
    /** Unix ms: no file of the pipeline was read before. */
    readonly readSince: number;
    readonly interrupts: Interrupts;
    readonly opening: RunOpening;
    readonly held: HeldDirectory;
    readonly metrics: MetricsWatch | undefined;
    readonly onWork: () => void;
  },
  disposables: Disposables,
  context: Context,
): Promise<RunSummary> {
  const { io, redactor } = context;
  const { readSince, interrupts, opening, held, metrics, onWork } = started;
  const wish = await redoWishOf(flags, held.state.reader, io.cwd);
  const reuse = await reusableCells(read, opening, held, flags);
  const opened = (await openFinished(read, opening, held, flags, redactor)) ?? {
    receipt: undefined,
    begun: await openRunSession(read, opening, held, context),
  };
  const { begun } = opened;
  const settings = await runSettings(read.pipeline, flags, service.speed, begun.state.reader);
  const git = await gitFacts(read.pipeline.source.folder, { env: io.env, signal: interrupts.leave });
  const baseUrl = await reachService(service, begun, rehearsalSettings(flags), disposables);
  const { origin } = new URL(baseUrl);
  if (service.baseUrl !== undefined && !flags['no-progress'])
    io.err(`Service: ${serviceWords(service.id, origin)}\n`);
  const begin: RunBegin = {
    ...begun,
    ...(git === undefined ? {} : { git }),
    origin,
    settings,
    redo: askedFor(wish),
  };
  const recordFile = join(begun.directory, runFiles.record);
  await writeRunRecord(recordFile, begin, undefined, redactor);
  for (const line of await takeOrders(wish, begun.state.redos, begun.state.reader)) io.err(`${line}\n`);

  const work = {
    service,
    baseUrl,
    settings,
    identity: identityOfRun(read, opening),
    readSince,
    onWork: () => {
      interrupts.listen();
      onWork();
    },
    reuse,
    metrics,
  };
  if (opened.receipt !== undefined) metrics?.begin({ steps: settledSteps(begun, opened.receipt) });
  const result =
    opened.receipt === undefined
      ? await workOff(opened.begun, work, flags, interrupts, disposables, context)
      : finishedResult(begun, opened.receipt, readSince, flags, interrupts, context);
  const finishedAt = io.now();
  const { report, totals } = result;
  const { end, submits } = report;
  const publish = (...names: readonly string[]): Promise<boolean> =>
    publishFiles(begun, names, interrupts.leave, context);
  const isListed = end.kind === 'disk' || totals === undefined || (await publish(runFiles.manifest));
  const exitCode = isListed || end.kind !== 'complete' ? result.exitCode : exitCodes.disk;
  const spent = spentSoFar(await totalsWithLeft(begun.state.reader, false));
  const outcome = { finishedAt, end, exitCode, submits, spent, ...(totals === undefined ? {} : { totals }) };
  const { timedOutAgain = 0 } = result;
  if (end.kind !== 'disk') {
    await writeRunFacts(begun.state, {
      ...begun.facts,
      outcome: outcomeFacts({ ...outcome, timedOutAgain }),
    });
    await writeRunRecord(recordFile, begin, outcome, redactor);
    if (isListed) await publish(runFiles.record);
  }

  const summary = await summarize(begun, {
    ...outcome,
    redosFailed: report.redosFailed,
    redo: result.redo,
    gridsCut: result.gridsCut,
    timedOutAgain,
    totals,
    atStart: begun.facts.atStart,
    cwd: io.cwd,
    origin,
    sandbox: flags.sandbox,
  });
  const mayFind = read.pipeline.service.tag && flags['in-doubt'] !== 'find';
  io.err(endingText(summary, runAgain(read.pipeline.source.file, flags), mayFind));
  if (flags.json) await io.data(jsonLine(summary));
  return summary;
}
