import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import type { ArtifactStore } from '../artifacts/store/store.ts';
import { KeySet } from '../manifest/key-set.ts';
import { manifestRows } from '../manifest/rows.ts';
import { type ManifestOptions, manifestChunks } from '../manifest/write.ts';
import { isUncut } from '../plan/graph/frames.ts';
import { artifactsOf, type JobRecord } from '../plan/job.ts';
import { SameFiles } from '../results/same-files.ts';
import { checkFile } from '../state/files/plain-path.ts';
import { segmentPath } from '../state/files/segment-files.ts';
import type { StateReader } from '../state/reader.ts';
import { everyJob, filesOf, type NamedArtifact } from './artifact-names.ts';
import { checkArtifact } from './check-files.ts';
import { placesOf, ReplyLines } from './check-replies.ts';
import type { Finding, Looked } from './finding.ts';

/** Number of files that are read at the same time. */
const atOnce = 4;

export interface VerifyOptions {
  readonly directory: string;
  readonly artifacts: Pick<ArtifactStore, 'open' | 'list'>;
  readonly reader: StateReader;
  /** Options of the last run's manifest; absent if its plan is not known. */
  readonly manifest?: Omit<ManifestOptions, 'file'>;
  /** True if a run has ended and none has begun since. */
  readonly hasEnded: boolean;
  readonly looked: Looked;
  readonly signal: AbortSignal;
}

/**
 * Yields the differences between a run directory and its state: files that are missing or have other bytes, files that no job names,
 * finished jobs without their files, replies without their line, a manifest with other rows. Memory does not grow with the files, except 8
 * to 32 bytes per name.
 *
 * @throws StateError, SaveError; the error of the file system; the signal's reason
 */
export async function* verify(options: VerifyOptions): AsyncGenerator<Finding> {
  const { directory, artifacts, reader, manifest, hasEnded, looked, signal } = options;
  const named = new KeySet();
  const replies = new ReplyLines(directory, reader);
  const same = new SameFiles();
  let mayLackFiles = false;
  /** Number of misplaced intact replies by segment: one removal or insertion shifts all replies after it. */
  const moved = new Map<number, number>();
  try {
    let group: NamedArtifact[] = [];
    for await (const record of everyJob(reader)) {
      signal.throwIfAborted();
      for (const file of filesOf(record)) named.add(file);
      for (const place of placesOf(record)) {
        looked.replies += 1;
        if (await replies.isWhole(place)) continue;
        const { segment } = place;
        if (await replies.isElsewhere(place)) moved.set(segment, (moved.get(segment) ?? 0) + 1);
        else yield { kind: 'reply', file: segmentPath(segment), job: record.key };
      }
      same.add(record);
      for await (const other of sharedBy(record, reader))
        yield { kind: 'shared', job: other, other: record.key };
      mayLackFiles ||= mayLack(record);
      if (record.frames?.error?.code === 'frames.file') yield uncutFinding(record);
      for (const artifact of artifactsOf(record)) group.push({ record, artifact });
      if (group.length < atOnce) continue;
      yield* checkGroup(group, options);
      group = [];
    }
    yield* checkGroup(group, options);
    for (const [segment, count] of moved) yield { kind: 'moved', file: segmentPath(segment), replies: count };
  } finally {
    await replies.close();
  }
  const found = same.result();
  if (found !== undefined) yield { kind: 'same', ...found };
  for await (const file of artifacts.list('')) {
    signal.throwIfAborted();
    if (!named.has(file)) yield { kind: 'unlisted', file };
  }
  if (manifest === undefined) return;
  if (mayLackFiles) yield* checkSaved(manifest, signal);
  const finding = await checkManifest(directory, manifest, hasEnded);
  if (finding !== undefined) yield finding;
}

/** Yields the jobs whose result is of a task that may belong to this job. */
async function* sharedBy({ shared }: JobRecord, reader: StateReader): AsyncGenerator<string> {
  for (const key of shared?.jobs ?? []) {
    const other = await reader.get(key);
    if (other?.status === 'done' && other.taskId === shared?.taskId) yield key;
  }
}

