import { closeSync, constants, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { syncFolder } from './files/folders.ts';
import { checkFile, ownFile, refuseSecondName } from './files/plain-path.ts';
import { stateErrorOf } from './state-error.ts';
import { countFileName } from './state-files.ts';
import { StateError } from './store.ts';

/** A count of this many digits and a line break is far below what any disk writes at once. */
const digits = 16;

/**
 * The file is opened once and written over, never replaced: a write of one short line is carried out whole or not at all,
 * whatever kills the process. It is not synced. A power cut may take it back to an earlier number, which stops no run.
 */
export interface SubmissionCount {
  readonly file: string;
  /** What it says. */
  readonly value: number;
  /** Says a higher number; a lower one changes nothing. */
  raise(value: number): void;
  close(): void;
}

/** Whether a directory has a count. @throws StateError `directory.link` | `directory.kind` */
export const hasSubmissionCount = (directory: string): boolean => checkFile(join(directory, countFileName));

/** Opens the count of a directory for writing, made where it is missing, its name durable. @throws StateError `directory.link` | `directory.kind` | `state.foreign`, the error of the file system */
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

/** What the count of a directory says; 0 where there is none. @throws as {@link openSubmissionCount} */
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

/** Without the count an older copy of the state passes for the current one, so a damaged count is not taken for none. */
const noCount = (file: string): StateError =>
  new StateError('state.foreign', `${file} is damaged: the number of submissions is not in it.`, {
    hint:
      'Where state.db is the one that the last run wrote, remove the damaged file and give the same command again: ' +
      'the run writes it again. Where state.db was restored from a copy, restore this file from the same copy.',
  });
