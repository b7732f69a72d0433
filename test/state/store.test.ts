import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { submissionsFact } from '../../src/state/query.ts';
import { schemaMadeBy } from '../../src/state/sqlite/own-schema.ts';
import { stateSchema } from '../../src/state/sqlite/schema.ts';
import { stateFiles } from '../../src/state/state-files.ts';
import { invocationFact, StateError } from '../../src/state/store.ts';

/** What a release wrote, and later ones have to find again. */
describe('the form of a state', () => {
  it('has these files', () => {
    expect(stateFiles).toEqual([
      'state.db',
      'state.db-wal',
      'state.db-shm',
      'state.db-journal',
      'lock',
      'lock-wal',
      'lock-shm',
      'lock-journal',
      'state.lock',
      'state.lock-wal',
      'state.lock-shm',
      'state.lock-journal',
      'lock.json',
      'submissions',
      'reserve',
    ]);
  });

  it('has these words', () => {
    expect([invocationFact, submissionsFact]).toEqual(['run.invocation', 'submissions']);
  });

  it('has exactly these tables: a state with others is refused', () => {
    const schema = schemaMadeBy((database) => database.exec(stateSchema));
    const text = JSON.stringify([...schema].toSorted(([a], [b]) => (a < b ? -1 : 1)));
    expect(createHash('sha256').update(text).digest('hex').slice(0, 16)).toBe('b750b2f53038ebda');
  });
});

describe('a StateError', () => {
  it('has its name, its code, its cause and a hint, if there is one', () => {
    const cause = new Error('no');
    const error = new StateError('state.io', 'It fails.', { hint: 'Try again.', cause });
    expect(error).toBeInstanceOf(Error);
    expect(String(error)).toBe('StateError: It fails.');
    expect(error).toMatchObject({ code: 'state.io', hint: 'Try again.' });
    expect(error.cause).toBe(cause);
    for (const plain of [
      new StateError('state.io', 'It fails.'),
      new StateError('state.io', 'It fails.', {}),
    ]) {
      expect(plain.hint).toBeUndefined();
      expect(plain).not.toHaveProperty('cause');
    }
  });
});
