import fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openLogFile } from '../../src/state/files/log-file.ts';
import { openState } from '../../src/state/state.ts';
import { fingerprintFact, StateError, type StateStore } from '../../src/state/store.ts';
import { replaceFs, systemError } from '../rig/replace-fs.ts';
import { around } from './noting-driver.ts';
import { drivers, freshFolder } from './places.ts';
import { jobRecord } from './records.ts';
import { codeOf } from './refusals.ts';

const turn = (key: string, submits = 0) => ({
  records: [jobRecord(key, 'submitting')],
  attempts: [],
  submits,
});

/** A log that is synced when the test says so. */
function heldLog() {
  const waiting: { readonly done: () => void; readonly fail: (error: Error) => void }[] = [];
  const notes: string[] = [];
  return {
    notes,
    open: () => ({
      sync: () => void notes.push('sync'),
      syncSoon: () => {
        notes.push('sync soon');
        return new Promise<void>((done, fail) => waiting.push({ done, fail }));
      },
      close: () => void notes.push('close'),
    }),
    /** Ends the sync that is under way. */
    end: (error?: Error): void => {
      const sync = waiting.shift();
      if (sync === undefined) throw new Error('Nothing is synced.');
      if (error === undefined) sync.done();
      else sync.fail(error);
    },
  };
}

const settled = async (promise: unknown): Promise<boolean> => {
  let isSettled = false;
  const note = (): void => {
    isSettled = true;
  };
  void Promise.resolve(promise).then(note, note);
  for (let turns = 0; turns < 3; turns++) await new Promise((resolve) => setImmediate(resolve));
  return isSettled;
};

const failureOf = async (promise: void | Promise<void>): Promise<StateError> => {
  try {
    await promise;
  } catch (error) {
    if (error instanceof StateError) return error;
    throw error;
  }
  throw new Error('It did not fail.');
};

