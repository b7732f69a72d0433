import { join } from 'node:path';
import { runFiles } from '../../report/facts/layout.ts';
import { seenFrom } from '../../report/facts/place.ts';
import type { RunListener } from '../../run/events.ts';
import type { RunReport, RunSettings } from '../../run/ports.ts';
import type { DiskPort } from '../../run/resources/disk-room.ts';
import { isOpenOrder } from '../../state/redo-order.ts';
import { diskOf } from '../adapters/disk-room.ts';
import type { Disposables } from '../adapters/disposables.ts';
import type { MetricsWatch } from '../adapters/metrics-watch.ts';
import type { Context } from '../context.ts';
import { shownErrorOf } from '../errors/render.ts';
import type { RunFlags } from '../flags.ts';
import type { Interrupts } from '../output/io.ts';
import { showNoProgress } from '../progress/show.ts';
import { execute, listInTime, listResults, onceAtWork } from '../run/execute.ts';
import { runExitCode } from '../run/exit-code.ts';
import { noteUnlooked, openRunLog, type RunLog } from '../run/log.ts';
import type { RunResult } from '../run/outcome.ts';
import { progressStart } from '../run/progress-start.ts';
import { closeOrders } from '../run/redo-order.ts';
import type { RunSession } from '../run/session.ts';
import type { AdmittedService } from '../service/trust.ts';
import { type Reuse, writeMerged } from './merge/merge.ts';
import { ManifestWatch, noteReceipt } from './note.ts';
import type { RunIdentity } from './receipt.ts';
import { CellWatch, openCells } from './settled-cells.ts';

/** Does what is to be done, lists the results, and notes it where nothing is left. */
export async function workOff(
  session: RunSession,
  work: {
    readonly service: AdmittedService;
    readonly baseUrl: string;
    readonly settings: RunSettings;
    readonly identity: RunIdentity;
    /** Unix ms: no file of the pipeline was read before. */
    readonly readSince: number;
    readonly onWork: () => void;
    /** Cells in which nothing is to be done, and their rows. */
    readonly reuse: Reuse | undefined;
    readonly metrics: MetricsWatch | undefined;
  },
  flags: RunFlags,
  interrupts: Interrupts,
  disposables: Disposables,
  context: Context,
): Promise<RunResult> {
  const { service, baseUrl, settings, readSince, reuse, metrics } = work;
  let worked = false;
  let gridsCut = 0;
  let timedOutAgain = 0;
  const onWork = (): void => {
    worked = true;
    work.onWork();
  };
  context.io.boundHeapGrowth();
  const report = await watched(session, settings, metrics, flags, disposables, context, (watch) =>
    execute(
      session,
      {
        baseUrl,
        service,
        settings,
        find: flags['in-doubt'] === 'find',
        acceptOlder: flags['accept-older-state'],
        io: context.io,
        ...(reuse === undefined ? {} : { narrowed: (cells) => openCells(cells, reuse.settled) }),
      },
      interrupts,
      {
        ...watch,
        listener: onceAtWork((event) => {
          if (event.type === 'grid:cut' && event.error === undefined) gridsCut += 1;
          if (event.type === 'job:status' && event.timedOut) timedOutAgain += 1;
          watch.listener(event);
        }, onWork),
      },
      disposables,
    ),
  );
  const redo =
    report.end.kind === 'disk' ? undefined : await closeOrders(session.state.redos, session.state.reader);
  const { totals, exitCode, manifest, cells } = await listed(
    session,
    report,
    interrupts,
    flags,
    reuse,
    context,
  );
  // What is to be made anew is to be found by the next run.
  const isOpen = redo !== undefined && isOpenOrder(redo);
  if (report.end.kind !== 'disk' && totals !== undefined && !isOpen)
    await noteReceipt(session, work.identity, {
      readSince,
      isComplete: report.end.kind === 'complete' && report.redosFailed === 0,
      worked,
      totals,
      written: manifest.result(),
      cells,
      escapeFormulas: flags['escape-formulas'],
      now: context.io.machine.timeOfDay(),
    });
  return { report, totals, exitCode, gridsCut, timedOutAgain, redo };
}

/** Runs with a log and a view of the progress. */
async function watched(
  session: RunSession,
  settings: RunSettings,
  metrics: MetricsWatch | undefined,
  flags: RunFlags,
  disposables: Disposables,
  context: Context,
  carry: (watch: {
    readonly listener: RunListener;
    readonly log: RunLog;
    readonly say: (text: string) => void;
    readonly disk: DiskPort;
  }) => Promise<RunReport>,
): Promise<RunReport> {
  const { io, redactor, showProgress = showNoProgress } = context;
  const start = await progressStart(session, settings);
  metrics?.begin(start);
  const progress = showProgress(io, start, { quiet: flags['no-progress'] || flags.quiet });
  // Files that go elsewhere need no room here.
  const growing = session.remote === undefined ? start.steps : [];
  const disk = await diskOf(session, growing, (folder) => io.freeBytes(folder));
  const log = openRunLog(
    join(session.directory, runFiles.log),
    flags['log-level'] ?? 'info',
    redactor,
    io,
    (error) => progress.say(`The log can no longer be written: ${error.message}`),
  );
  disposables.add(() => log.close());
  noteUnlooked(session, log);
  try {
    const listener: RunListener = (event) => {
      log.listener(event);
      progress.listener(event);
      metrics?.listener(event);
    };
    const report = await carry({ listener, log, say: (text) => progress.say(text), disk });
    if (report.listenerError !== undefined) {
      // What runs is more important than who watches; but it is a bug.
      progress.say(shownErrorOf(report.listenerError).text ?? '');
    }
    return report;
  } finally {
    progress.end();
  }
}

/** Writes the manifest, however the run ended: after an interrupt and after a full disk too, the finished work is listed. */
async function listed(
  session: RunSession,
  { end, redosFailed }: RunReport,
  interrupts: Interrupts,
  { 'escape-formulas': escapeFormulas }: RunFlags,
  reuse: Reuse | undefined,
  { io, redactor }: Context,
): Promise<Pick<RunResult, 'totals' | 'exitCode'> & Watches> {
  let watches: Watches = { manifest: new ManifestWatch(), cells: new CellWatch() };
  try {
    const { plan, directory, state } = session;
    const say = (text: string): void => io.err(text);
    const totals = await listInTime(
      interrupts,
      seenFrom(io.cwd, directory),
      say,
      async (signal) => {
        if (reuse !== undefined) {
          const { manifest: watch, cells } = watches;
          const { reader } = state;
          const options = { plan, reader, directory, reuse, redactor, watch, cells, signal };
          const merged = await writeMerged(options);
          if (merged !== undefined) return merged;
        }
        watches = { manifest: new ManifestWatch(), cells: new CellWatch() };
        const { onText, onRow } = watches.manifest;
        const { onCell } = watches.cells;
        return await listResults(session, redactor, signal, { escapeFormulas, onText, onCell, onRow });
      },
      io.machine.clock,
    );
    return { ...watches, totals, exitCode: runExitCode(end, totals?.slots, interrupts.first(), redosFailed) };
  } catch (error) {
    const shownError = shownErrorOf(error);
    if (shownError.text !== undefined) io.err(shownError.text);
    const exitCode =
      end.kind === 'complete'
        ? shownError.exitCode
        : runExitCode(end, undefined, interrupts.first(), redosFailed);
    return { ...watches, totals: undefined, exitCode };
  }
}

/** What is seen of a manifest while it is written. */
interface Watches {
  readonly manifest: ManifestWatch;
  readonly cells: CellWatch;
}
