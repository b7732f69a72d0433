import { isSettled, type JobRecord } from '../../plan/job.ts';
import type { RunListener } from '../events.ts';

/** Number of finished jobs, and the bytes of their files. */
export interface MadeFiles {
  readonly jobs: number;
  readonly bytes: number;
}

/** The disk that a run writes to. */
export interface DiskPort {
  /** Path of the run directory, for the user. */
  readonly directory: string;
  /** Returns the bytes that this process may still write there; undefined where the system does not report it. */
  freeBytes(): number | undefined;
  /** Number of jobs without a result when the run began; undefined where the plan cannot count them. */
  readonly jobsLeft: number | undefined;
  /** A sample of the jobs that were finished before the run. */
  readonly made: MadeFiles;
}

/** Free bytes below which the disk is low: state, log, manifest and other programs need space besides the files of a run. */
export const minFreeBytes = 500_000_000;

/** Smallest number of jobs whose files give an estimate for later ones. */
const fewestJobs = 10;

/**
 * Warns once in a run that its disk is nearly full, while there is still time to free space. Space is low where less than
 * {@link minFreeBytes} is free, or less than the run is likely to need: the mean size of a job's files × the jobs left, where both are
 * known.
 */
export class DiskSpace {
  readonly #port: DiskPort;
  readonly #emit: RunListener;
  #jobs: number;
  #bytes: number;
  #left: number | undefined;
  #hasWarned = false;

  constructor(port: DiskPort, emit: RunListener) {
    this.#port = port;
    this.#emit = emit;
    this.#jobs = port.made.jobs;
    this.#bytes = port.made.bytes;
    this.#left = port.jobsLeft;
  }

  /** Notes the records that became durable. */
  note(records: readonly JobRecord[]): void {
    for (const record of records) {
      const { status } = record;
      if (!isSettled(status)) continue;
      if (this.#left !== undefined) this.#left = Math.max(0, this.#left - 1);
      if (status !== 'done') continue;
      this.#jobs += 1;
      this.#bytes += bytesOf(record);
    }
  }

  /** Checks the free space, until the run has warned. */
  look(): void {
    if (this.#hasWarned) return;
    const free = this.#port.freeBytes();
    if (free === undefined) return;
    const needed = this.#needed();
    if (free >= Math.max(minFreeBytes, needed ?? 0)) return;
    this.#hasWarned = true;
    const need = needed === undefined ? '' : `, and the files still to be made need about ${words(needed)}`;
    this.#emit({
      type: 'run:notice',
      code: 'disk.low',
      message: `Little space is left on the disk: ${words(free)} are free for ${this.#port.directory}${need}. Free some space there; a run whose disk is full stops (exit 74), and continues when it is run again with enough space.`,
    });
  }

  #needed(): number | undefined {
    if (this.#left === undefined || this.#jobs < fewestJobs) return undefined;
    return Math.ceil((this.#bytes / this.#jobs) * this.#left);
  }
}

/** Returns the bytes of the files that a job made: its own, and its lines among the replies. */
export const bytesOf = ({ artifacts, frames, rounds = [], text }: JobRecord): number =>
  [...rounds, ...(text?.reply === undefined ? [] : [text.reply])].reduce(
    (sum, { length }) => sum + length,
    [...artifacts, ...(frames?.files ?? [])].reduce((sum, { bytes }) => sum + bytes, 0),
  );

/** Formats bytes: `312 MB`, `4.1 GB`. */
const words = (bytes: number): string =>
  bytes < 1e9 ? `${Math.floor(bytes / 1e6)} MB` : `${(Math.floor(bytes / 1e8) / 10).toFixed(1)} GB`;
