import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { guarded, stateErrorOf } from '../../src/state/state-error.ts';
import { StateError } from '../../src/state/store.ts';
import { freshFolder } from './places.ts';

const file = '/runs/foxes/state.db';

/** What comes out when work on a file fails so. */
function thrownBy(failure: unknown, at = file): unknown {
  try {
    guarded(at, () => {
      throw failure;
    });
  } catch (error) {
    return error;
  }
  throw new Error('It did not fail.');
}

const sqliteError = (errcode: number): Error =>
  Object.assign(new Error('SQLite failed'), { code: 'ERR_SQLITE_ERROR', errcode });

/** What users see of an error of SQLite with this result code. */
const codeOf = (errcode: number, at = file): unknown => {
  const thrown = thrownBy(sqliteError(errcode), at);
  return thrown instanceof StateError ? thrown.code : thrown;
};

describe('a failure of SQLite', () => {
  // https://sqlite.org/rescode.html: the low byte is the primary code, the rest refines it.
  it.each([
    ['SQLITE_BUSY', 5, 'state.busy'],
    ['SQLITE_BUSY_SNAPSHOT', 517, 'state.busy'],
    ['SQLITE_READONLY_DBMOVED', 1032, 'state.readonly'],
    ['SQLITE_IOERR_WRITE', 778, 'state.io'],
    ['SQLITE_IOERR_FSYNC', 1034, 'state.io'],
    ['SQLITE_CORRUPT_INDEX', 779, 'state.corrupt'],
    ['SQLITE_FULL', 13, 'state.full'],
  ])('means the same whether or not its code is refined: %s', (_name, errcode, code) => {
    expect(codeOf(errcode)).toBe(code);
  });

  it.each([
    ['PERM', 3, 'state.readonly'],
    ['LOCKED', 6, 'state.busy'],
    ['READONLY', 8, 'state.readonly'],
    ['IOERR', 10, 'state.io'],
    ['CORRUPT', 11, 'state.corrupt'],
    ['PROTOCOL', 15, 'state.busy'],
    ['AUTH', 23, 'state.readonly'],
    ['NOTADB', 26, 'state.foreign'],
  ])('has its own meaning: %s', (_name, errcode, code) => {
    expect(codeOf(errcode)).toBe(code);
  });

  it('to open a file is about its folder, if that cannot be written', () => {
    expect(codeOf(14, join(freshFolder(), 'state.db'))).toBe('state.io');
    expect(codeOf(14, join(freshFolder(), 'gone', 'state.db'))).toBe('state.readonly');
    expect(codeOf(10, join(freshFolder(), 'gone', 'state.db'))).toBe('state.io');
  });

  it.each([1, 12, 19, 21])('with the result code %i is a bug, and is thrown unchanged', (errcode) => {
    const failure = sqliteError(errcode);
    expect(thrownBy(failure)).toBe(failure);
  });
});

describe('a failure of the file system', () => {
  const systemError = (code: string): Error =>
    Object.assign(new Error(`${code}: it failed`), { code, syscall: 'open' });

  it.each([
    ['ENOSPC', 'state.full'],
    ['EDQUOT', 'state.full'],
    ['EROFS', 'state.readonly'],
    ['EACCES', 'state.readonly'],
    ['EPERM', 'state.readonly'],
    ['EIO', 'state.io'],
    ['ENOENT', 'state.io'],
  ])('%s is %s', (code, expected) => {
    const failure = systemError(code);
    const thrown = thrownBy(failure);
    expect(thrown).toBeInstanceOf(StateError);
    expect(thrown).toMatchObject({ code: expected, cause: failure });
  });

  it.each([
    ['an error with a code alone', Object.assign(new Error('no'), { code: 'ENOSPC' })],
    ['an error with a call alone', Object.assign(new Error('no'), { syscall: 'open' })],
    ['an error with neither', new TypeError('no')],
    ['what is no error', { code: 'ENOSPC', syscall: 'open' }],
    ['a refusal of the state', new StateError('state.version', 'Newer.')],
  ])('is not %s, which is thrown unchanged', (_what, failure) => {
    expect(thrownBy(failure)).toBe(failure);
  });
});

it('work that does not fail returns its result', () => {
  expect(guarded(file, () => 7)).toBe(7);
});

describe('the message of a fault', () => {
  const faults = ['full', 'readonly', 'busy', 'corrupt', 'foreign', 'io'] as const;

  it.each(faults)('names the file and what to do for %s, and ends with the reason', (fault) => {
    const plain = stateErrorOf(fault, file);
    expect(plain.code).toBe(`state.${fault}`);
    expect(plain.message).toContain(file);
    expect(plain.message).toMatch(/[^.]\.$/);
    expect(plain.hint).toMatch(/\.$/);
    expect(plain).not.toHaveProperty('cause');
    const cause = new Error('disk I/O error');
    const caused = stateErrorOf(fault, file, cause);
    expect(caused.message).toBe(plain.message.replace(/\.$/, ' (disk I/O error).'));
    expect(caused).toMatchObject({ hint: plain.hint, cause });
    expect(stateErrorOf(fault, file, 'words')).toMatchObject({ message: plain.message, cause: 'words' });
  });

  it('is different for every fault', () => {
    expect(new Set(faults.map((fault) => stateErrorOf(fault, file).message)).size).toBe(6);
    expect(new Set(faults.map((fault) => stateErrorOf(fault, file).hint)).size).toBe(6);
  });
});
