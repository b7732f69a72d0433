import { join } from 'node:path';
import { readPipelineFile } from '../../../artifacts/input/file.ts';
import { type LedEnd, type LedRun, lead } from '../../../engine/coordinator.ts';
import { type UnheardJobs, unheardJobs } from '../../../engine/doubts.ts';
import { type RegisteredFile, registered } from '../../../engine/images.ts';
import { boundsOf } from '../../../engine/limits/run-allowance.ts';
import { troubleLine } from '../../../engine/postgres/troubles.ts';
import { leasesSilent } from '../../../engine/slices/beat-fence.ts';
import { closeRun, runStatus, stopRun } from '../../../engine/slices/runs.ts';
import { WorkerSlots } from '../../../engine/slots.ts';
import { redoOrders } from '../../../engine/state/redos.ts';
import type { ManifestTotals } from '../../../manifest/tally.ts';
import { runFiles } from '../../../report/facts/layout.ts';
import { counted } from '../../../report/text/amounts.ts';
import { runAgain } from '../../../report/text/next-commands.ts';
import { serviceWords } from '../../../report/text/plan-text.ts';
import { shownLine } from '../../../report/text/printable.ts';
import { type RunSummary } from '../../../report/text/summary.ts';
import type { RunSettings } from '../../../run/ports.ts';
import { lasted } from '../../../run/scheduler/state/lifecycle.ts';
import type { Disposables } from '../../adapters/disposables.ts';
import { gitFacts } from '../../adapters/git/git.ts';
import type { Context } from '../../context.ts';
import { shownErrorOf } from '../../errors/render.ts';
import type { RunFlags } from '../../flags.ts';
import type { Interrupts } from '../../output/io.ts';
import { listInTime, listResults } from '../../run/execute.ts';
import { runExitCode } from '../../run/exit-code.ts';
import { conclude } from '../../run/outcome.ts';
import { askedFor, closeOrders, takeOrders } from '../../run/redo-order.ts';
import type { OpenEngine } from '../../service/engine/connect.ts';
import type { AdmittedService } from '../../service/trust.ts';
import { type ReadPipeline } from '../../workspace/read-pipeline.ts';
import { type RunBegin, writeRunRecord } from '../../workspace/record.ts';
import { inputsOf } from '../place.ts';
import { namedQueue, openQueue } from '../queue.ts';
import { defaultLeaseMs, workerName, workOnRun } from '../worker/work.ts';
import { type BegunOnEngine, beginOnEngine, sliceSize } from './begin.ts';
import { continueOlder, findOnEngine, watchDoubts } from './find.ts';
import type { LedDirectory } from './hold.ts';
import { type LeadMetrics, openView } from './view.ts';

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
  metrics: LeadMetrics | undefined,
  interrupts: Interrupts,
  disposables: Disposables,
  context: Context,
): Promise<{ readonly summary: RunSummary; readonly again: string } | undefined> {
  const { io, redactor } = context;
  const begun = await beginOnEngine(read, service, engine, held, flags, context);
  const { directory, plan, tables, images, settings, spec, facts, shown } = begun;
  const git = await gitFacts(read.pipeline.source.folder, { env: io.env, signal: interrupts.leave });
  const { origin } = spec.service;
  if (!flags['no-progress']) {
    io.err(`Service: ${serviceWords(service.id, origin)}\n`);
    io.err(`Engine: ${shown}\n`);
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
    redo: askedFor(begun.redo),
    startedAt,
    engine: shown,
  };
  await writeRunRecord(join(directory, runFiles.record), record, undefined, redactor);

  if (begun.missing !== undefined) {
    const accepts = flags['accept-older-state'];
    const said = await continueOlder(begun, begun.missing, service, accepts, interrupts.drain, context);
    io.err(`${said}\n`);
  }
  if (flags['in-doubt'] === 'find') {
    const found = await findOnEngine(begun, service, interrupts.drain, context);
    if (found !== undefined) io.err(`${found}\n`);
  }
  // Workers at work have read the orders as they were: none goes on with those.
  if (!begun.goesOn && begun.spec.redo !== undefined)
    await closeRun(engine.pool, begun.run, begun.hold.epoch, true);
  const orders = redoOrders(engine.pool, begun.run);
  for (const line of await takeOrders(begun.redo, orders, facts.reader)) io.err(`${line}\n`);
  const unheard = await unheardJobs(engine.pool, begun.run);
  if (unheard !== undefined && !flags['no-progress']) io.err(`${unheardText(unheard)}\n`);
  const hasNothingToDo =
    flags['no-work'] && begun.wasComplete && (await isSettled(begun, interrupts, context));
  const { end }: LedEnd = hasNothingToDo
    ? { end: { kind: 'complete' } }
    : await led(begun, service, flags, metrics, interrupts, disposables, context);
  if (end === undefined) {
    const commands = [`promptpress status ${shown}`, `promptpress stop ${shown}`];
    io.err(
      `Registered: ${begun.cells} cells. Workers carry it out; the same command without --detach takes it up.\n${commands.map((line) => `  ${line}\n`).join('')}`,
    );
    return undefined;
  }
  const {
    redosFailed = 0,
    gridsCut = 0,
    timedOutAgain = 0,
  } = (await runStatus(engine.pool, begun.run)) ?? {};
  const redo = end.kind === 'disk' ? undefined : await closeOrders(orders, facts.reader);
  const result = await listed(begun, end, redosFailed, interrupts, flags, context);
  const came = { ...result, report: { end, redosFailed }, gridsCut, timedOutAgain, redo };
  const run = { ...begun, state: facts, startedAt, facts: begun.runFacts };
  const summary = await conclude(run, record, came, interrupts.leave, flags, context);
  // Without its password, which a command line would show to others.
  const engineFlag = flags.engine === undefined ? undefined : shown;
  return { summary, again: runAgain(read.pipeline.source.file, { ...flags, engine: engineFlag }) };
}

