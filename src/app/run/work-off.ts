import { join } from 'node:path';
import { isNarrowed } from '../../manifest/cells.ts';
import { RowText } from '../../manifest/row-text.ts';
import { SettledRows } from '../../manifest/settled-rows.ts';
import type { WrittenManifest } from '../../manifest/write.ts';
import { runFiles } from '../../report/facts/layout.ts';
import { writePlanned } from '../../report/facts/planned.ts';
import type { ManifestTotals } from '../../results/row-ledger.ts';
import type { RunReport } from '../../run/ports.ts';
import { nextInvocation } from '../../run/run.ts';
import { diskOf } from '../adapters/disk-space.ts';
import type { Disposables } from '../adapters/disposables.ts';
import type { MetricsWatch } from '../adapters/metrics-file.ts';
import type { Context } from '../context.ts';
import { shownErrorOf } from '../errors/render.ts';
import { identityOf, noteFingerprint } from '../fingerprint/fingerprint.ts';
import { showNoProgress } from '../progress/show.ts';
import { execute, listResults, onceAtWork } from './execute.ts';
import { openRunLog } from './log.ts';
import { progressStart } from './progress-start.ts';
import { type RunSession, stateServiceOf } from './session.ts';
import type { CheckedRun, DoneWork } from './stages.ts';

/** Does the work of a run in this process, with a log and a progress view. `note` of the result stores its fingerprint if nothing is left to do. */
export async function workOff(
  run: CheckedRun,
  session: RunSession,
  metrics: MetricsWatch | undefined,
): Promise<DoneWork> {
  const { read, service, flags, interrupts, output, disposables, context, repairs } = run;
  const { io, redactor, showProgress = showNoProgress } = context;
  const { 'escape-formulas': escapeFormulas } = flags;
  let worked = false;
  let gridsCut = 0;
  let timedOutAgain = 0;
  io.boundHeapGrowth();
  const settled = repairs ? undefined : settledRows(session, escapeFormulas, disposables, context);
  const start = await progressStart(session, session.settings);
  await writePlanned(session.state, session.startedAt, start.planned);
  metrics?.begin(start);
  const progress = showProgress(io, start, { quiet: flags['no-progress'] || flags.quiet });
  const say = (text: string): void => progress.say(text);
  // Files that are stored elsewhere need no space here.
  const growing = session.remote === undefined ? start.steps : [];
  const disk = await diskOf(session, growing, (folder) => io.freeBytes(folder));
  const log = openRunLog(
    join(session.directory, runFiles.log),
    flags['log-level'] ?? 'info',
    redactor,
    io,
    (error) => say(`The log can no longer be written: ${error.message}`),
  );
  disposables.add(() => log.close());
  const listener = onceAtWork(
    (event) => {
      if (event.type === 'grid:cut' && event.error === undefined) gridsCut += 1;
      if (event.type === 'job:status' && event.timedOut) timedOutAgain += 1;
      log.listener(event);
      progress.listener(event);
      metrics?.listener(event);
    },
    () => {
      worked = true;
      interrupts.listen();
      output.onWork();
    },
  );
  let report: RunReport;
  try {
    report = await execute(run, session, settled, { listener, log, say, disk });
    // A bug in a listener is reported, and the run is not affected.
    if (report.listenerError !== undefined) say(shownErrorOf(report.listenerError).text ?? '');
  } finally {
    progress.end();
  }
  const { end, submits, redosFailed } = report;
  let written: WrittenManifest | undefined;
  const list = async (signal: AbortSignal): Promise<ManifestTotals> => {
    // The rows may show results that the full disk kept out of the state.
    if (end.kind === 'disk') settled?.close();
    written = await listResults(session, redactor, signal, { escapeFormulas, settled });
    return written.totals;
  };
  const note = async (): Promise<void> => {
    if (written === undefined || end.kind !== 'complete' || redosFailed > 0 || session.missing !== undefined)
      return;
    const identity = identityOf(read, { service: stateServiceOf(service), selection: session.selection });
    const { readSince } = session;
    const now = io.machine.timeOfDay();
    await noteFingerprint(session, identity, { readSince, now, worked, written, escapeFormulas });
  };
  return { end, submits, redosFailed, gridsCut, timedOutAgain, list, note };
}

/** Returns the collector of rows of finished cells; undefined: there are none, or only a part of the plan runs. */
function settledRows(
  { plan, state, directory, selection }: RunSession,
  escapeFormulas: boolean,
  disposables: Disposables,
  { redactor }: Context,
): SettledRows | undefined {
  if (isNarrowed(selection) || state.totals().jobs.done === 0) return undefined;
  // A row says what was picked, which may follow from cells to come.
  if (plan.pipeline.bests.length > 0) return undefined;
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
