import type { ArtifactStore } from '../artifacts/store/store.ts';
import { type Attempt, artifactsOf, type JobRecord } from '../plan/job.ts';
import type { ReplyPlace } from '../plan/job-request.ts';
import type { StateReader } from '../state/reader.ts';
import type { StateStore } from '../state/store.ts';
import { everyJob, filesOf } from './artifact-names.ts';
import { placesOf, ReplyLines } from './check-replies.ts';
import { combine } from './combine.ts';
import { copyAsStated } from './copy.ts';

/** A run directory that is merged into another one. */
export interface MergeSource {
  /** Absolute path. */
  readonly directory: string;
  /** Path as the user gave it, for messages. */
  readonly name: string;
  readonly reader: StateReader;
  /** The store of its files. */
  readonly artifacts: Pick<ArtifactStore, 'open'>;
}

/** A new run directory that others are merged into; nothing has run there. */
export interface MergeTarget {
  readonly state: StateStore;
  readonly artifacts: ArtifactStore;
}

/** The result of a merge. */
export interface Merged {
  jobs: number;
  files: number;
  bytes: number;
  replies: number;
  /** Number of jobs in several directories. */
  shared: number;
  /** Number of these jobs with two results: the older one was taken. */
  conflicts: number;
}

/** An error for an incomplete source. */
export class MergeError extends Error {
  readonly source: MergeSource;
  /** True if `verify --repair` may repair it. */
  readonly mayRepair: boolean;

  constructor(source: MergeSource, message: string, mayRepair: boolean) {
    super(message);
    this.name = 'MergeError';
    this.source = source;
    this.mayRepair = mayRepair;
  }
}

/** Number of jobs that are committed together, and size of replies after which they are committed at once. */
const group = { jobs: 128, bytes: 16 * 1024 * 1024 } as const;

/**
 * Copies the jobs of a directory into another one, with their history, files and replies. Each file and each reply is compared with its
 * hash during the copy. Memory does not grow with the jobs. If this throws, the caller must discard the target.
 *
 * @throws MergeError, StateError, SaveError; the signal's reason
 */
export async function mergeInto(
  target: MergeTarget,
  source: MergeSource,
  merged: Merged,
  signal: AbortSignal,
): Promise<void> {
  const { state } = target;
  const lines = new ReplyLines(source.directory);
  let records: JobRecord[] = [];
  let attempts: Attempt[] = [];
  let bytes = 0;
  const commit = (): void => {
    state.commit({ records, attempts });
    records = [];
    attempts = [];
    bytes = 0;
  };
  try {
    for await (const found of everyJob(source.reader)) {
      signal.throwIfAborted();
      const { key } = found;
      const kept = await replied(found, state, source, lines);
      for (const { length } of placesOf(kept)) bytes += length;
      merged.replies += [...placesOf(kept)].length;
      await rememberFiles(found, state, source);
      const history = await source.reader.attempts(key);
      const before = state.get(key);
      if (before === undefined) {
        merged.jobs += 1;
        records.push(kept);
        attempts.push(...history);
        await copyFiles(kept, target, source, merged, signal);
      } else {
        const known = state.attempts(key);
        const both = combine({ record: before, attempts: known }, { record: kept, attempts: history });
        merged.shared += 1;
        if (both.isConflict) merged.conflicts += 1;
        if (both.isSecond) {
          await copyFiles(kept, target, source, merged, signal);
          const names = new Set(filesOf(kept));
          await target.artifacts.remove([...filesOf(before)].filter((name) => !names.has(name)));
        }
        records.push(both.record);
        const seen = new Set(known.map((attempt) => JSON.stringify(attempt)));
        attempts.push(...history.filter((attempt) => !seen.has(JSON.stringify(attempt))));
      }
      if (records.length >= group.jobs || bytes >= group.bytes) commit();
    }
    commit();
  } finally {
    await lines.close();
  }
}

/**
 * Copies the replies of a record, with those of its former result, and returns the record with their new places.
 *
 * @throws MergeError if one is not as the state says
 */
export async function replied(
  record: JobRecord,
  state: Pick<StateStore, 'keepReply'>,
  source: MergeSource,
  lines: ReplyLines,
): Promise<JobRecord> {
  const move = async (place: ReplyPlace): Promise<ReplyPlace> => {
    const line = await lines.read(place);
    const [before, end] = [`{"job":${JSON.stringify(record.key)},"reply":`, '}'];
    // A place in a state of others may cover several lines.
    if (line === undefined || /[\r\n]/.test(line) || !line.startsWith(before) || !line.endsWith(end))
      throw new MergeError(source, `the reply to job ${record.key} is not as the state says`, false);
    return state.keepReply(record.key, line.slice(before.length, -end.length));
  };
  const moved = async <Part extends Pick<JobRecord, 'rounds' | 'text'>>(part: Part): Promise<Part> => {
    const { rounds, text } = part;
    const places: ReplyPlace[] = [];
    for (const round of rounds ?? []) places.push(await move(round));
    const reply = text?.reply === undefined ? undefined : await move(text.reply);
    return {
      ...part,
      ...(rounds === undefined ? {} : { rounds: places }),
      ...(text === undefined || reply === undefined ? {} : { text: { ...text, reply } }),
    };
  };
  const { former } = record;
  const own = await moved(record);
  return former === undefined ? own : { ...own, former: await moved(former) };
}

/** Copies the facts of the files that a job shows: their content is part of its key. */
async function rememberFiles({ files }: JobRecord, state: StateStore, source: MergeSource): Promise<void> {
  if (files === undefined) return;
  for (const seen of (await source.reader.inputFiles(Object.values(files))).values()) {
    const known = state.inputFile(seen.path);
    if (known === undefined) state.rememberInputFile(seen);
    else if (known.sha256 !== seen.sha256)
      throw new MergeError(
        source,
        `${seen.path} was a different file there than in an earlier directory`,
        false,
      );
  }
}

async function copyFiles(
  record: JobRecord,
  { artifacts }: MergeTarget,
  source: MergeSource,
  merged: Merged,
  signal: AbortSignal,
): Promise<void> {
  for (const artifact of artifactsOf(record)) {
    if ((await copyAsStated(record.key, artifact, source.artifacts, artifacts, signal)) === 'fault')
      throw new MergeError(source, `${artifact.file} is missing, or not as the state says`, true);
    merged.bytes += artifact.bytes;
    merged.files += 1;
  }
}