/** Why a run waits that begins soon after workers were killed. */
const unheardText = ({ jobs, workers, leaseMs }: UnheardJobs): string =>
  `${counted(jobs, 'job')} may have been on ${jobs === 1 ? 'its' : 'their'} way when ${workers.map(shownLine).join(', ')} ended without a word. The run waits until nothing has been heard of ${workers.length === 1 ? 'that worker' : 'these workers'} for ${Math.ceil((leasesSilent * leaseMs) / 1000)} s, and then decides about ${jobs === 1 ? 'it' : 'them'}.`;

/** Whether a run that was complete still is: who only leads it would wait for workers that have nothing to do. */
async function isSettled(
  { plan, spec, facts, directory, shown }: BegunOnEngine,
  interrupts: Interrupts,
  { io, redactor }: Context,
): Promise<boolean> {
  const state = { plan, selection: spec.selection, state: facts, directory };
  const say = (text: string): void => io.err(text);
  const totals = await listInTime(
    interrupts,
    shown,
    say,
    (signal) => listResults(state, redactor, signal, {}),
    io.machine.clock,
  );
  return totals !== undefined && totals.slots.pending === 0 && totals.slots.running === 0;
}

/** How often it is asked whether more jobs are in doubt. */
const searchEveryMs = 5000;

/** Leads the run to its end, and works on it too, with a log and a view of the progress. */
async function led(
  begun: BegunOnEngine,
  service: Service,
  flags: RunFlags,
  metrics: LeadMetrics | undefined,
  interrupts: Interrupts,
  disposables: Disposables,
  context: Context,
): Promise<LedEnd> {
  const { io, redactor } = context;
  const { engine, run, name, hold, plan, spec, specText: text, settings, cells } = begun;
  const leaseMs = flags.lease ?? defaultLeaseMs;
  const { selection } = spec;
  const view = await openView(begun, flags, metrics, disposables, context);
  const unlisten = engine.pool.troubles.onTrouble((trouble) => {
    // What ends the run is said at its end.
    if (trouble.kind !== 'lost') view.say(troubleLine(trouble, engine.address.shown));
  });
  const worker = workerName(undefined, io.machine);
  const named = namedQueue(flags.queue, redactor);
  const queue = await openQueue(engine, spec.queue, { worker, leaseMs, mayMigrate: true, named });
  disposables.add(() => queue.close());
  const stop = watchBounds(begun, settings);
  const works = !flags['no-work'] && !flags.detach;
  const endSearches =
    flags['in-doubt'] === 'find' && !flags.detach
      ? watchDoubts(
          async () => (await begun.facts.reader.totals()).jobs['in-doubt'],
          async () => {
            const found = await findOnEngine(begun, service, interrupts.drain, context);
            if (found !== undefined) view.say(found);
          },
          io.machine.clock,
          searchEveryMs,
        )
      : undefined;
  interrupts.listen();
  try {
    const result = await lead(
      engine,
      {
        run,
        name,
        spec: text,
        queue,
        cells: (invocation) => {
          begun.sharedImages.begin(invocation);
          const all = plan.matrix.cells(selection);
          return showsFiles(plan)
            ? registered(all, (cell) => plan.resolve(cell, () => undefined), begun.sharedImages)
            : all;
        },
        patienceMs: settings.retry.patienceMs,
        ...(showsFiles(plan) && { files: filesOf(begun, (text) => view.say(text)) }),
        size: sliceSize(plan, cells),
        slots: flags.detach ? Number.MAX_SAFE_INTEGER : settings.limits.tasks,
        bounds: boundsOf(settings.budget, settings.maxSubmits),
        hold,
        ...(flags.detach ? { detach: true } : {}),
      },
      interrupts,
      async (invocation) => {
        stop.begin(invocation);
        if (!works) return;
        const prepared = {
          pipeline: plan.pipeline,
          plan,
          images: begun.sharedImages,
          filesRoot: spec.filesRoot,
          service,
        };
        const working = {
          run,
          invocation,
          spec,
          prepared,
          name: worker,
          leaseMs,
          slots: new WorkerSlots(flags.slots),
        };
        const report = await workOnRun(
          engine,
          { ...working, queue, isCoordinator: true },
          interrupts,
          view.listener,
          context,
        );
        if (report.listenerError !== undefined) view.say(shownErrorOf(report.listenerError).text ?? '');
      },
    );
    return await wholeEnd(begun, result);
  } finally {
    begun.sharedImages.end();
    unlisten();
    stop.end();
    await endSearches?.();
    await view.end();
  }
}

