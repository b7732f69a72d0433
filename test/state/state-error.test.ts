import { describe, expect, it } from 'vitest';
import { guarded } from '../../src/state/state-error.ts';
import { StateError } from '../../src/state/store.ts';

/** What users are told of an error of SQLite with this result code. */
function codeOf(errcode: number): string {
  try {
    guarded('/runs/foxes/state.db', () => {
      throw Object.assign(new Error('SQLite failed'), { code: 'ERR_SQLITE_ERROR', errcode });
    });
  } catch (error) {
    if (error instanceof StateError) return error.code;
    throw error;
  }
  throw new Error('It did not fail.');
}

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
});
