import { randomBytes } from 'node:crypto';
import { closeSync, constants, openSync, statfsSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { StateError } from '../store.ts';
import { isFullDisk } from './disk-errors.ts';
import { checkFile, ownFile } from './plain-path.ts';

/** Name of a new reserve file, which is removed at once. */
export const reserveFileName = 'reserve';

/** Smallest number of bytes that is held, and given up, at a time. */
const piece = 256 * 1024;
const probeBytes = 64 * 1024;
const filling = randomBytes(piece);

/** `f_type` of file systems that copy a page when it is changed, shared memory too (linux/magic.h): btrfs, bcachefs. */
const copyingTypes: ReadonlySet<number> = new Set([0x9123683e, 0xca451a4e]);
/** Factor of free space on such file systems: their trees grow with every write, and are counted at their largest. */
const copyingFactor = 4;

/**
 * Disk space of a run directory, held by files without a name: it is freed when the process ends for any reason. Their bytes are
 * random, because some disks do not store zeros. Closing such a file frees space on a full disk too, where truncating it may fail: that
 * writes a tree, which the quota of btrfs counts.
 */
export interface Reserve {
  /**
   * Holds at least this many bytes. If it cannot grow, it keeps what it holds.
   *
   * @throws StateError `state.full`, with the figures; the error of the file system
   */
  hold(bytes: number): void;
  /** Gives up a part, but never the last one, which closing the state needs. @returns false: there is no more */
  yield(): boolean;
  /**
   * Tests by writing whether there is free space. A full disk, or a used-up quota, fails here with an error; in memory that SQLite
   * shares by a file on a copying file system it would end the process (SIGBUS).
   *
   * @throws the error of the file system
   */
  probe(): void;
  /** Tests the shared memory in the same way; undefined if no memory is copied on change. */
  readonly probeMemory: (() => void) | undefined;
  /** Gives up everything. */
  close(): void;
}

/** Returns the reserve of a run directory whose lock this process holds; it is empty at first. */
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
        // Few files, whatever the size.
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

/** Returns the error of a full disk or a used-up quota; undefined if there is free space. */
export function fullDiskOf(reserve: Pick<Reserve, 'probe'>): unknown {
  try {
    reserve.probe();
    return undefined;
  } catch (error) {
    return isFullDisk(error) ? error : undefined;
  }
}

/**
 * Tests, for a process that only reads, whether SQLite may write to the memory that it shares with others: see `probe` of
 * {@link Reserve}. Where this process may not write, SQLite does not either.
 *
 * @throws the error of the file system if there is no free space
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
    // Opening the state reports what is wrong with the folder.
    return false;
  }
}

/** Makes a file of this many bytes without a name. */
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
