import type { JobRecord } from '../plan/job.ts';

/** The number of identical files of different jobs: usually a placeholder of the service for removed images. */
export interface SameFilesFound {
  /** Number of jobs with a file whose bytes another job has too. */
  readonly jobs: number;
  /** Number of different contents among these files. */
  readonly contents: number;
  /** The content that most jobs share. */
  readonly example: {
    readonly jobs: number;
    /** File of the second job, relative to the run directory. */
    readonly file: string;
    /** Keys of two of the jobs. */
    readonly first: string;
    readonly second: string;
  };
}

/** Number of recent contents that are remembered: two jobs with more files between them are not compared. */
const maxRemembered = 32_768;

/** Largest number of shared contents that are counted one by one. */
const maxContents = 1000;

/** The first job with a content; `isCounted`: it was counted for another of its contents. */
interface FirstJob {
  readonly key: string;
  isCounted: boolean;
}

/** Finds identical files among jobs that are added one by one, in constant memory (about 8 MB). */
export class SameFiles {
  /** The first job with each content, by SHA-256, least recently used first. */
  readonly #first = new Map<string, FirstJob>();
  /** An iterator that is kept: a new one would pass over all deleted entries. */
  readonly #oldest = this.#first.keys();
  readonly #found = new Map<string, { jobs: number; file: string; first: FirstJob; second: string }>();
  /** Number of jobs whose content an earlier job has. */
  #jobs = 0;

  /** Adds a job; call this once per job. Frames are left out, because they repeat their grid. */
  add({ key, artifacts }: Pick<JobRecord, 'key' | 'artifacts'>): void {
    const own = new Map(artifacts.map(({ sha256, file }) => [sha256, file]));
    const job: FirstJob = { key, isCounted: false };
    for (const [sha256, file] of own) {
      const first = this.#first.get(sha256);
      this.#first.delete(sha256);
      this.#first.set(sha256, first ?? job);
      if (this.#first.size > maxRemembered) this.#first.delete(this.#oldest.next().value ?? '');
      if (first === undefined) continue;
      job.isCounted = true;
      const found = this.#found.get(sha256);
      if (found !== undefined) found.jobs += 1;
      else if (this.#found.size < maxContents) this.#found.set(sha256, { jobs: 2, file, first, second: key });
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
