import { cpSync, mkdtempSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openState } from '../../src/state/state.ts';
import { StateError, type StateStore } from '../../src/state/store.ts';
import { all } from '../rig/all.ts';
import { imagineRecord } from '../rig/jobs.ts';

const turns = 40;
const keyOf = (n: number): string => n.toString(16).padStart(32, '0');

/** `fine`, or the code of the StateError that it ends with. */
async function outcomeOf(work: () => Promise<unknown>): Promise<string> {
  try {
    await work();
    return 'fine';
  } catch (error) {
    if (error instanceof StateError) return error.code;
    throw error;
  }
}

/** A state as a machine leaves it that dies: nothing was closed, the last turns stand in the write-ahead log. */
describe('a torn state file', () => {
  let folder: string;
  let store: StateStore;
  let copies = 0;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'promptpress-'));
    store = openState(join(folder, 'run'));
    for (let n = 0; n < turns; n++)
      store.commit({
        records: [imagineRecord({ key: keyOf(n), status: 'done', attempts: 1 })],
        attempts: [],
      });
  });
  afterAll(() => {
    store.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Cuts one file of a copy at a share of its length, and opens the copy. */
  async function cut(name: 'state.db' | 'state.db-wal', share: number): Promise<number[]> {
    const copy = join(folder, `copy-${++copies}`);
    cpSync(join(folder, 'run'), copy, { recursive: true });
    rmSync(join(copy, 'state.db-shm'), { force: true });
    const file = join(copy, name);
    truncateSync(file, Math.floor(statSync(file).size * share));
    const opened = openState(copy);
    try {
      const found = (await all(opened.reader.withStatus('done'))).map(({ key }) => Number.parseInt(key, 16));
      expect(opened.totals().attempts).toBe(found.length);
      return found;
    } finally {
      opened.close();
      rmSync(copy, { recursive: true, force: true });
    }
  }

  it('holds the first turns, complete and in order, when its log is cut anywhere', async () => {
    await fc.assert(
      fc.asyncProperty(fc.double({ min: 0, max: 1, noNaN: true }), async (share) => {
        const found = await cut('state.db-wal', share);
        expect(found).toEqual(Array.from(found, (_, n) => n));
      }),
      { numRuns: 30 },
    );
    expect(await cut('state.db-wal', 1)).toHaveLength(turns);
  });

  it('gives a coded error or a consistent state when the file itself is cut, never a crash', async () => {
    await fc.assert(
      fc.asyncProperty(fc.double({ min: 0, max: 1, noNaN: true }), async (share) => {
        expect(await outcomeOf(() => cut('state.db', share))).toMatch(
          /^(fine|state\.(corrupt|foreign|version|io))$/,
        );
      }),
      { numRuns: 20 },
    );
  });
});
