import type { JobRecord } from '../plan/job.ts';

/** Files of different jobs that have the same bytes: most often a placeholder that the service gave for images it had removed. */
export interface SameFilesFound {
  /** Jobs with a file whose bytes another job has too. */
  readonly jobs: number;
  /** Different contents among these files. */
  readonly contents: number;
  /** The content that most jobs have. */
  readonly example: {
    readonly jobs: number;
    /** Of the second job, relative to the run directory. */
    readonly file: string;
    /** Keys of two of the jobs. */
    readonly first: string;
    readonly second: string;
  };
}

/** Contents that are remembered, the latest: two jobs with more files between them are not compared. */
const mostRemembered = 32_768;

/** Contents of several jobs that are counted one by one. */
const mostContents = 1000;

/** A job that had a content first; `isCounted`: an earlier job has another of its contents. */
interface FirstJob {
  readonly key: string;
  isCounted: boolean;
}

/** Finds files of the same bytes among jobs that are added one after another, in memory that does not grow with them (about 8 MB). */
export class SameFiles {
  /** By SHA-256, the job that had it first; the longest unused goes first. */
  readonly #first = new Map<string, FirstJob>();
  /** Goes on where it was: a new one passes over all that were deleted, one by one. */
  readonly #oldest = this.#first.keys();
  readonly #found = new Map<string, { jobs: number; file: string; first: FirstJob; second: string }>();
  /** With a content that an earlier job has. */
  #jobs = 0;

  /** Each job once. Frames are left out, because they repeat what their grid says. */
  add({ key, artifacts }: Pick<JobRecord, 'key' | 'artifacts'>): void {
    const own = new Map(artifacts.map(({ sha256, file }) => [sha256, file]));
    const job: FirstJob = { key, isCounted: false };
    for (const [sha256, file] of own) {
      const first = this.#first.get(sha256);
      this.#first.delete(sha256);
      this.#first.set(sha256, first ?? job);
      if (this.#first.size > mostRemembered) this.#first.delete(this.#oldest.next().value ?? '');
      if (first === undefined) continue;
      job.isCounted = true;
      const found = this.#found.get(sha256);
      if (found !== undefined) found.jobs += 1;
      else if (this.#found.size < mostContents)
        this.#found.set(sha256, { jobs: 2, file, first, second: key });
    }
    if (job.isCounted) this.#jobs += 1;
  }

  result(): SameFilesFound | undefined {
    const found = [...this.#found.values()];
    const [most] = found.toSorted((one, other) => other.jobs - one.jobs);
    const uncounted = found.map(({ first }) => first).filter(({ isCounted }) => !isCounted);
    return (
      most && {
        jobs: this.#jobs + new Set(uncounted).size,
        contents: found.length,
        example: { ...most, first: most.first.key },
      }
    );
  }
}
