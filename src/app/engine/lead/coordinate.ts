import { join } from 'node:path';
import { readPipelineFile } from '../../../artifacts/input/file.ts';
import { type LedEnd, type LedRun, lead } from '../../../engine/coordinator.ts';
import { type UnheardJobs, unheardJobs } from '../../../engine/doubts.ts';
import { type RegisteredFile, registered } from '../../../engine/images.ts';
import { boundsOf } from '../../../engine/limits/run-allowance.ts';
import { troubleLine } from '../../../engine/postgres/troubles.ts';
import { leasesSilent } from '../../../engine/slices/beat-fence.ts';
import { runStatus, stopRun } from '../../../engine/slices/runs.ts';
import { every } from '../../../engine/slices/session.ts';
import { readWorkers } from '../../../engine/slices/workers.ts';
import { WorkerSlots } from '../../../engine/slots.ts';
import { runFiles } from '../../../report/facts/layout.ts';
import { seenFrom } from '../../../report/facts/place.ts';
import { writePlanned } from '../../../report/facts/planned.ts';
import { counted } from '../../../report/text/amounts.ts';
import { shownLine } from '../../../report/text/printable.ts';
import type { ManifestTotals } from '../../../results/row-ledger.ts';
import type { RunListener } from '../../../run/events.ts';
import { lasted } from '../../../run/scheduler/state/lifecycle.ts';
import type { MetricsWatch } from '../../adapters/metrics-file.ts';
import { shownErrorOf } from '../../errors/render.ts';
import { showNoProgress } from '../../progress/show.ts';
import { listInTime, listResults } from '../../run/execute.ts';
import { openRunLog } from '../../run/log.ts';
import { progressStart } from '../../run/progress-start.ts';
import type { CheckedRun, DoneWork } from '../../run/stages.ts';
import { inputsOf } from '../place.ts';
import { namedQueue, openQueue } from '../queue.ts';
import { defaultLeaseMs, workerName, workOnRun } from '../worker/work.ts';
import { type RegisteredRun, sliceSize } from './begin.ts';
import { findOnEngine, watchUnconfirmed } from './find.ts';
import { EngineProgress } from './progress.ts';

/**
 * Leads a registered run to its end, with all workers of its engine.
 *
 * @returns undefined where the run was left to its workers (`--detach`)
 */
export async function coordinate(
  checked: CheckedRun,
  begun: RegisteredRun,
  metrics: MetricsWatch | undefined,
): Promise<DoneWork | undefined> {
  const { engine, run, shown } = begun;
  const { flags, interrupts, output, context } = checked;
  const { io } = context;
  const unheard = await unheardJobs(engine.pool, run);
  if (unheard !== undefined && !flags['no-progress']) io.err(`${unheardText(unheard)}\n`);
  const list = async (signal: AbortSignal): Promise<ManifestTotals> =>
    (await listResults(begun, context.redactor, signal, { escapeFormulas: flags['escape-formulas'] })).totals;
  const isSettled = async (): Promise<boolean> => {
    const say = (text: string): void => io.err(text);
    const { slots } = (await listInTime(interrupts, shown, say, list, io.machine.clock)) ?? {};
    return slots?.pending === 0 && slots.running === 0;
  };
  // With --no-work, this process would wait for workers that have nothing to do.
  const isComplete = flags['no-work'] && begun.wasComplete && (await isSettled());
  const { end }: LedEnd = isComplete
    ? { end: { kind: 'complete' } }
    : await leadToEnd(checked, begun, metrics);
  if (end === undefined) {
    const commands = [`promptpress status ${shown}`, `promptpress stop ${shown}`];
    io.err(
      `Registered: ${begun.cells} cells. Workers run it; the same command without --detach continues it here.\n${commands.map((line) => `  ${line}\n`).join('')}`,
    );
    const { name, source } = begun.plan.pipeline;
    await output.registered?.({
      pipeline: name,
      file: source.file,
      service: begun.plan.serviceId,
      origin: begun.origin,
      run: shown,
      directory: seenFrom(io.cwd, begun.directory),
      cells: begun.cells,
    });
    return undefined;
  }
  const { redosFailed = 0, gridsCut = 0, timedOutAgain = 0 } = (await runStatus(engine.pool, run)) ?? {};
  return { end, redosFailed, gridsCut, timedOutAgain, list };
}

/** Explains why a run that begins soon after workers were killed waits. */
const unheardText = ({ jobs, workers, leaseMs }: UnheardJobs): string =>
  `${counted(jobs, 'job')} may have been on ${jobs === 1 ? 'its' : 'their'} way when ${workers.map(shownLine).join(', ')} ended unexpectedly. The run waits until nothing has been heard from ${workers.length === 1 ? 'that worker' : 'these workers'} for ${Math.ceil((leasesSilent * leaseMs) / 1000)} s, and then decides about ${jobs === 1 ? 'it' : 'them'}.`;

/** How often to check whether more jobs are in doubt, ms. */
const searchEveryMs = 5000;

