import { constants } from 'node:os';

/** Where libuv has no name for an error, Node says `Unknown system error -122`: of those, the one that has a meaning of its own here. */
const unnamed: ReadonlyMap<number, string> = new Map(
  'EDQUOT' in constants.errno ? [[-constants.errno.EDQUOT, 'EDQUOT']] : [],
);

/** The code of an error of the file system, `ENOSPC`; undefined where it is no such error. */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  const named = 'errno' in error && typeof error.errno === 'number' ? unnamed.get(error.errno) : undefined;
  return named ?? String(error.code);
}

/** Its message, with the words that Node has not got. */
export const systemWords = (error: Error): string =>
  systemCode(error) === 'EDQUOT'
    ? error.message.replace(
        /^Unknown system error -\d+(?:: Unknown system error -\d+)?/,
        'EDQUOT: disk quota exceeded',
      )
    : error.message;

/** True where there is no room on the disk, or in its quota. */
export function isFullDisk(error: unknown): boolean {
  const code = systemCode(error);
  return code === 'ENOSPC' || code === 'EDQUOT';
}