/** Whether any of its requests may show a file: else no cell is resolved to find that out. */
const showsFiles = ({ pipeline }: BegunOnEngine['plan']): boolean =>
  pipeline.steps.some(
    ({ request, path }) =>
      ['images', 'image', 'endImage', 'mask'].some((field) => request[field] !== undefined) ||
      path.some(({ mask }) => mask !== undefined),
  );

/** Bytes of all files that are copied for workers. */
const mostCopied = 4 * 1024 ** 3;

/** Copies files for workers that lack them, and says once why it does not. */
function filesOf(
  { plan, spec, sharedImages, place, remote }: BegunOnEngine,
  say: (text: string) => void,
): NonNullable<LedRun['files']> {
  const shared = inputsOf(place, remote);
  const { folder } = plan.pipeline.source;
  let copied = 0;
  let hasSaid = false;
  const copy = async (file: RegisteredFile): Promise<boolean> => {
    try {
      if (copied + file.bytes > mostCopied)
        throw new Error(`Files of more than ${mostCopied} bytes are not copied.`);
      await shared.put(file.sha256, await readPipelineFile(file, { folder, filesRoot: spec.filesRoot }));
      copied += file.bytes;
      return true;
    } catch (error) {
      if (!hasSaid)
        say(
          `Workers lack ${JSON.stringify(file.path)}, and it is not copied for them: ${(error as Error).message} They need files of their own (--files-root).`,
        );
      hasSaid = true;
      return false;
    }
  };
  return { serve: () => sharedImages.serve(copy), clear: () => shared.clear() };
}

/** A run whose time was over when all of it was done is complete. */
async function wholeEnd({ engine: { pool }, run }: BegunOnEngine, result: LedEnd): Promise<LedEnd> {
  const { end } = result;
  if (end?.kind !== 'budget' || end.code !== lasted.code) return result;
  const status = await runStatus(pool, run);
  return status?.fed === true && status.waiting === 0 ? { end: { kind: 'complete' } } : result;
}

/** Writes the manifest, however the run ended. */
async function listed(
  { plan, spec, facts, directory, shown }: BegunOnEngine,
  end: NonNullable<LedEnd['end']>,
  redosFailed: number,
  interrupts: Interrupts,
  flags: RunFlags,
  { io, redactor }: Context,
): Promise<{ readonly totals: ManifestTotals | undefined; readonly exitCode: number }> {
  try {
    const state = { plan, selection: spec.selection, state: facts, directory };
    const say = (text: string): void => io.err(text);
    const totals = await listInTime(
      interrupts,
      shown,
      say,
      (signal) => listResults(state, redactor, signal, { escapeFormulas: flags['escape-formulas'] }),
      io.machine.clock,
    );
    return { totals, exitCode: runExitCode(end, totals?.slots, interrupts.first(), redosFailed) };
  } catch (error) {
    const { text, exitCode } = shownErrorOf(error);
    if (text !== undefined) io.err(text);
    const isComplete = end.kind === 'complete';
    return {
      totals: undefined,
      exitCode: isComplete ? exitCode : runExitCode(end, undefined, interrupts.first(), redosFailed),
    };
  }
}

/** Ends a run at the bounds that only its coordinator sees. */
interface BoundsWatch {
  begin(invocation: number): void;
  end(): void;
}

/** What ends a run of several workers after some time (`--max-duration`). What else bounds it, every worker sees. */
function watchBounds(
  { engine: { pool, clock }, run }: BegunOnEngine,
  { maxDurationMs }: RunSettings,
): BoundsWatch {
  let cancel: (() => void) | undefined;
  return {
    begin: (invocation) => {
      if (maxDurationMs === undefined) return;
      const end = (): void => {
        stopRun(pool, run, invocation, lasted).catch(() => undefined);
      };
      cancel = clock.at(clock.now() + maxDurationMs, end);
    },
    end: () => cancel?.(),
  };
}
