import { KeySet } from '../manifest/key-set.ts';
import type { Artifact, JobRecord, JobStatus } from '../plan/job.ts';
import type { StateReader } from '../state/reader.ts';

/** Every status that a job can have. */
const statuses = [
  'done',
  'failed',
  'saving',
  'running',
  'modal',
  'submitting',
  'in-doubt',
  'pending',
] as const satisfies readonly JobStatus[];

/** All jobs of a state, page by page. A job that changes its status meanwhile may come twice. */
export async function* everyJob(reader: Pick<StateReader, 'withStatus'>): AsyncGenerator<JobRecord> {
  for (const status of statuses) yield* reader.withStatus(status);
}

/** Every file that a record names: artifacts, and the replies that earlier releases kept as files. */
export function* filesOf({ artifacts, text }: JobRecord): Generator<string> {
  for (const { file } of artifacts) yield file;
  if (text?.answerFile !== undefined) yield text.answerFile;
}

/**
 * Names of files, in 8 to 32 bytes each. Two names could count as one, with a chance of about 3 in 1,000,000 for any pair among ten
 * million: a file is then taken for one that is named, and left alone.
 */
export class FileNames {
  readonly #names = new KeySet();

  add(name: string): void {
    this.#names.add(name);
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }
}

/** Of an artifact of a job, what a check of its file needs. */
export interface NamedArtifact {
  readonly record: JobRecord;
  readonly artifact: Artifact;
}
