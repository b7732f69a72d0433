import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { incomingFolder } from '../artifacts/store/check.ts';
import { openArtifactFolder } from '../artifacts/store/folder.ts';
import { artifactRoots, isOurArtifactName, keyOfArtifact } from '../artifacts/store/names.ts';
import type { ArtifactStore } from '../artifacts/store/store.ts';
import { KeySet } from '../manifest/key-set.ts';
import type { Artifact, JobRecord } from '../plan/job.ts';
import type { Plan } from '../plan/plan.ts';
import { cellsAtOnce, inGroups, withRecords } from '../plan/resolve/load-records.ts';
import { isMissing } from '../state/files/folders.ts';
import { checkFile } from '../state/files/plain-path.ts';
import { unfinishedFile } from '../state/files/unfinished.ts';
import type { StateReader } from '../state/reader.ts';
import type { StateStore } from '../state/store.ts';
import { everyJob, filesOf } from './artifact-names.ts';
import { withoutFiles, withoutFrames } from './without-files.ts';

/** A file that `clean` may remove. */
export interface CleanFile {
  /** Path relative to the run directory, with `/`. */
  readonly file: string;
  readonly bytes: number;
  /**
   * `unplanned`: its job is not in the last complete plan; `unlisted`: it has the form of an artifact, and no job names it; `unfinished`: a
   * process was killed while it wrote the file.
   */
  readonly why: 'unplanned' | 'unlisted' | 'unfinished';
}

/** What a plan uses of the files of a run directory. */
export interface PlannedFiles {
  /**
   * Names of the files of its jobs, and the keys of jobs whose files the state lacks: an interrupted repair took them out of it. Names that
   * some file system may treat as equal count as equal, so that no used file is removed.
   */
  readonly names: KeySet;
  /** Steps with places whose jobs are not known yet: once they are, these may be jobs that were made before. */
  readonly undecided: ReadonlySet<string>;
}

/** Returns what a plan uses, whatever the flags select. */
export async function plannedFiles(
  plan: Plan,
  reader: Pick<StateReader, 'many'>,
  signal: AbortSignal,
): Promise<PlannedFiles> {
  const names = new KeySet();
  const undecided = new Set<string>();
  for await (const cells of inGroups(plan.matrix.cells({}, signal), cellsAtOnce(plan))) {
    signal.throwIfAborted();
    await withRecords(
      cells,
      (cell, lookup) => {
        for (const { step, job, record, status, split, unsaved } of plan.resolve(cell, lookup)) {
          if (job === undefined && status !== 'skipped') undecided.add(step);
          if (record === undefined) continue;
          // Frames are used while some step says `grid: split`, and are left over otherwise.
          for (const file of filesOf(split ? record : withoutFrames(record))) names.add(file);
          if (unsaved === true) names.add(record.key);
        }
      },
      (keys) => reader.many(keys),
      plan.images,
      signal,
    );
  }
  return { names, undecided };
}

/**
 * Yields the files of a run directory that `clean` would remove: artifacts that the plan does not use, and files of killed processes.
 * Checks only names in the form of promptpress; see {@link foreignFiles} for the rest.
 *
 * @throws StateError if a link has the name of a folder; the error of the file system; the signal's reason
 */
export async function* filesToClean(
  directory: string,
  artifacts: Pick<ArtifactStore, 'list' | 'open'>,
  { names: planned, undecided }: PlannedFiles,
  reader: Pick<StateReader, 'withStatus'>,
  signal: AbortSignal,
): AsyncGenerator<CleanFile> {
  const named = new KeySet();
  for await (const record of everyJob(reader)) {
    signal.throwIfAborted();
    for (const file of filesOf(record)) (undecided.has(record.origin.step) ? planned : named).add(file);
  }
  for await (const file of artifacts.list('')) {
    signal.throwIfAborted();
    const key = keyOfArtifact(file);
    if (key === undefined || planned.has(file) || planned.has(key)) continue;
    const found = await artifacts.open(file);
    if (!found.ok) continue;
    await found.close();
    const { bytes } = found;
    yield { file, bytes, why: named.has(file) ? 'unplanned' : 'unlisted' };
  }
  for (const folder of ['', ...artifactRoots.map((root) => `${root}/${incomingFolder}/`)]) {
    for (const name of await namesIn(join(directory, folder))) {
      if (!unfinishedFile.test(name)) continue;
      const bytes = await sizeOf(join(directory, folder, name));
      if (bytes !== undefined) yield { file: `${folder}${name}`, bytes, why: 'unfinished' };
    }
  }
}

/** Number of records that are read and changed together. */
const group = 256;

/**
 * Removes files from the state before they are deleted: their jobs stay done and paid, and a plan that uses them again downloads them. So a
 * killed process leaves files without a job, never a job without its files.
 */
export async function forgetFiles(
  state: StateStore,
  isGoing: (file: string) => boolean,
  signal: AbortSignal,
): Promise<number> {
  let changed = 0;
  let records: JobRecord[] = [];
  const commit = (): void => {
    if (records.length === 0) return;
    state.commit({ records, attempts: [] });
    changed += records.length;
    records = [];
  };
  for await (const record of everyJob(state.reader)) {
    signal.throwIfAborted();
    const areGoing = (files: readonly Artifact[] = []): boolean => files.some(({ file }) => isGoing(file));
    if (areGoing(record.artifacts)) records.push(withoutFiles(record));
    else if (areGoing(record.frames?.files)) records.push(withoutFrames(record));
    else continue;
    if (records.length >= group) commit();
  }
  commit();
  return changed;
}

/**
 * Finds names in the folders of artifacts that promptpress did not make; they are kept. A link counts as one name.
 *
 * @param most largest number of listed names
 */
export async function foreignFiles(
  directory: string,
  isOurs: (name: string) => boolean,
  most: number,
): Promise<{ count: number; readonly names: string[] }> {
  const found = { count: 0, names: [] as string[] };
  const note = (name: string): void => {
    found.count += 1;
    if (found.names.length < most) found.names.push(name);
  };
  for (const name of await namesIn(directory)) if (!isOurs(name) && !unfinishedFile.test(name)) note(name);
  const ours = openArtifactFolder(directory);
  for (const root of artifactRoots) {
    for (const folder of await namesIn(join(directory, root))) {
      if (folder === incomingFolder) continue;
      const place = join(directory, root, folder);
      const isFolder = (await lstat(place)).isDirectory();
      const names = isFolder ? await namesIn(place) : [];
      // An empty folder of promptpress is left over from its files.
      if (names.length === 0 && !(isFolder && /^[0-9a-f]{2}$/.test(folder))) note(`${root}/${folder}`);
      const known = new Set<string>();
      if (isFolder)
        for await (const file of ours.list(`${root}/${folder}/`))
          if (isOurArtifactName(file)) known.add(file);
      for (const name of names) {
        const path = `${root}/${folder}/${name}`;
        if (!known.has(path)) note(path);
      }
    }
  }
  await ours.close();
  return found;
}

/** Returns the names in a folder in order; empty if it is missing or not a folder. */
async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    if (isMissing(error) || (error instanceof Error && 'code' in error && error.code === 'ENOTDIR'))
      return [];
    throw error;
  }
}

/** Returns the size of a file; undefined if it was removed meanwhile. @throws StateError for a link */
async function sizeOf(path: string): Promise<number | undefined> {
  return checkFile(path) ? (await lstat(path)).size : undefined;
}