async function* checkGroup(
  group: readonly NamedArtifact[],
  { artifacts, looked, signal }: VerifyOptions,
): AsyncGenerator<Finding> {
  const found = await Promise.all(
    group.map(async ({ artifact }) => await checkArtifact(artifacts, artifact, looked, signal)),
  );
  for (const [at, kind] of found.entries()) {
    const { record, artifact } = group[at] as NamedArtifact;
    if (kind === 'whole') continue;
    const finding = { kind, file: artifact.file, job: record.key, isRepairable: isRepairable(record) };
    yield { ...finding, ...(record.frames?.files.includes(artifact) && { isFrame: true }) };
  }
}

/** Whether a slot may use files of a job that the state lacks: the plan decides. */
const mayLack = (record: JobRecord): boolean =>
  record.status === 'done' &&
  record.result !== undefined &&
  record.result.prompts === undefined &&
  (record.artifacts.length === 0 || (record.split === true && isUncut(record)));

/** Yields the finished jobs whose files some slot uses and the state lacks, each once. */
async function* checkSaved(
  { plan, selection, reader }: Omit<ManifestOptions, 'file'>,
  signal: AbortSignal,
): AsyncGenerator<Finding> {
  const told = new KeySet();
  for await (const { slot } of manifestRows(plan, selection, reader, signal)) {
    signal.throwIfAborted();
    const { record, unsaved, uncut } = slot;
    if (record !== undefined && (unsaved || uncut) && told.add(record.key))
      yield unsavedFinding(record, uncut);
  }
}

const unsavedFinding = (record: JobRecord, isFrame: true | undefined): Finding => ({
  kind: 'unsaved',
  job: record.key,
  isRepairable: isRepairable(record),
  ...(isFrame && { isFrame }),
});

const uncutFinding = (record: JobRecord): Finding => ({
  kind: 'uncut',
  file: record.artifacts[0]?.file ?? '',
  job: record.key,
  isRepairable: isRepairable(record),
  isFrame: true,
});

/**
 * Whether the service has the file: a finished task has a link to it. Images of a text call came with its answer, and a job that is being
 * redone gets a new result anyway.
 */
export const isRepairable = ({ status, result, taskId, former }: JobRecord): boolean =>
  status === 'done' && former === undefined && taskId !== undefined && result !== undefined;

const name = 'manifest.csv';

/**
 * Compares the manifest with the rows of the state, in constant memory.
 *
 * @param isExpected a run has ended, so it has written a manifest
 * @throws StateError, TableError; the error of the file system
 */
async function checkManifest(
  directory: string,
  options: Omit<ManifestOptions, 'file'>,
  isExpected: boolean,
): Promise<Extract<Finding, { readonly kind: 'manifest' }> | undefined> {
  const file = join(directory, name);
  if (!checkFile(file)) return isExpected ? { kind: 'manifest', file: name, why: 'missing' } : undefined;
  for (const escapeFormulas of [false, true]) {
    if (await isSame(createReadStream(file), manifestChunks({ ...options, escapeFormulas })))
      return undefined;
  }
  return { kind: 'manifest', file: name, why: (await endsWithRow(file)) ? 'other' : 'torn' };
}

/** Whether two streams of bytes and texts are equal. Ends at the first difference. */
async function isSame(bytes: AsyncIterable<Buffer>, texts: AsyncIterable<string>): Promise<boolean> {
  const pieces = bytes[Symbol.asyncIterator]();
  let held = Buffer.alloc(0);
  try {
    for await (const text of texts) {
      const expected = Buffer.from(text);
      while (held.length < expected.length) {
        const next = await pieces.next();
        if (next.done === true) return false;
        held = Buffer.concat([held, next.value]);
      }
      if (!held.subarray(0, expected.length).equals(expected)) return false;
      held = held.subarray(expected.length);
    }
    return held.length === 0 && (await pieces.next()).done === true;
  } finally {
    await pieces.return?.();
  }
}

async function endsWithRow(file: string): Promise<boolean> {
  let last = Buffer.alloc(0);
  for await (const piece of createReadStream(file) as AsyncIterable<Buffer>)
    last = Buffer.concat([last.subarray(-2), piece.subarray(-2)]).subarray(-2);
  return last.equals(Buffer.from('\r\n'));
}
