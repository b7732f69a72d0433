import { constants } from 'node:os';

/** Errors that libuv has no name for, with the code they get here; Node calls them `Unknown system error -122`. */
const unnamed: ReadonlyMap<number, string> = new Map(
  'EDQUOT' in constants.errno ? [[-constants.errno.EDQUOT, 'EDQUOT']] : [],
);

/** Returns the code of an error of the file system, `ENOSPC`; undefined for any other error. */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  const named = 'errno' in error && typeof error.errno === 'number' ? unnamed.get(error.errno) : undefined;
  return named ?? String(error.code);
}

/** Returns the message of an error, with the words that Node lacks. */
export const systemWords = (error: Error): string =>
  systemCode(error) === 'EDQUOT'
    ? error.message.replace(
        /^Unknown system error -\d+(?:: Unknown system error -\d+)?/,
        'EDQUOT: disk quota exceeded',
      )
    : error.message;

/** Whether an error means that the disk, or its quota, is full. */
export function isFullDisk(error: unknown): boolean {
  const code = systemCode(error);
  return code === 'ENOSPC' || code === 'EDQUOT';
}
