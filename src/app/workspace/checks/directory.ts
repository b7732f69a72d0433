import { lstatSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { checkArtifactFolder } from '../../../artifacts/store/check.ts';
import { inputFile, runFiles } from '../../../report/facts/layout.ts';
import { isMissing } from '../../../state/files/folders.ts';
import { checkFile, checkFolder, kindOfEntry, refuseOther } from '../../../state/files/plain-path.ts';
import { segmentFile } from '../../../state/files/segment-files.ts';
import { unfinishedFile } from '../../../state/files/unfinished.ts';
import { stateFiles } from '../../../state/state-files.ts';
import { StateError } from '../../../state/store.ts';
import type { Environment } from '../../output/io.ts';
import { refuseTracked } from './tracked.ts';

/**
 * Refuses a run directory with an unsafe entry under a name that promptpress opens, writes, replaces, lists or deletes: a link, a pipe, a
 * folder in place of a file, a file with a second name. The directory may come from a repository or an archive whose author wants other
 * files read or changed. Nothing is written or waited for.
 *
 * @param artifacts check the folders of images, texts and videos too, as a run uses them: about a second for a million files
 * @param trusted accept files that git tracks (`--trust-directory`): see {@link refuseTracked}
 * @throws StateError `directory.link` | `directory.kind` | `directory.tracked`; the error of the file system
 */
export async function checkRunDirectory(
  directory: string,
  { trusted, artifacts = false }: { readonly trusted: boolean; readonly artifacts?: boolean },
  env: Environment,
): Promise<void> {
  const isThere = await isFolder(directory);
  if (isThere) await checkNames(directory, artifacts);
  if (!trusted) await refuseTracked(directory, env);
}

async function checkNames(directory: string, artifacts: boolean): Promise<void> {
  for (const name of [...stateFiles, runFiles.log]) checkFile(join(directory, name), { inPlace: true });
  for (const name of [runFiles.manifest, runFiles.record]) checkFile(join(directory, name));
  for (const entry of await readdir(directory, { withFileTypes: true }))
    if (unfinishedFile.test(entry.name)) refuseOther(join(directory, entry.name), kindOfEntry(entry), 'file');
  await checkFiles(join(directory, runFiles.inputs), (name) => inputFile.test(name));
  await checkFiles(join(directory, runFiles.sandbox), (name) => name.startsWith('sandbox.'));
  await checkFiles(join(directory, runFiles.replies), (name) => segmentFile.test(name), { inPlace: true });
  await checkArtifactFolder(directory, { files: artifacts });
}

/** Whether a path is a folder or a link to one, which the user may choose. @returns false if nothing is there */
async function isFolder(directory: string): Promise<boolean> {
  let isFile = false;
  try {
    const found = await stat(directory);
    if (found.isDirectory()) return true;
    isFile = found.isFile();
  } catch (error) {
    // If a link leads nowhere, the run would create its target.
    if (!isMissing(error)) throw error;
    // Nothing can be below a file; the code that makes the folder reports this.
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return false;
    if (lstatSync(directory, { throwIfNoEntry: false }) === undefined) return false;
  }
  const what = isFile ? 'it is a file' : 'it is not a folder';
  throw new StateError('directory.kind', `${directory} cannot be the run directory: ${what}.`, {
    hint: 'Name a folder, for example --out runs/second; it is made if it does not exist.',
  });
}

async function checkFiles(
  folder: string,
  isOurs: (name: string) => boolean,
  { inPlace = false } = {},
): Promise<void> {
  if (!checkFolder(folder)) return;
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (!isOurs(entry.name)) continue;
    const file = join(folder, entry.name);
    if (inPlace) checkFile(file, { inPlace });
    else refuseOther(file, kindOfEntry(entry), 'file');
  }
}
