import { systemCode, systemWords } from '../state/files/disk-errors.ts';
import { StateError } from '../state/store.ts';
import type { SaveFailure } from './writer.ts';

/** Carries a {@link SaveFailure} up to the code that returns it; never leaves this room. */
export class SaveError extends Error {
  readonly failure: SaveFailure;

  constructor(failure: SaveFailure) {
    super(failure.message, { cause: failure.cause });
    this.name = 'SaveError';
    this.failure = failure;
  }
}

/** Throws a failure from the middle of a download. */
export function fail(failure: SaveFailure): never {
  throw new SaveError(failure);
}

/** Returns the failure of a download that the caller stopped. */
export const aborted = (cause: unknown): SaveFailure => ({
  code: 'download.aborted',
  class: 'retry',
  message: 'The download was stopped.',
  cause,
});

/** Failures of the file system with their own code; all others are `disk.io`. */
const diskFailures: Readonly<Record<string, { code: SaveFailure['code']; says: string }>> = {
  ENOSPC: { code: 'disk.full', says: 'The disk is full' },
  EDQUOT: { code: 'disk.full', says: 'The disk quota is used up' },
  EROFS: { code: 'disk.readonly', says: 'The disk is mounted read-only' },
  EACCES: { code: 'disk.readonly', says: 'The run directory may not be written' },
  EPERM: { code: 'disk.readonly', says: 'The run directory may not be written' },
};

/**
 * Runs work that uses only the disk, so that any system error in it is about the disk: connections have the same errors (`read`,
 * `EIO`). Its failures stop the run, because the next image would fail the same way.
 */
export async function onDisk<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof StateError) {
      const isLink = cause.code === 'directory.link';
      return fail({ code: isLink ? 'disk.link' : 'disk.io', class: 'stop', message: cause.message, cause });
    }
    if (!(cause instanceof Error) || !('syscall' in cause) || !('code' in cause)) throw cause;
    const { code, says } = diskFailures[systemCode(cause) ?? ''] ?? {
      code: 'disk.io',
      says: 'The disk failed',
    };
    return fail({ code, class: 'stop', message: `${says} (${systemWords(cause)}).`, cause });
  }
}

/** Returns a link as it may be shown: without its query, which is often a signature that gives access. */
export function shownLink(url: URL): string {
  const shown = `${url.origin}${url.pathname}`;
  return shown.length > 150 ? `${shown.slice(0, 150)}…` : shown;
}

/** Returns foreign words as one short line, without control characters that could affect a terminal. */
export function shownWords(text: string): string {
  const line = text
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\uFFFD]+/gu, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return line.length > 200 ? `${line.slice(0, 200)}…` : line;
}
