import { lstatSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { countNames } from '../../../artifacts/store/counts.ts';
import { manifestColumns } from '../../../manifest/columns.ts';
import { runFiles } from '../../../report/facts/layout.ts';
import { isMissing } from '../../../state/files/folders.ts';
import { kindAt, readOwnText } from '../../../state/files/plain-path.ts';
import { unfinishedFile } from '../../../state/files/unfinished.ts';
import { openStateForReading } from '../../../state/state.ts';
import { lockFileName, stateFileName, stateFiles } from '../../../state/state-files.ts';
import { StateError } from '../../../state/store.ts';

/** Files that systems and people put into otherwise empty folders. */
const mayLieAnywhere = new Set([
  '.DS_Store',
  '.gitignore',
  '.gitkeep',
  'Thumbs.db',
  'desktop.ini',
  'lost+found',
]);

const ourNames = new Set<string>([...stateFiles, ...countNames, ...Object.values(runFiles)]);

/**
 * Refuses to run in a folder that holds other files: a run replaces `manifest.csv` and `run.json`, and removes files in `inputs/` and
 * `images/`. A folder is accepted if it has a state, or committed results of a run (`run.json`, `manifest.csv`), or nothing but what a
 * refused run or a removed state leaves behind.
 *
 * @throws StateError `directory.foreign` | `state.foreign`; the error of the file system
 */
export async function refuseOtherDirectory(directory: string): Promise<void> {
  const names = (await namesIn(directory)).filter((name) => !mayLieAnywhere.has(name));
  if (names.length === 0) return;
  const has = (name: string): boolean => names.includes(name);
  if (has(runFiles.engine)) throw ofEngine(directory);
  const isLocked = has(lockFileName) && sizeOf(join(directory, lockFileName)) === 0;
  if (has(stateFileName) && sizeOf(join(directory, stateFileName)) > 0) {
    if (!isLocked) await refuseOtherState(directory);
    return;
  }
  for (const [name, isOurs] of [
    [runFiles.record, isRecord],
    [runFiles.manifest, isManifest],
  ] as const)
    if (has(name) && !isOurs(join(directory, name))) throw otherDirectory(directory, name);
  if (has(runFiles.record) || has(runFiles.manifest)) return;
  const other = names.find((name) => !ourNames.has(name) && !unfinishedFile.test(name));
  const [first = ''] = names;
  if (other !== undefined || !isLocked) throw otherDirectory(directory, other ?? first);
}

const ofEngine = (directory: string): StateError =>
  new StateError(
    'directory.foreign',
    `${directory} holds the files of a run on an engine (${runFiles.engine} says which one): its state is there, not here.`,
    { hint: 'Continue it with --engine postgres://…, or choose another directory with --out.' },
  );

async function namesIn(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

const sizeOf = (file: string): number => lstatSync(file).size;

/** Refuses a state without a lock file: every run makes the lock first, so it may be the database of another program. */
async function refuseOtherState(directory: string): Promise<void> {
  try {
    await openStateForReading(directory)?.close();
  } catch (error) {
    // A state of another release is ours; the code that opens it for writing reports that.
    if (!(error instanceof StateError) || error.code !== 'state.version') throw error;
  }
}

const maxRecordBytes = 64 * 1024 * 1024;

function isRecord(file: string): boolean {
  if (kindAt(file) !== 'file') return false;
  try {
    const { promptpress, pipeline } = JSON.parse(readOwnText(file, maxRecordBytes) ?? '') as {
      readonly promptpress?: unknown;
      readonly pipeline?: unknown;
    };
    return typeof promptpress === 'string' && typeof pipeline === 'object' && pipeline !== null;
  } catch {
    return false;
  }
}

/** The columns that identify a row have come first in every release. */
const manifestStart = manifestColumns.slice(0, 6).join(',');

const isManifest = (file: string): boolean =>
  kindAt(file) === 'file' && readOwnText(file, manifestStart.length) === manifestStart;

const otherDirectory = (directory: string, name: string): StateError =>
  new StateError(
    'directory.foreign',
    `${directory} is not a run directory: promptpress did not make ${name} in it.`,
    {
      hint: 'A run would replace and remove files there, so nothing was touched. Name an empty folder, or a new one, with --out.',
    },
  );
