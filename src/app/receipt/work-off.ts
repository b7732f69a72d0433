import { join } from 'node:path';
import type { ManifestTotals } from '../../manifest/tally.ts';
import { runFiles } from '../../report/facts/layout.ts';
import type { RunListener } from '../../run/events.ts';
import type { RunReport, RunSettings } from '../../run/ports.ts';
import type { DiskPort } from '../../run/resources/disk-room.ts';
import { diskOf } from '../adapters/disk-room.ts';
import type { Disposables } from '../adapters/disposables.ts';
import type { MetricsWatch } from '../adapters/metrics-watch.ts';
import type { Context } from '../context.ts';
import { shownErrorOf } from '../errors/render.ts';
import type { RunFlags } from '../flags.ts';
import type { Interrupts } from '../output/io.ts';
import { showNoProgress } from '../progress/show.ts';
import { execute, listResults, onceAtWork } from '../run/execute.ts';
import { noteUnlooked, openRunLog, type RunLog } from '../run/log.ts';
import type { RunWork } from '../run/outcome.ts';
import { progressStart } from '../run/progress-start.ts';
import type { RunSession } from '../run/session.ts';
import type { AdmittedService } from '../service/trust.ts';
import { type Reuse, writeMerged } from './merge/merge.ts';
import { ManifestWatch, noteReceipt } from './note.ts';
import type { RunIdentity } from './receipt.ts';
import { CellWatch, openCells } from './settled-cells.ts';

/** Does what is to be done. What it lists is noted where nothing is left. */
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
): Promise<RunWork> {
  const { service, baseUrl, settings, readSince, reuse, metrics } = work;
  const { 'escape-formulas': escapeFormulas } = flags;
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
  let watches = { manifest: new ManifestWatch(), cells: new CellWatch() };
  const list = async (signal: AbortSignal): Promise<ManifestTotals> => {
    const { redactor } = context;
    if (reuse !== undefined) {
      const { plan, directory, state } = session;
      const { manifest: watch, cells } = watches;
      const { reader } = state;
      const merged = await writeMerged({ plan, reader, directory, reuse, redactor, watch, cells, signal });
      if (merged !== undefined) return merged;
      watches = { manifest: new ManifestWatch(), cells: new CellWatch() };
    }
    const { onText, onRow } = watches.manifest;
    const { onCell } = watches.cells;
    return await listResults(session, redactor, signal, { escapeFormulas, onText, onCell, onRow });
  };
  const note = (totals: ManifestTotals): Promise<void> =>
    noteReceipt(session, work.identity, {
      readSince,
      isComplete: report.end.kind === 'complete' && report.redosFailed === 0,
      worked,
      totals,
      written: watches.manifest.result(),
      cells: watches.cells,
      escapeFormulas,
      now: context.io.machine.timeOfDay(),
    });
  return { report, gridsCut, timedOutAgain, list, note };
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