/** Leads the run to its end and works on it too, with a log and a progress view. */
async function leadToEnd(
  checked: CheckedRun,
  begun: RegisteredRun,
  metrics: MetricsWatch | undefined,
): Promise<LedEnd> {
  const { flags, interrupts, disposables, context } = checked;
  const { io, redactor } = context;
  const { engine, service, run, name, lease, plan, spec, specText: text, settings, cells } = begun;
  const leaseMs = flags.lease ?? defaultLeaseMs;
  const view = await openView(checked, begun, metrics);
  const unlisten = engine.pool.troubles.onTrouble((trouble) => {
    // The error that ends the run is reported at its end.
    if (trouble.kind !== 'lost') view.say(troubleLine(trouble, engine.address.shown));
  });
  const worker = workerName(undefined, io.machine);
  const named = namedQueue(flags.queue, redactor);
  const queue = await openQueue(engine, spec.queue, { worker, leaseMs, mayMigrate: true, named });
  disposables.add(() => queue.close());
  let cancelEnd: (() => void) | undefined;
  const works = !flags['no-work'] && !flags.detach;
  const endSearches =
    flags['in-doubt'] === 'find' && !flags.detach
      ? watchUnconfirmed(
          async () => (await begun.state.reader.totals()).jobs['in-doubt'],
          async () => {
            const found = await findOnEngine(begun, checked);
            if (found !== undefined) view.say(found);
          },
          io.machine.clock,
          searchEveryMs,
        )
      : undefined;
  interrupts.listen();
  try {
    return await lead(
      engine,
      {
        run,
        name,
        spec: text,
        queue,
        cells: (invocation) => {
          begun.sharedImages.begin(invocation);
          const all = plan.matrix.cells(spec.selection);
          return showsFiles(plan)
            ? registered(all, (cell) => plan.resolve(cell, () => undefined), begun.sharedImages)
            : all;
        },
        patienceMs: settings.retry.patienceMs,
        ...(showsFiles(plan) && { files: filesOf(begun, (text) => view.say(text)) }),
        size: sliceSize(plan, cells),
        groupings: [...plan.groups.values()],
        slots: flags.detach ? Number.MAX_SAFE_INTEGER : settings.limits.tasks,
        bounds: boundsOf(settings.budget, settings.maxSubmits),
        lease,
        ...(flags.detach ? { detach: true } : {}),
      },
      interrupts,
      async (invocation) => {
        const { maxDurationMs } = settings;
        // Every worker sees all other limits of the run.
        if (maxDurationMs !== undefined)
          cancelEnd = engine.clock.at(engine.clock.now() + maxDurationMs, () => {
            stopRun(engine.pool, run, invocation, lasted).catch(() => undefined);
          });
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
  } finally {
    begun.sharedImages.end();
    unlisten();
    cancelEnd?.();
    await endSearches?.();
    await view.end();
  }
}

/** Whether a request may show a file; if not, no cell is resolved to find that out. */
const showsFiles = ({ pipeline }: RegisteredRun['plan']): boolean =>
  pipeline.steps.some(
    ({ request, path }) =>
      ['images', 'image', 'endImage', 'mask'].some((field) => request[field] !== undefined) ||
      path.some(({ mask }) => mask !== undefined),
  );

/** Largest number of bytes, over all files, that are copied for workers. */
const maxCopied = 4 * 1024 ** 3;

/** Copies files for workers that lack them; reports once if it cannot. */
function filesOf(
  { plan, spec, sharedImages, place, remote }: RegisteredRun,
  say: (text: string) => void,
): NonNullable<LedRun['files']> {
  const shared = inputsOf(place, remote);
  const { folder } = plan.pipeline.source;
  let copied = 0;
  let hasSaid = false;
  const copy = async (file: RegisteredFile): Promise<boolean> => {
    try {
      if (copied + file.bytes > maxCopied)
        throw new Error(`Files of more than ${maxCopied} bytes are not copied.`);
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

/** The view of a run on an engine: the sums of all workers, and the events of the worker in this process. */
interface LeadView {
  readonly listener: RunListener;
  say(text: string): void;
  end(): Promise<void>;
}

/** Opens the progress view, the log and the metrics of a run on an engine. */
async function openView(
  { flags, disposables, context }: CheckedRun,
  begun: RegisteredRun,
  metrics: MetricsWatch | undefined,
): Promise<LeadView> {
  const { io, redactor, showProgress = showNoProgress } = context;
  const { engine, run, spec, settings, directory, state, startedAt, seen } = begun;
  const { reader } = state;
  const start = await progressStart(begun, settings);
  await writePlanned(begun.state, startedAt, start.planned);
  const model = new EngineProgress(start, startedAt, {
    pool: engine.pool,
    run,
    reader,
    accepted: settings.acceptedFailures,
  });
  const isQuiet = flags['no-progress'] || flags.quiet || flags.detach;
  const shown = showProgress(io, start, { quiet: isQuiet }, model);
  const now = (): number => io.now();
  const look = async (): Promise<void> => {
    await model.look(now);
    const joined = model.joined();
    // With a worker in this process there is nobody to wait for.
    if (joined !== undefined && flags['no-work'] && !isQuiet) shown.say(joined);
    if (metrics === undefined) return;
    const { totals = seen.totals } = model;
    if (JSON.stringify(totals) !== JSON.stringify(seen.totals)) metrics.progress();
    seen.totals = totals;
    seen.workersStatus = await readWorkers(engine.pool, run, spec.service.id);
    metrics.begin(model);
  };
  metrics?.begin(start);
  const stopLooking = every(engine.clock, EngineProgress.everyMs, look);
  const log = openRunLog(join(directory, runFiles.log), flags['log-level'] ?? 'info', redactor, io, (error) =>
    shown.say(`The log can no longer be written: ${error.message}`),
  );
  disposables.add(() => log.close());
  return {
    listener: (event) => {
      log.listener(event);
      shown.listener(event);
      // The engine counts the jobs of all workers.
      if (event.type !== 'job:status' && event.type !== 'slot:status') metrics?.listener(event);
    },
    say: (text) => shown.say(text),
    end: async () => {
      await stopLooking();
      await look().catch(() => undefined);
      shown.end();
    },
  };
}
