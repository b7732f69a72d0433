import type { WorkersStatus } from '../../report/facts/json-outputs.generated.ts';
import { type DirectoryTotals, type MetricsEnd, RunMetrics } from '../../report/metrics/run-metrics.ts';
import type { RunBefore } from '../../results/run-ledger.ts';
import type { RunListener } from '../../run/events.ts';
import type { Io } from '../output/io.ts';
import { version } from '../version.ts';
import { metricsFile } from './metrics-file.ts';

/** The metrics of a run, kept in a file. */
export interface MetricsWatch {
  /** Starts writing, once the steps are known. */
  begin(steps: RunBefore): void;
  readonly listener: RunListener;
  /** Updates the file after jobs changed without an event. */
  progress(): void;
  /** Writes the final metrics of the run. Never rejects. */
  end(end: Omit<MetricsEnd, 'at'>): Promise<void>;
}

/**
 * Collects the metrics of a run.
 * @param run.file absolute path; `run.totals` returns the sums of the run directory
 * @param warn called at most once, with a sentence
 */
export function watchMetrics(
  run: {
    readonly file: string;
    readonly pipeline: string;
    readonly startedAt: number;
    readonly totals: () => DirectoryTotals;
    /** The workers of a run on an engine. */
    readonly workersStatus?: () => WorkersStatus | undefined;
  },
  io: Pick<Io, 'every' | 'now'>,
  warn: (text: string) => void,
): MetricsWatch {
  const { pipeline, startedAt, totals, workersStatus } = run;
  const metrics = new RunMetrics({ pipeline, startedAt, version });
  const file = metricsFile(
    run.file,
    () => metrics.text(totals(), workersStatus?.()),
    io,
    ({ message }) => warn(`The metrics cannot be written, and the run continues without them: ${message}`),
  );
  // Writes at once: metrics left by an earlier run are out of date.
  file.begin();
  return {
    begin: (steps) => metrics.begin(steps),
    listener: (event) => metrics.take(event, io.now()),
    progress: () => metrics.progress(io.now()),
    end: async (end) => {
      metrics.end({ ...end, at: io.now() });
      await file.end();
    },
  };
}
