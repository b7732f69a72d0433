import { closeSync, constants, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { syncFolder } from './files/folders.ts';
import { checkFile, ownFile, refuseSecondName } from './files/plain-path.ts';
import { stateErrorOf } from './state-error.ts';
import { countFileName } from './state-files.ts';
import { StateError } from './store.ts';

/** Digits of a count: with a line break far fewer bytes than any disk writes at once. */
const digits = 16;

/**
 * The count of submissions of a directory. Its file is opened once and overwritten: a write of one short line happens completely or not
 * at all, whatever kills the process. It is not synced; a power cut may restore an earlier number, which stops no run.
 */
export interface SubmissionCount {
  readonly file: string;
  /** The number in the file. */
  readonly value: number;
  /** Writes a higher number; a lower one changes nothing. */
  raise(value: number): void;
  close(): void;
}

/** Whether a directory has a count. @throws StateError `directory.link` | `directory.kind` */
export const hasSubmissionCount = (directory: string): boolean => checkFile(join(directory, countFileName));

/** Opens the count of a directory, or makes it durably. @throws StateError `directory.*` | `state.foreign`, the error of the file system */
export function openSubmissionCount(directory: string): SubmissionCount {
  const file = join(directory, countFileName);
  const isThere = checkFile(file, { inPlace: true });
  const handle = open(file, constants.O_RDWR | constants.O_CREAT);
  let isOpen = true;
  let value: number;
  try {
    refuseSecondName(file, handle);
    if (!isThere) syncFolder(directory);
    value = read(handle, file);
  } catch (failure) {
    closeSync(handle);
    throw failure;
  }
  return {
    file,
    get value() {
      return value;
    },
    raise: (to) => {
      if (to <= value) return;
      writeSync(handle, `${String(to).padStart(digits, '0')}\n`, 0);
      value = to;
    },
    close: () => {
      if (isOpen) closeSync(handle);
      isOpen = false;
    },
  };
}

/** Returns the count of a directory; 0 if there is none. @throws as {@link openSubmissionCount} */
export function readSubmissionCount(directory: string): number {
  const file = join(directory, countFileName);
  if (!checkFile(file)) return 0;
  const handle = open(file, constants.O_RDONLY);
  try {
    return read(handle, file);
  } finally {
    closeSync(handle);
  }
}

const open = (file: string, flags: number): number => openSync(file, flags | ownFile, 0o600);

function read(handle: number, file: string): number {
  if (!fstatSync(handle).isFile()) throw stateErrorOf('foreign', file);
  const buffer = Buffer.alloc(digits + 2);
  const text = buffer.toString('latin1', 0, readSync(handle, buffer, 0, buffer.length, 0));
  // A power cut leaves a new file empty, or filled with zero bytes.
  if (/^\0*$/.test(text)) return 0;
  if (!/^\d{16}\n$/.test(text)) throw noCount(file);
  return Number(text);
}

/** Returns the error for a damaged count. Taking it for a missing one would let an older copy of the state pass. */
const noCount = (file: string): StateError =>
  new StateError('state.foreign', `${file} is damaged: it does not contain the number of submissions.`, {
    hint:
      'If state.db is the one that the last run wrote, remove the damaged file and give the same command again: ' +
      'the run writes it again. If state.db was restored from a copy, restore this file from the same copy.',
  });
