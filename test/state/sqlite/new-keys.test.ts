import { hash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { NewKeys } from '../../../src/state/sqlite/new-keys.ts';
import { openState } from '../../../src/state/state.ts';
import { StateError } from '../../../src/state/store.ts';
import { around, sqliteError } from '../noting-driver.ts';
import { drivers, freshFolder } from '../places.ts';
import { jobRecord } from '../records.ts';

/** A key as jobs have it. */
const keyOf = (number: number): string => hash('sha256', String(number), 'hex').slice(0, 32);
const keys = (from: number, count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => keyOf(from + at));

describe('the keys written to a table that was empty', () => {
  it('are never denied, and few other keys are taken for one of them', () => {
    const written = new NewKeys();
    for (const key of keys(0, 20_000)) written.note(key);
    expect(keys(0, 20_000).filter((key) => !written.mayHave(key))).toEqual([]);
    expect(keys(20_000, 20_000).filter((key) => written.mayHave(key)).length).toBeLessThan(20);
  });

  it('are never denied if they are not hashes', () => {
    const written = new NewKeys();
    const odd = ['', 'job', '-1', '0xfff', 'ffffffffffffffff', 'FFFFFFF', 'e', '🦊'];
    for (const key of odd) {
      written.note(key);
      expect(odd.slice(0, odd.indexOf(key) + 1).filter((noted) => !written.mayHave(noted))).toEqual([]);
    }
  });
});

describe.each(drivers.map((driver) => [driver.name, driver] as const))('a state with %s', (_, plain) => {
  /** A state, and how often it was asked for a job. */
  function opened(directory: string = freshFolder()) {
    const asked = { jobs: 0, failing: false };
    const driver = around(plain, {
      get: (sql) => {
        if (/FROM jobs.*WHERE key = \?/.test(sql)) asked.jobs += 1;
      },
      run: (sql) => {
        if (asked.failing && sql.includes('INTO attempts')) throw sqliteError(10);
      },
    });
    return { directory, asked, state: openState(directory, { driver }) };
  }
  const turn = (written: readonly string[]) => ({
    records: written.map((key) => jobRecord(key, 'pending')),
    attempts: [],
  });

  it('that began empty is searched only for written jobs', async () => {
    const { state, asked } = opened();
    expect(keys(0, 100).map((key) => state.get(key))).toEqual(Array(100).fill(undefined));
    state.commit(turn(keys(0, 50)));
    await state.commitSoon(turn(keys(50, 25)));
    expect(keys(75, 25).map((key) => state.get(key))).toEqual(Array(25).fill(undefined));
    expect(asked.jobs).toBe(0);
    expect(keys(0, 75).map((key) => state.get(key)?.key)).toEqual(keys(0, 75));
    // In their order: 64 come with the first one, and the others with the next.
    expect(asked.jobs).toBe(2);
    state.close();
  });

  it('is searched for the jobs of a turn that failed, and of one that was repeated', () => {
    const { state, asked } = opened();
    const failing = {
      ...turn([keyOf(1)]),
      attempts: [{ key: keyOf(1), at: 1, outcome: 'accepted' as const }],
    };
    asked.failing = true;
    expect(() => state.commit(failing)).toThrow(StateError);
    expect(state.get(keyOf(1))).toBeUndefined();
    asked.failing = false;
    state.commit(failing);
    expect(state.get(keyOf(1))?.status).toBe('pending');
    state.close();
  });

  it('that already has a job is searched for every job', () => {
    const { state, directory } = opened();
    state.commit(turn([keyOf(1)]));
    state.close();
    const again = opened(directory);
    expect([1, 2].map((number) => again.state.get(keyOf(number))?.key)).toEqual([keyOf(1), undefined]);
    expect(again.asked.jobs).toBe(2);
    again.state.close();
  });

  it('reports that it is closed, whatever the key', () => {
    const { state } = opened();
    state.close();
    expect(() => state.get(keyOf(1))).toThrow(/not open|finalized|closed/);
  });
});
