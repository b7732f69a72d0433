import { type Artifact, artifactsOf, type JobRecord, jobStatuses } from '../plan/job.ts';
import type { StateReader } from '../state/reader.ts';

/** Yields all jobs of a state, page by page. A job that changes its status meanwhile may come twice. */
export async function* everyJob(reader: Pick<StateReader, 'withStatus'>): AsyncGenerator<JobRecord> {
  for (const status of jobStatuses) yield* reader.withStatus(status);
}

/** Yields every file that a record names: artifacts, and the frames of a grid. */
export function* filesOf(record: JobRecord): Generator<string> {
  for (const { file } of artifactsOf(record)) yield file;
}

/** The facts about an artifact that a check of its file needs. */
export interface NamedArtifact {
  readonly record: JobRecord;
  readonly artifact: Artifact;
}
