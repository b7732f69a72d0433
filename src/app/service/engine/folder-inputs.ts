import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { onDisk } from '../../../artifacts/failure.ts';
import {
  isSharedInput,
  largestInput,
  type SharedInputs,
  sharedInputName,
} from '../../../artifacts/inputs.ts';
import { writeWhole } from '../../../manifest/whole-file.ts';
import { runFiles } from '../../../report/facts/layout.ts';
import { readPlainFile } from '../../../state/files/plain-file.ts';
import { checkFile, checkFolder } from '../../../state/files/plain-path.ts';

/** Opens the input files that the workers of a run share, in the folder of its results. */
export function folderInputs(directory: string): SharedInputs {
  const folder = join(directory, runFiles.inputs);
  return {
    put: async (sha256, bytes) => {
      const file = join(directory, sharedInputName(sha256));
      if (!checkFolder(folder)) await mkdir(folder, { recursive: true });
      await writeWhole(file, [bytes]);
    },
    get: (sha256) =>
      onDisk(async () => {
        const file = join(directory, sharedInputName(sha256));
        if (!checkFolder(folder) || !checkFile(file)) return undefined;
        const found = await readPlainFile(file, largestInput);
        return found.ok ? found.bytes : undefined;
      }),
    clear: async () => {
      if (!checkFolder(folder)) return;
      for (const name of await readdir(folder))
        if (isSharedInput(`${runFiles.inputs}/${name}`)) await rm(join(folder, name), { force: true });
    },
  };
}
