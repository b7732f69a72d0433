import { constants } from 'node:fs';
import { open, rename, rm, writeFile } from 'node:fs/promises';
import type { WorkersStatus } from '../../report/facts/json-outputs.generated.ts';
import { type DirectoryTotals, type MetricsEnd, RunMetrics } from '../../report/metrics/run-metrics.ts';
import type { RunBefore } from '../../results/run-ledger.ts';
import type { RunListener } from '../../run/events.ts';
import { readFlags } from '../../state/files/plain-file.ts';
import { unfinishedName } from '../../state/files/unfinished.ts';
import { usageError } from '../errors/cli-error.ts';
import type { Io } from '../output/io.ts';
import { version } from '../version.ts';

/** How often the file is replaced during a run, ms. */
const everyMs = 5_000;

/** How long a finished run waits for its last write, ms. */
const lastWriteMs = 10_000;

/** A file of metrics that is replaced as a whole at intervals. */
export interface MetricsFile {
  /** Writes the file now, and then every few seconds. */
  begin(): void;
  /** Writes the file for the last time. Never rejects. */
  end(): Promise<void>;
}

/**
 * Keeps a file up to date with a text. Each write goes to a temporary file that is renamed, so that a reader never sees half of it. The
 * file is not synced: it is of no use after a crash of the machine. A disk error is reported once and the write is tried again.
 *
 * @param text returns the contents; called once per write
 * @param warn called with the error of the first write that fails
 */
export function metricsFile(
  file: string,
  text: () => string,
  io: Pick<Io, 'every'>,
  warn: (error: Error) => void,
): MetricsFile {
  let writing: Promise<void> | undefined;
  let isWarned = false;
  let stop: (() => void) | undefined;
  const write = async (): Promise<void> => {
    try {
      await replace(file, text());
    } catch (error) {
      if (!isWarned) warn(error as Error);
      isWarned = true;
    }
  };
  const writeSoon = (): void => {
    // On a slow disk the next write starts only after the last one has finished.
    writing ??= write().finally(() => {
      writing = undefined;
    });
  };
  return {
    begin: () => {
      stop?.();
      writeSoon();
      stop = io.every(everyMs, writeSoon);
    },
    end: async () => {
      stop?.();
      let timer: NodeJS.Timeout | undefined;
      const tooLong = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, lastWriteMs);
      });
      await Promise.race([tooLong, (writing ?? Promise.resolve()).then(write)]);
      clearTimeout(timer);
    },
  };
}

async function replace(file: string, text: string): Promise<void> {
  const staged = unfinishedName(file);
  try {
    await writeFile(staged, text, { flag: 'wx' });
    await rename(staged, file);
  } catch (error) {
    await rm(staged, { force: true }).catch(() => undefined);
    throw error;
  }
}

/**
 * Refuses to replace a file that is not a metrics file of promptpress: a typing mistake must not cost a user a table or a manifest.
 *
 * @throws CliError (exit 2). A file that cannot be read is left to the first write to report
 */
export async function checkMetricsFile(file: string, flag: string): Promise<void> {
  let start: string;
  try {
    const handle = await open(file, readFlags & ~constants.O_NOFOLLOW);
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(beginning.length), 0, beginning.length, 0);
      start = buffer.toString('utf8', 0, bytesRead);
    } finally {
      await handle.close();
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EISDIR') return;
    throw usageError(`${flag} names a folder: ${file}.`, 'Name a file in it, such as promptpress.prom.');
  }
  if (start === '' || start === beginning) return;
  throw usageError(
    `${flag} would replace ${file}, which holds something other than metrics of promptpress.`,
    'Name another file, or remove this one.',
  );
}

const beginning = '# HELP promptpress_';

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