describe.each(drivers.map((driver) => [driver.name, driver] as const))('a turn, with %s', (_, plain) => {
  function opened(directory = freshFolder()) {
    const log = heldLog();
    const driver = around(plain, {
      exec: (sql, location) => {
        if (/COMMIT|checkpoint/.test(sql) && location.endsWith('state.db')) log.notes.push(sql);
        return undefined;
      },
    });
    const state = openState(directory, { driver, log: log.open });
    log.notes.length = 0;
    return { directory, state, log };
  }
  const count = (directory: string): string => fs.readFileSync(join(directory, 'submissions'), 'utf8').trim();
  const everyWrite = (state: StateStore): readonly (() => void)[] => [
    () => state.commit(turn('z')),
    () => state.setFact('name', 'value'),
    () => state.rememberInputFile({ path: 'a.csv', sha256: '', bytes: 1, mtimeMs: 1 }),
    () => state.acceptMissing(),
    () => state.cutReplies(),
    () => state.countSubmissions(),
  ];

  it('is durable once the log is synced after its commit, and no sooner', async () => {
    const { state, log } = opened();
    const written = state.commitSoon(turn('a'));
    expect(log.notes).toEqual(['COMMIT', 'sync soon']);
    expect(await settled(written)).toBe(false);
    // Who writes the state may decide from it at once.
    expect(state.get('a')?.status).toBe('submitting');
    log.end();
    await written;
    state.close();
  });

  it('is counted only once it is durable', async () => {
    const { directory, state, log } = opened();
    const first = state.commitSoon(turn('a', 2));
    log.end();
    await first;
    const second = state.commitSoon(turn('b', 3));
    state.countSubmissions();
    expect(Number(count(directory))).toBe(2);
    log.end();
    await second;
    state.countSubmissions();
    expect(Number(count(directory))).toBe(5);
    state.close();
  });

  it('leaves nothing to sync if it is empty', () => {
    const { state, log } = opened();
    expect(state.commitSoon({ records: [], attempts: [] })).toBeUndefined();
    expect(log.notes).toEqual([]);
    state.close();
  });

  it('has its replies synced before its commit', async () => {
    const { state, log } = opened();
    const place = state.keepReply('a', '{}');
    const written = state.commitSoon(turn('a'));
    expect(log.notes).toEqual([]);
    while (log.notes.length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect([log.notes, place.offset]).toEqual([['COMMIT', 'sync soon'], 0]);
    log.end();
    await written;
    state.close();
  });

  it('that fails before its sync is not written, and can be repeated', async () => {
    const { state, log } = opened();
    const broken = { records: [jobRecord('b', 'done', { cost: Number.NaN })], attempts: [] };
    await expect(Promise.resolve(state.commitSoon(broken))).rejects.toBeInstanceOf(Error);
    expect([state.get('b'), log.notes]).toEqual([undefined, []]);
    const written = state.commitSoon(turn('b'));
    log.end();
    await written;
    expect(state.get('b')?.status).toBe('submitting');
    state.close();
  });

  it('whose sync fails ends the store: nothing more is written, counted or folded', async () => {
    const { directory, state, log } = opened();
    const cause = systemError('EIO', 'fdatasync');
    const written = state.commitSoon(turn('a', 4));
    log.end(cause);
    const failure = await failureOf(written);
    expect([failure.code, failure.cause]).toEqual(['state.io', cause]);
    expect(await failureOf(state.commitSoon(turn('b')))).toBe(failure);
    expect(everyWrite(state).map(codeOf)).toEqual(Array(6).fill('state.io'));
    expect([state.get('b'), count(directory)]).toEqual([undefined, '']);
    state.close();
    expect(log.notes).toEqual(['COMMIT', 'sync soon', 'close']);
  });

  it.each([
    ['ENOSPC', systemError('ENOSPC', 'fdatasync'), 'state.full'],
    ['an error of no system', new Error('odd'), 'state.io'],
  ])('whose sync fails by %s is reported with that failure', async (_name, cause, code) => {
    const { state, log } = opened();
    const written = state.commitSoon(turn('a'));
    log.end(cause);
    expect(await failureOf(written)).toMatchObject({ code, cause });
    state.close();
  });

  it('lets all other commits wait for the disk', async () => {
    const levels: unknown[] = [];
    const raws: ReturnType<typeof plain.open>[] = [];
    const noting = {
      ...plain,
      open: (...given: Parameters<typeof plain.open>) => {
        const raw = plain.open(...given);
        if (given[0].endsWith('state.db')) raws.push(raw);
        return raw;
      },
    };
    const level = (): unknown =>
      (raws[0]?.prepare('PRAGMA synchronous').get() as { synchronous: number } | undefined)?.synchronous;
    const driver = around(noting, {
      exec: (sql) => {
        if (sql === 'COMMIT') levels.push(level());
        return undefined;
      },
    });
    const state = openState(freshFolder(), { driver });
    levels.length = 0;
    await state.commitSoon(turn('a'));
    expect(level()).toBe(2);
    state.commit(turn('b'));
    state.rememberInputFile({ path: 'a.csv', sha256: '', bytes: 1, mtimeMs: 1 });
    state.acceptMissing();
    // 1 is NORMAL, 2 is FULL: https://sqlite.org/pragma.html#pragma_synchronous
    expect(levels).toEqual([1, 2, 2, 2]);
    state.setFact(fingerprintFact, 'x');
    expect(level()).toBe(2);
    state.close();
  });

  it('that a killed process left unsynced is synced before it is used', () => {
    const directory = freshFolder();
    const { state } = opened(directory);
    state.commit(turn('a', 7));
    state.close();
    const sync = (): never => {
      throw systemError('EIO', 'fdatasync');
    };
    const broken = (): StateStore =>
      openState(directory, {
        driver: plain,
        log: () => ({ sync, syncSoon: () => Promise.resolve(), close: () => undefined }),
      });
    expect(codeOf(() => void broken())).toBe('state.io');
    expect(count(directory)).toBe('');
    openState(directory, { driver: plain }).close();
    expect(Number(count(directory))).toBe(7);
  });
});

describe('the log of a state', () => {
  it('is closed once, and not during a sync', async () => {
    const directory = freshFolder();
    const state = openState(directory);
    const calls: string[] = [];
    const { closeSync } = fs;
    replaceFs({
      closeSync: (file: number) => {
        calls.push('close');
        closeSync(file);
      },
    });
    const log = openLogFile(join(directory, 'state.db-wal'));
    const syncing = log.syncSoon();
    log.close();
    expect(calls).toEqual([]);
    await syncing;
    log.close();
    expect(calls).toEqual(['close']);
    state.close();
  });
});
