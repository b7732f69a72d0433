import type { WorkersStatus } from '../../report/facts/json-outputs.generated.ts';
import { type DirectoryTotals, type MetricsEnd, RunMetrics } from '../../report/metrics/run-metrics.ts';
import type { RunBefore } from '../../results/run-ledger.ts';
import type { RunListener } from '../../run/events.ts';
import type { Io } from '../output/io.ts';
import { version } from '../version.ts';
import { metricsFile } from './metrics-file.ts';

/** Keeps the metrics of a run in a file. */
export interface MetricsWatch {
  /** The steps are known. */
  begin(steps: RunBefore): void;
  readonly listener: RunListener;
  /** Jobs have changed, of which no event told. */
  progress(): void;
  /** The run is over. Never rejects. */
  end(end: Omit<MetricsEnd, 'at'>): Promise<void>;
}

/**
 * @param run.file absolute
 * @param run.totals of the run directory
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
    ({ message }) => warn(`The metrics cannot be written, and the run goes on without them: ${message}`),
  );
  // At once: what a run of yesterday has left there is out of date.
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
