import { join, resolve } from 'node:path';
import { isInterrupted } from '../plan/estimate/revival.ts';
import { namesDirectory, runFiles } from '../report/facts/layout.ts';
import { withReserveOf } from '../report/facts/spent.ts';
import { money } from '../report/text/amounts.ts';
import { runAgain } from '../report/text/next-commands.ts';
import { serviceWords } from '../report/text/plan-text.ts';
import { type RunSummary } from '../report/text/summary.ts';
import type { StoreTotals } from '../state/reader.ts';
import { closingAfter, type Disposables } from './adapters/disposables.ts';
import { gitFacts } from './adapters/git/git.ts';
import { checkMetricsFile } from './adapters/metrics-file.ts';
import { type MetricsWatch, watchMetrics } from './adapters/metrics-watch.ts';
import type { Context } from './context.ts';
import { usageError } from './errors/cli-error.ts';
import { failureText } from './errors/render.ts';
import type { RunFlags } from './flags.ts';
import type { Interrupts } from './output/io.ts';
import { finishedResult, identityOfRun, openFinished, settledSteps } from './receipt/finished.ts';
import { knownPlan } from './receipt/known-plan.ts';
import { reusableCells } from './receipt/reuse.ts';
import { workOff } from './receipt/work-off.ts';
import { estimateRun, type KnownPlan } from './run/dry-run.ts';
import { conclude, type RunOutput, seenThrough } from './run/outcome.ts';
import { askedFor, redoWishOf, takeOrders } from './run/redo-order.ts';
import { type HeldDirectory, holdDirectory, openRunSession, type RunOpening } from './run/session.ts';
import { runSettings } from './run/settings.ts';
import { s3PlaceOf } from './service/artifact-place.ts';
import { notifyTarget } from './service/notify.ts';
import { reachService, rehearsalSettings } from './service/sandbox.ts';
import { settleService } from './service/settings.ts';
import { type AdmittedService, admit } from './service/trust.ts';
import { addressWarning, keyWarning } from './service/warnings.ts';
import { placeOfRun } from './workspace/checks/place.ts';
import { loadPipeline, type PipelineText, type ReadPipeline } from './workspace/read-pipeline.ts';
import { type RunBegin, writeRunRecord } from './workspace/record.ts';
import { selectionOf } from './workspace/selection.ts';

/** A pipeline that may be run, and the service that it may be run against. */
export interface OpenedRun {
  readonly read: ReadPipeline;
  readonly service: AdmittedService;
}

/**
 * Reads and checks a pipeline, settles its service and asks for what the user has to allow. Nothing is held or sent.
 *
 * @throws CliError (exit 2), Reported for a pipeline that is not valid
 */
export async function openRun(
  given: string | PipelineText,
  flags: RunFlags,
  context: Context,
): Promise<OpenedRun> {
  const { io, redactor } = context;
  const read = await loadPipeline(given, flags, context);
  const settled = settleService(read.pipeline, flags, io.env, redactor);
  const service = await admit(settled, read.pipeline.source.file, context, { mayAsk: true });
  const { baseUrl, apiKey } = service;
  const warnings = baseUrl === undefined ? [] : [addressWarning(baseUrl), keyWarning(apiKey)];
  for (const warning of warnings) {
    if (warning !== undefined) io.err(failureText(`warning: ${warning}`));
  }
  await askAboutCost(read, flags, context, knownPlan);
  return { read, service };
}

/**
 * Asks before a run whose estimate is above `budget.ask`, and before anything is opened or sent. A rehearsal costs nothing,
 * and asks nothing.
 *
 * @throws CliError (exit 2) for a no, and where no user can be asked: an unattended run must not spend money that its file
 * wants to be asked about, unless its command line says yes
 */
async function askAboutCost(
  read: ReadPipeline,
  flags: RunFlags,
  context: Context,
  known: KnownPlan,
): Promise<void> {
  const { ask } = read.pipeline.budget;
  if (ask === undefined || flags.yes || flags.sandbox) return;
  const { atMost: cost, exact } = await closingAfter((disposables) =>
    estimateRun(read, flags, disposables, context, known),
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
 * Runs a pipeline on this machine, in a directory that is held meanwhile.
 *
 * @throws CliError, StateError, Reported for what is refused; what ends a run that has begun is in its summary
 */
export const runHere = (
  { read, service }: OpenedRun,
  flags: RunFlags,
  context: Context,
  output: RunOutput,
): Promise<RunSummary> =>
  closingAfter(async (disposables) => {
    const { io } = context;
    // A wrong address is refused before anything is held.
    notifyTarget(flags.notify, io.env, context.redactor);
    const metricsName = flags['metrics-file'] && resolve(io.cwd, flags['metrics-file']);
    if (metricsName !== undefined) await checkMetricsFile(metricsName, '--metrics-file');
    const readSince = io.machine.timeOfDay();
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
            (text) => output.warn(failureText(`warning: ${text}`)),
          );
    const work = async () => {
      try {
        const started = { readSince, interrupts, opening, held, metrics, onWork: output.onWork };
        const summary = await workIn(read, service, flags, started, disposables, context);
        return { summary, again: runAgain(read.pipeline.source.file, flags) };
      } finally {
        isOver = true;
      }
    };
    const told = await seenThrough(flags, output, metrics, interrupts.leave, context, work);
    return told.summary;
  });

/** What was left without an answer may have been paid. */
const totalsAtEnd = (state: HeldDirectory['state']): StoreTotals =>
  state.unfinished().filter(isInterrupted).reduce(withReserveOf, state.totals());

/** Plans, works and lists in a directory that is held, and records what came of it. */
async function workIn(
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
  await writeRunRecord(join(begun.directory, runFiles.record), begin, undefined, redactor);
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
  return await conclude(begun, begin, result, interrupts.leave, flags, context);
}
