import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import {
  countBytes,
  countNameOf,
  countNames,
  countOf,
  countText,
  type SubmissionCounts,
} from '../../../artifacts/store/counts.ts';
import { checkFile, ownFile, refuseSecondName } from '../../../state/files/plain-path.ts';
import { StateError } from '../../../state/store.ts';

/**
 * Opens the counts of submissions in a folder that the workers of a run share. The file is overwritten in place: one short line is written
 * completely or not at all. It is not synced: a power failure may restore an earlier number, which stops no run.
 */
export function folderCounts(directory: string): SubmissionCounts {
  return {
    highest: async () => {
      let highest = 0;
      for (const name of countNames) {
        const file = join(directory, name);
        if (!checkFile(file)) continue;
        const value = await opened(file, constants.O_RDONLY, (handle) => read(handle, file));
        highest = Math.max(highest, value);
      }
      return highest;
    },
    raise: async (worker, value) => {
      const file = join(directory, countNameOf(worker));
      checkFile(file, { inPlace: true });
      await opened(file, constants.O_RDWR | constants.O_CREAT, async (handle) => {
        if ((await read(handle, file)) < value) await handle.write(countText(value), 0);
      });
    },
  };
}

/** Opens a file with the mode of the results: workers of several users may share the folder. */
async function opened<T>(file: string, flags: number, use: (handle: FileHandle) => Promise<T>): Promise<T> {
  const handle = await open(file, flags | ownFile, 0o666);
  try {
    return await use(handle);
  } finally {
    await handle.close();
  }
}

const damaged = (file: string): StateError =>
  new StateError('state.foreign', `${file} is damaged: it counts submissions, and no number is in it.`, {
    hint: 'Where the database is that of the last run, remove the file and give the same command again.',
  });

async function read(handle: FileHandle, file: string): Promise<number> {
  refuseSecondName(file, handle.fd);
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(countBytes), 0, countBytes, 0);
  const value = countOf(buffer.toString('latin1', 0, bytesRead));
  if (value === undefined) throw damaged(file);
  return value;
}
