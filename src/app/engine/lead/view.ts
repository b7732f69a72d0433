import { join } from 'node:path';
import { every } from '../../../engine/slices/session.ts';
import { readWorkers } from '../../../engine/slices/workers.ts';
import type { WorkersStatus } from '../../../report/facts/json-outputs.generated.ts';
import { runFiles } from '../../../report/facts/layout.ts';
import { writePlanned } from '../../../report/facts/planned.ts';
import type { RunListener } from '../../../run/events.ts';
import type { StoreTotals } from '../../../state/reader.ts';
import type { MetricsWatch } from '../../adapters/metrics-watch.ts';
import { showNoProgress } from '../../progress/show.ts';
import { noteUnlooked, openRunLog } from '../../run/log.ts';
import { progressStart } from '../../run/progress-start.ts';
import type { BegunOnEngine } from './begin.ts';
import type { OpeningOnEngine } from './hold.ts';
import { EngineProgress } from './progress.ts';

/** The last known figures of all workers, for the metrics of a run. */
export interface SeenOnEngine {
  totals: StoreTotals;
  workersStatus: WorkersStatus | undefined;
}

/** The view of a run on an engine: the sums of all workers, and the events of the worker in this process. */
export interface LeadView {
  readonly listener: RunListener;
  say(text: string): void;
  end(): Promise<void>;
}

/** Opens the progress view, the log and the metrics of a run on an engine. */
export async function openView(
  begun: BegunOnEngine,
  { flags, disposables, context }: OpeningOnEngine,
  seen: SeenOnEngine,
  metrics: MetricsWatch | undefined,
): Promise<LeadView> {
  const { io, redactor, showProgress = showNoProgress } = context;
  const { engine, run, spec, settings, directory, state, startedAt } = begun;
  const { reader } = state;
  const start = await progressStart(begun, settings);
  await writePlanned(begun.state, startedAt, start.planned);
  const model = new EngineProgress(start, startedAt, { pool: engine.pool, run, reader });
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
  noteUnlooked(begun, log);
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
