import { join } from 'node:path';
import { openArtifactFolder } from '../../../../artifacts/store/folder.ts';
import { type LedEnd, lead } from '../../../../engine/coordinator.ts';
import { boundsOf } from '../../../../engine/limits/run-allowance.ts';
import { every } from '../../../../engine/slices/session.ts';
import type { ManifestTotals } from '../../../../manifest/tally.ts';
import { runFiles } from '../../../../report/facts/layout.ts';
import { outcomeFacts, writeRunFacts } from '../../../../report/facts/run.ts';
import { runAgain } from '../../../../report/text/next-commands.ts';
import { serviceWords } from '../../../../report/text/plan-text.ts';
import { endingText, type RunSummary } from '../../../../report/text/summary.ts';
import type { RunListener } from '../../../../run/events.ts';
import type { Disposables } from '../../../adapters/disposables.ts';
import { gitFacts } from '../../../adapters/git/git.ts';
import type { Context } from '../../../args/command.ts';
import type { FlagValues } from '../../../args/flags.ts';
import type { runFlags } from '../../../args/run-flags.ts';
import { shownErrorOf } from '../../../errors/render.ts';
import type { OpenEngine } from '../../../service/engine/connect.ts';
import type { AdmittedService } from '../../../service/trust.ts';
import type { Interrupts, Io } from '../../../terminal/io.ts';
import { jsonLine } from '../../../terminal/json-line.ts';
import { showProgress } from '../../../terminal/progress/progress.ts';
import { type ReadPipeline } from '../../../workspace/read-pipeline.ts';
import { type RunBegin, writeRunRecord } from '../../../workspace/record.ts';
import { listResults } from '../../execute.ts';
import { runExitCode } from '../../exit-code.ts';
import { openRunLog } from '../../log.ts';
import { progressStart } from '../../progress-start.ts';
import { summarize } from '../../summary.ts';
import { namedQueue, openQueue } from '../queue.ts';

import { defaultLeaseMs, workerName, workOnRun } from '../worker/work.ts';
import { type BegunOnEngine, beginOnEngine, sliceSize } from './begin.ts';
import type { LedDirectory } from './hold.ts';
import { EngineProgress } from './progress.ts';

type RunFlags = FlagValues<typeof runFlags>;
type Service = AdmittedService & { readonly baseUrl: string };

/**
 * Carries out a run that is held, with all workers of its engine, and says what came of it.
 *
 * @returns undefined where the run was left to its workers (`--detach`)
 */
export async function coordinate(
  read: ReadPipeline,
  service: Service,
  engine: OpenEngine,
  held: LedDirectory,
  flags: RunFlags,
  interrupts: Interrupts,
  disposables: Disposables,
  context: Context,
): Promise<RunSummary | undefined> {
  const { io, redactor } = context;
  const begun = await beginOnEngine(read, service, engine, held, flags, context);
  const { directory, plan, tables, images, settings, spec, facts, shown } = begun;
  const git = await gitFacts(read.pipeline.source.folder, { env: io.env, signal: interrupts.leave });
  const { origin } = spec.service;
  if (!flags['no-progress']) {
    io.err(redactor.apply(`Service: ${serviceWords(service.id, origin)}\n`));
    io.err(redactor.apply(`Engine: ${shown}\n`));
  }
  const { startedAt } = begun.runFacts;
  const { selection } = spec;
  const record: RunBegin = {
    plan,
    tables,
    images,
    ...(git === undefined ? {} : { git }),
    origin,
    selection,
    settings,
    startedAt,
    engine: shown,
  };
  const recordFile = join(directory, runFiles.record);
  await writeRunRecord(recordFile, record, undefined, redactor);

  const { end } = await led(begun, service, flags, interrupts, disposables, context);
  if (end === undefined) {
    const commands = [`promptpress status ${shown}`, `promptpress stop ${shown}`];
    io.err(
      redactor.apply(
        `Registered: ${begun.cells} cells. Workers carry it out; the same command without --detach takes it up.\n${commands.map((line) => `  ${line}\n`).join('')}`,
      ),
    );
    return undefined;
  }
  const { totals, exitCode } = await listed(begun, end, interrupts, flags, context);
  const finishedAt = io.now();
  const { attempts } = await facts.reader.totals();
  const submits = Math.max(0, attempts - begun.runFacts.atStart.attempts);
  const outcome = { finishedAt, end, exitCode, submits, ...(totals === undefined ? {} : { totals }) };
  await writeRunFacts(facts, { ...begun.runFacts, outcome: outcomeFacts(outcome) });
  await writeRunRecord(recordFile, record, outcome, redactor);
  const artifacts = openArtifactFolder(directory, true);
  disposables.add(() => artifacts.close());
  const summary = await summarize(
    { plan, state: facts, artifacts, directory, startedAt },
    { ...outcome, redosFailed: 0, gridsCut: 0, totals, cwd: io.cwd, origin, sandbox: false },
  );
  const mayFind = read.pipeline.service.tag && flags['in-doubt'] !== 'find';
  io.err(redactor.apply(endingText(summary, runAgain(read.pipeline.source.file, flags), mayFind)));
  if (flags.json) await io.out(redactor.applyToData(jsonLine(summary)));
  return summary;
}

