import { join } from 'node:path';
import { readCrew } from '../../../engine/slices/crew.ts';
import { every } from '../../../engine/slices/session.ts';
import type { CrewStatus } from '../../../report/facts/crew.ts';
import { runFiles } from '../../../report/facts/layout.ts';
import type { RunListener } from '../../../run/events.ts';
import type { StoreTotals } from '../../../state/reader.ts';
import type { Disposables } from '../../adapters/disposables.ts';
import type { MetricsWatch } from '../../adapters/metrics-watch.ts';
import type { Context } from '../../context.ts';
import type { RunFlags } from '../../flags.ts';
import { showNoProgress } from '../../progress/show.ts';
import { noteUnlooked, openRunLog } from '../../run/log.ts';
import { progressStart } from '../../run/progress-start.ts';
import type { BegunOnEngine } from './begin.ts';
import { EngineProgress } from './progress.ts';

/** The metrics of a run, and the sums in them. */
export interface LeadMetrics {
  readonly watch: MetricsWatch;
  totals: StoreTotals;
  crew: CrewStatus | undefined;
}

/** How a run on an engine is watched: the sums of all workers, and what the one in this process meets. */
export interface LeadView {
  readonly listener: RunListener;
  say(text: string): void;
  end(): Promise<void>;
}

/** Shows the progress of all workers, and keeps the log and the metrics. */
export async function openView(
  begun: BegunOnEngine,
  flags: RunFlags,
  metrics: LeadMetrics | undefined,
  disposables: Disposables,
  context: Context,
): Promise<LeadView> {
  const { io, redactor, showProgress = showNoProgress } = context;
  const { engine, run, plan, spec, settings, directory, facts, runFacts } = begun;
  const { reader } = facts;
  const start = await progressStart({ plan, selection: spec.selection, state: { reader } }, settings);
  const model = new EngineProgress(start, runFacts.startedAt, { pool: engine.pool, run, reader });
  const isQuiet = flags['no-progress'] || flags.quiet || flags.detach;
  const shown = showProgress(io, start, { quiet: isQuiet }, model);
  const now = (): number => io.now();
  const look = async (): Promise<void> => {
    await model.look(now);
    const joined = model.joined();
    // Whoever works too is never waited for.
    if (joined !== undefined && flags['no-work'] && !isQuiet) shown.say(joined);
    if (metrics === undefined) return;
    const { totals = metrics.totals } = model;
    if (JSON.stringify(totals) !== JSON.stringify(metrics.totals)) metrics.watch.progress();
    metrics.totals = totals;
    metrics.crew = await readCrew(engine.pool, run, spec.service.id);
    metrics.watch.begin({ steps: model.counts() });
  };
  metrics?.watch.begin(start);
  const stopLooking = every(engine.clock, EngineProgress.everyMs, look);
  const log = openRunLog(join(directory, runFiles.log), flags['log-level'] ?? 'info', redactor, io, (error) =>
    shown.say(`The log can no longer be written: ${error.message}`),
  );
  disposables.add(() => log.close());
  noteUnlooked(begun, log);
  return {
    listener: (event) => {
      log.listener(event);
      shown.listener(event);
      // Jobs are counted by the engine, for all workers.
      if (event.type !== 'job:status' && event.type !== 'slot:status') metrics?.watch.listener(event);
    },
    say: (text) => shown.say(text),
    end: async () => {
      await stopLooking();
      await look().catch(() => undefined);
      shown.end();
    },
  };
}
