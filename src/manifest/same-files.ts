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

/** Finds files of the same bytes among jobs that are added one after another, in memory that does not grow with them (about 8 MB). */
export class SameFiles {
  /** By SHA-256, the job that had it first; the longest unused goes first. */
  readonly #first = new Map<string, string>();
  readonly #found = new Map<string, { jobs: number; file: string; first: string; second: string }>();
  /** With a content that an earlier job has. */
  #jobs = 0;

  /** Each job once. Frames are left out, because they repeat what their grid says. */
  add({ key, artifacts }: Pick<JobRecord, 'key' | 'artifacts'>): void {
    const own = new Map(artifacts.map(({ sha256, file }) => [sha256, file]));
    let isSame = false;
    for (const [sha256, file] of own) {
      const first = this.#first.get(sha256);
      this.#first.delete(sha256);
      this.#first.set(sha256, first ?? key);
      const [oldest] = this.#first.size > mostRemembered ? this.#first.keys() : [];
      if (oldest !== undefined) this.#first.delete(oldest);
      if (first === undefined) continue;
      isSame = true;
      const found = this.#found.get(sha256);
      if (found !== undefined) found.jobs += 1;
      else if (this.#found.size < mostContents)
        this.#found.set(sha256, { jobs: 2, file, first, second: key });
    }
    if (isSame) this.#jobs += 1;
  }

  result(): SameFilesFound | undefined {
    const [most] = [...this.#found.values()].sort((one, other) => other.jobs - one.jobs);
    return (
      most && {
        jobs: this.#jobs + new Set([...this.#found.values()].map(({ first }) => first)).size,
        contents: this.#found.size,
        example: { ...most },
      }
    );
  }
}
