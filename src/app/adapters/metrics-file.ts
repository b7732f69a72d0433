import { constants } from 'node:fs';
import { open, rename, rm, writeFile } from 'node:fs/promises';
import { readFlags } from '../../state/files/plain-file.ts';
import { unfinishedName } from '../../state/files/unfinished.ts';
import { usageError } from '../errors/cli-error.ts';
import type { Io } from '../output/io.ts';

/** How often the file is replaced while a run is on. */
const everyMs = 5_000;

/** A disk that does not answer keeps a finished run no longer than this. */
const lastWriteMs = 10_000;

/** A file of metrics that is replaced whole now and then. */
export interface MetricsFile {
  /** Writes it now, and then every few seconds. */
  begin(): void;
  /** Writes it for the last time. Never rejects. */
  end(): Promise<void>;
}

/**
 * Replaces a file with a text, staged beside it and renamed, so that who reads it never meets half of it. It is not synced: it is of no use
 * after the machine has gone down. A disk that fails is said once, and tried again; it changes nothing else.
 *
 * @param text what is to stand in the file; asked for once a write
 * @param warn called with the error of the first write that fails
 */
export function metricsFile(
  file: string,
  text: () => string,
  io: Pick<Io, 'every'>,
  warn: (error: Error) => void,
): MetricsFile {
  let writing: Promise<void> | undefined;
  let isWarned = false;
  let stop: (() => void) | undefined;
  const write = async (): Promise<void> => {
    try {
      await replace(file, text());
    } catch (error) {
      if (!isWarned) warn(error as Error);
      isWarned = true;
    }
  };
  const writeSoon = (): void => {
    // A slow disk is not given another write before it has done the last one.
    writing ??= write().finally(() => {
      writing = undefined;
    });
  };
  return {
    begin: () => {
      stop?.();
      writeSoon();
      stop = io.every(everyMs, writeSoon);
    },
    end: async () => {
      stop?.();
      let timer: NodeJS.Timeout | undefined;
      const tooLong = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, lastWriteMs);
      });
      await Promise.race([tooLong, (writing ?? Promise.resolve()).then(write)]);
      clearTimeout(timer);
    },
  };
}

async function replace(file: string, text: string): Promise<void> {
  const staged = unfinishedName(file);
  try {
    await writeFile(staged, text, { flag: 'wx' });
    await rename(staged, file);
  } catch (error) {
    await rm(staged, { force: true }).catch(() => undefined);
    throw error;
  }
}

/**
 * Refuses to replace a file that is none of ours: a slip must not cost a user a table or a manifest.
 *
 * @throws CliError (exit 2). What cannot be looked at is left to the first write to say
 */
export async function checkMetricsFile(file: string, flag: string): Promise<void> {
  let start: string;
  try {
    const handle = await open(file, readFlags & ~constants.O_NOFOLLOW);
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(beginning.length), 0, beginning.length, 0);
      start = buffer.toString('utf8', 0, bytesRead);
    } finally {
      await handle.close();
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EISDIR') return;
    throw usageError(`${flag} names a folder: ${file}.`, 'Name a file in it, such as promptpress.prom.');
  }
  if (start === '' || start === beginning) return;
  throw usageError(
    `${flag} would replace ${file}, which holds something else than metrics of promptpress.`,
    'Name another file, or remove this one.',
  );
}

const beginning = '# HELP promptpress_';