/** Leads the run to its end, and works on it too, with a log and a view of the progress. */
async function led(
  begun: BegunOnEngine,
  service: Service,
  flags: RunFlags,
  interrupts: Interrupts,
  disposables: Disposables,
  context: Context,
): Promise<LedEnd> {
  const { io, redactor } = context;
  const { engine, run, name, lock, plan, spec, specText: text, settings, directory, facts, cells } = begun;
  const { pool, clock } = engine;
  const leaseMs = flags.lease ?? defaultLeaseMs;
  const { selection } = spec;
  const state = { reader: facts.reader };
  const start = await progressStart({ plan, selection, state }, settings);
  const model = new EngineProgress(start, begun.runFacts.startedAt, { pool, run, reader: facts.reader });
  const isQuiet = flags['no-progress'] || flags.quiet || flags.detach;
  const shown = showProgress(redacted(context), start, { quiet: isQuiet }, model);
  const stopLooking = every(clock, EngineProgress.everyMs, () => model.look(() => io.now()));
  const log = openRunLog(
    join(directory, runFiles.log),
    flags['log-level'] ?? 'info',
    redactor,
    () => io.now(),
    (error) => shown.say(`The log can no longer be written: ${error.message}`),
  );
  disposables.add(() => log.close());
  const worker = workerName(undefined);
  const named = namedQueue(flags.queue, redactor);
  const queue = await openQueue(engine, spec.queue, { worker, leaseMs, mayMigrate: true, named });
  disposables.add(() => queue.close());
  const listener: RunListener = (event) => {
    log.listener(event);
    shown.listener(event);
  };
  const works = !flags['no-work'] && !flags.detach;
  try {
    return await lead(
      engine,
      {
        run,
        name,
        spec: text,
        queue,
        leaseMs,
        cells: () => plan.matrix.cells(selection),
        size: sliceSize(plan, cells),
        slots: flags.detach ? Number.MAX_SAFE_INTEGER : settings.limits.tasks,
        bounds: boundsOf(settings.budget, settings.maxSubmits),
        lock,
        ...(flags.detach ? { detach: true } : {}),
      },
      interrupts,
      works
        ? async (invocation) => {
            const prepared = {
              pipeline: plan.pipeline,
              plan,
              images: begun.images,
              filesRoot: spec.filesRoot,
              service,
            };
            const working = { run, invocation, spec, prepared, name: worker, leaseMs, slots: flags.slots };
            const report = await workOnRun(
              engine,
              { ...working, queue, isCoordinator: true },
              interrupts,
              listener,
              context,
            );
            if (report.listenerError !== undefined) shown.say(shownErrorOf(report.listenerError).text ?? '');
          }
        : undefined,
    );
  } finally {
    await stopLooking();
    await model.look(() => io.now()).catch(() => undefined);
    shown.end();
  }
}

/** Writes the manifest, however the run ended. */
async function listed(
  { plan, spec, facts, directory }: BegunOnEngine,
  end: NonNullable<LedEnd['end']>,
  interrupts: Interrupts,
  flags: RunFlags,
  { io, redactor }: Context,
): Promise<{ readonly totals: ManifestTotals | undefined; readonly exitCode: number }> {
  try {
    const totals = await listResults(
      { plan, selection: spec.selection, state: facts, directory },
      redactor,
      interrupts.leave,
      { escapeFormulas: flags['escape-formulas'] },
    );
    return { totals, exitCode: runExitCode(end, totals?.slots, interrupts.first()) };
  } catch (error) {
    const { text, exitCode } = shownErrorOf(error);
    if (text !== undefined) io.err(redactor.apply(text));
    const isComplete = end.kind === 'complete';
    return {
      totals: undefined,
      exitCode: isComplete ? exitCode : runExitCode(end, undefined, interrupts.first()),
    };
  }
}

/** Where a view is shown, without secrets. */
function redacted({ io, redactor }: Context): Io {
  const { terminal } = io;
  return {
    ...io,
    err: (text) => io.err(redactor.apply(text)),
    ...(terminal && { terminal: { ...terminal, draw: (frame) => terminal.draw(redactor.apply(frame)) } }),
  };
}
