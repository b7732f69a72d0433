import { randomBytes } from 'node:crypto';
import { closeSync, constants, openSync, statfsSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { StateError } from '../store.ts';
import { isFullDisk } from './disk-errors.ts';
import { checkFile, ownFile } from './plain-path.ts';

/** The name under which a file of a reserve begins, which it loses at once. */
export const reserveFileName = 'reserve';

/** The least that is held, and given up, at a time. */
const piece = 256 * 1024;
const probeBytes = 64 * 1024;
const filling = randomBytes(piece);

/** `f_type` of file systems that write a page anew where it is changed, shared memory too (linux/magic.h): btrfs, bcachefs. */
const copyingTypes: ReadonlySet<number> = new Set([0x9123683e, 0xca451a4e]);
/** Their trees grow with every write, and are reckoned at their largest: more has to be free for the same. */
const copyingFactor = 4;

/**
 * Room on the disk of a run directory, held by files that have no name any more: it ends with the process, whatever ends that. Their bytes
 * are random, because some disks keep nothing of zeros. To close such a file gives its room back on a full disk too, where to cut it may
 * fail: a tree is written for that, which the quota of btrfs counts.
 */
export interface Reserve {
  /**
   * Holds so many bytes at least. What is held already stays held where it cannot grow.
   *
   * @throws StateError `state.full`, with the figures; the error of the file system
   */
  hold(bytes: number): void;
  /** Gives a part of it up, and never the last one, with which the state is closed. @returns false: there is no more */
  yield(): boolean;
  /**
   * Finds out whether there is room, by writing. A disk that is full, or whose quota is used up, fails here as it does for a file; in
   * memory that SQLite shares by a file on a copying file system it would end the process (SIGBUS).
   *
   * @throws the error of the file system
   */
  probe(): void;
  /** The same; undefined where no memory is written anew. */
  readonly probeMemory: (() => void) | undefined;
  /** Gives all of it up. */
  close(): void;
}

/** The reserve of a run directory whose lock this process holds; nothing is held yet. */
export function reserveIn(directory: string): Reserve {
  const isCopying = copies(directory);
  const least = isCopying ? copyingFactor * piece : piece;
  const files: { readonly handle: number; readonly bytes: number }[] = [];
  const heldBytes = (): number => files.reduce((sum, { bytes }) => sum + bytes, 0);
  const probe = (): void => closeSync(filled(directory, probeBytes).handle);
  return {
    hold: (asked) => {
      const wanted = isCopying ? copyingFactor * asked : asked;
      const before = files.length;
      for (let held = heldBytes(); held < wanted; ) {
        // Few files, however much is held.
        const bytes =
          before === 0 ? least : Math.max(least, least * Math.ceil((wanted - held) / least), held / 2);
        try {
          files.push(filled(directory, bytes));
        } catch (failure) {
          for (const { handle } of files.splice(before)) closeSync(handle);
          throw isFullDisk(failure) ? tooLittle(directory, wanted, held, failure) : failure;
        }
        held += bytes;
      }
    },
    yield: () => {
      const last = files.length < 2 ? undefined : files.pop();
      if (last !== undefined) closeSync(last.handle);
      return last !== undefined;
    },
    probe,
    probeMemory: isCopying ? probe : undefined,
    close: () => {
      for (const { handle } of files.splice(0)) closeSync(handle);
    },
  };
}

/** The error of a disk that is full, or whose quota is used up; undefined where there is room. */
export function fullDiskOf(reserve: Pick<Reserve, 'probe'>): unknown {
  try {
    reserve.probe();
    return undefined;
  } catch (error) {
    return isFullDisk(error) ? error : undefined;
  }
}

/**
 * Finds out, for a process that only reads, whether SQLite may write to the memory that it shares with others: see `probe` of
 * {@link Reserve}. Where this process may not write, SQLite does not either.
 *
 * @throws the error of the file system where there is no room
 */
export function probeForReading(directory: string): void {
  if (!copies(directory)) return;
  try {
    closeSync(filled(directory, probeBytes).handle);
  } catch (failure) {
    if (isFullDisk(failure)) throw failure;
  }
}

function copies(directory: string): boolean {
  try {
    return copyingTypes.has(statfsSync(directory).type);
  } catch {
    // Whoever opens the state says what is wrong with the folder.
    return false;
  }
}

/** A file of so many bytes without a name. */
function filled(directory: string, bytes: number): { readonly handle: number; readonly bytes: number } {
  const file = join(directory, reserveFileName);
  // A process that was killed between the two calls has left the name.
  if (checkFile(file)) unlinkSync(file);
  const handle = openSync(file, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | ownFile, 0o600);
  try {
    unlinkSync(file);
    for (let at = 0; at < bytes; )
      at += writeSync(handle, filling, 0, Math.min(filling.length, bytes - at), at);
    return { handle, bytes };
  } catch (failure) {
    closeSync(handle);
    throw failure;
  }
}

const tooLittle = (directory: string, wanted: number, room: number, cause: unknown): StateError =>
  new StateError(
    'state.full',
    `The disk that holds ${directory} has too little room: ${kilobytes(wanted)} are kept free for the answers to what is sent, and there is room for ${kilobytes(room)}.`,
    {
      hint: 'Make room there and give the same command again: it continues. Nothing was sent that cannot be recorded.',
      cause,
    },
  );

const kilobytes = (bytes: number): string => `${Math.floor(bytes / 1000).toLocaleString('en')} KB`;
