import { join } from 'node:path';
import { isNarrowed } from '../../manifest/cells.ts';
import { RowText } from '../../manifest/row-text.ts';
import { SettledRows } from '../../manifest/settled-rows.ts';
import type { WrittenManifest } from '../../manifest/write.ts';
import { runFiles } from '../../report/facts/layout.ts';
import { writePlanned } from '../../report/facts/planned.ts';
import type { ManifestTotals } from '../../results/row-ledger.ts';
import type { RunListener } from '../../run/events.ts';
import type { RunReport, RunSettings } from '../../run/ports.ts';
import type { DiskPort } from '../../run/resources/disk-room.ts';
import { nextInvocation } from '../../run/run.ts';
import { diskOf } from '../adapters/disk-room.ts';
import type { Disposables } from '../adapters/disposables.ts';
import type { MetricsWatch } from '../adapters/metrics-watch.ts';
import type { Context } from '../context.ts';
import { shownErrorOf } from '../errors/render.ts';
import { noteFingerprint, type RunIdentity } from '../fingerprint/fingerprint.ts';
import type { RunFlags } from '../flags.ts';
import type { Interrupts } from '../output/io.ts';
import { showNoProgress } from '../progress/show.ts';
import type { AdmittedService } from '../service/trust.ts';
import { partToWork } from '../workspace/selection.ts';
import { execute, listResults, onceAtWork } from './execute.ts';
import { noteUnlooked, openRunLog, type RunLog } from './log.ts';
import type { RunWork } from './outcome.ts';
import { progressStart } from './progress-start.ts';
import type { RunSession } from './session.ts';

/** Does the work of a run in this process. `note` of the result stores its fingerprint if nothing is left to do. */
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
    readonly metrics: MetricsWatch | undefined;
  },
  flags: RunFlags,
  interrupts: Interrupts,
  disposables: Disposables,
  context: Context,
): Promise<RunWork> {
  const { service, baseUrl, settings, readSince, metrics } = work;
  const { 'escape-formulas': escapeFormulas } = flags;
  let worked = false;
  let gridsCut = 0;
  let timedOutAgain = 0;
  const onWork = (): void => {
    worked = true;
    work.onWork();
  };
  context.io.boundHeapGrowth();
  const settled = context.repairs ? undefined : settledRows(session, escapeFormulas, disposables, context);
  const report = await watched(session, settings, metrics, flags, disposables, context, (watch) =>
    execute(
      { ...session, selection: partToWork(session.selection, context) },
      {
        baseUrl,
        service,
        settings,
        find: flags['in-doubt'] === 'find',
        acceptOlder: flags['accept-older-state'],
        io: context.io,
        settled,
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
  let written: WrittenManifest | undefined;
  const list = async (signal: AbortSignal): Promise<ManifestTotals> => {
    // The rows may show results that the full disk kept out of the state.
    if (report.end.kind === 'disk') settled?.close();
    written = await listResults(session, context.redactor, signal, { escapeFormulas, settled });
    return written.totals;
  };
  const isComplete = report.end.kind === 'complete' && report.redosFailed === 0;
  const note = async (): Promise<void> => {
    if (written === undefined || !isComplete || session.missing !== undefined) return;
    const now = context.io.machine.timeOfDay();
    await noteFingerprint(session, work.identity, { readSince, now, worked, written, escapeFormulas });
  };
  return { report, gridsCut, timedOutAgain, list, note };
}

/** Runs the plan with a log and a progress view. */
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
  await writePlanned(session.state, session.facts.startedAt, start.planned);
  metrics?.begin(start);
  const progress = showProgress(io, start, { quiet: flags['no-progress'] || flags.quiet });
  // Files that are stored elsewhere need no space here.
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
      // A bug in a listener is reported, and the run is not affected.
      progress.say(shownErrorOf(report.listenerError).text ?? '');
    }
    return report;
  } finally {
    progress.end();
  }
}

/** Returns the collector of rows of finished cells; undefined: there are none, or only a part of the plan runs. */
function settledRows(
  { plan, state, directory, selection }: RunSession,
  escapeFormulas: boolean,
  disposables: Disposables,
  { redactor }: Context,
): SettledRows | undefined {
  if (isNarrowed(selection) || state.totals().jobs.done === 0) return undefined;
  const text = new RowText(plan.matrix.variables, { redact: redactor.applyToData, escapeFormulas });
  const rows = new SettledRows(
    plan,
    text,
    join(directory, runFiles.manifest),
    nextInvocation(state),
    (key) => state.redos.of(key) !== undefined,
  );
  disposables.add(() => rows.close());
  return rows;
}
