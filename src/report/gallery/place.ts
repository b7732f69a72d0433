import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolders } from '../../state/files/folders.ts';
import {
  checkFile,
  checkFolder,
  kindOfEntry,
  readOwnText,
  refuseOther,
} from '../../state/files/plain-path.ts';
import { unfinishedFile } from '../../state/files/unfinished.ts';
import { StateError } from '../../state/store.ts';
import { reportFiles } from '../facts/layout.ts';
import { dataFile, removeData, summaryFile, summaryStart } from './data-folder.ts';

/**
 * Makes the folder of a report, or takes one that is there: empty, or a report of ours, which is written again. What killed writers left
 * in it is removed. Of two writers at the same time the one that came later goes on.
 *
 * @param pageFiles names of the files of the page
 * @throws StateError `directory.foreign` where it holds something else, `directory.link` | `directory.kind`; the error of the file system
 */
export async function takeFolder(folder: string, pageFiles: readonly string[]): Promise<void> {
  makeFolders(folder);
  await checkPlace(folder, pageFiles);
  for (const { name } of await readdir(folder, { withFileTypes: true })) {
    if (!unfinishedFile.test(name)) continue;
    const stem = name.replace(unfinishedFile, '');
    const path = join(folder, name);
    if (stem === reportFiles.data && checkFolder(path)) await removeData(path);
    else if (pageFiles.includes(stem) && checkFile(path)) await rm(path, { force: true });
  }
}

/** Nothing is changed where a folder is refused. */
async function checkPlace(folder: string, pageFiles: readonly string[]): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true });
  const data = join(folder, reportFiles.data);
  for (const name of [reportFiles.data, reportFiles.thumbnails]) checkFolder(join(folder, name));
  for (const name of pageFiles) checkFile(join(folder, name));
  const isReport = checkFolder(data) && isSummary(join(data, summaryFile));
  const other = isReport
    ? undefined
    : entries.find(({ name }) => name !== reportFiles.thumbnails && !unfinishedFile.test(name));
  if (other !== undefined) throw foreign(folder, other.name);
  if (!isReport) return;
  for (const entry of await readdir(data, { withFileTypes: true })) {
    if (!dataFile.test(entry.name)) throw foreign(folder, join(reportFiles.data, entry.name));
    refuseOther(join(data, entry.name), kindOfEntry(entry), 'file');
  }
}

const isSummary = (file: string): boolean => readOwnText(file, summaryStart.length) === summaryStart;

const foreign = (folder: string, name: string): StateError =>
  new StateError('directory.foreign', `${folder} holds something else than a report: ${name}.`, {
    hint: 'Nothing was touched. Take an empty folder, or one that is not there yet, with --to.',
  });
