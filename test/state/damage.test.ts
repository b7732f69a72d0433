import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { StateReader } from '../../src/state/reader.ts';
import { openState, openStateForReading } from '../../src/state/state.ts';
import { StateError } from '../../src/state/store.ts';
import { all } from '../rig/all.ts';
import { freshFolder } from './places.ts';
import { jobRecord } from './records.ts';

/** Asks everything there is to ask. */
async function readAll(state: StateReader): Promise<void> {
  await state.totals();
  await all(state.unfinished());
  const keys = await all(state.rootKeys());
  for (const key of keys) await state.get(key);
  await state.many(keys);
  for (const status of ['failed', 'done'] as const) await all(state.withStatus(status));
  await state.keysOfSlots(['slot-k1']);
  await state.attempts('k1');
  await state.fact('a');
}

/** Runs `work`; every failure must be one that the user is told about in words. */
async function onlyCoded(work: () => Promise<void>): Promise<string> {
  try {
    await work();
    return 'fine';
  } catch (error) {
    if (!(error instanceof StateError)) throw error;
    expect(error.hint).toBeDefined();
    return error.code;
  }
}

/** How a state file of these bytes is met by a reader and by a writer: `fine`, or the code of the failure. */
const openedWith = async (bytes: Uint8Array): Promise<string> => {
  const directory = join(freshFolder(), 'run');
  mkdirSync(directory);
  writeFileSync(join(directory, 'state.db'), bytes);
  const reading = await onlyCoded(async () => {
    const state = openStateForReading(directory);
    if (state === undefined) return;
    try {
      await readAll(state);
    } finally {
      await state.close();
    }
  });
  const writing = await onlyCoded(async () => {
    const state = openState(directory);
    try {
      await readAll(state.reader);
      state.commit({ records: [jobRecord('k1', 'running')], attempts: [] });
    } finally {
      state.close();
    }
  });
  return `${reading} ${writing}`;
};

describe('a damaged state', () => {
  let whole: Buffer;

  beforeAll(() => {
    const folder = mkdtempSync(join(tmpdir(), 'promptpress-state-'));
    const directory = join(folder, 'run');
    const state = openState(directory);
    for (let turn = 0; turn < 20; turn += 1) {
      state.commit({
        records: [0, 1, 2, 3, 4].map((index) =>
          jobRecord(`k${turn * 5 + index}`, index === 0 ? 'failed' : 'done', { taskId: 'x'.repeat(500) }),
        ),
        attempts: [{ key: `k${turn}`, at: turn, outcome: 'accepted' }],
      });
    }
    state.close();
    whole = readFileSync(join(directory, 'state.db'));
    rmSync(folder, { recursive: true });
  });

  it('is complete before the damage', async () => {
    expect(await openedWith(whole)).toBe('fine fine');
  });

  it('is refused with advice when its pages are overwritten', async () => {
    const bytes = Buffer.from(whole);
    bytes.fill(0x5a, 4096);
    expect(await openedWith(bytes)).toBe('state.corrupt state.corrupt');
  });

  it('is refused with advice when its end is missing', async () => {
    expect(await openedWith(whole.subarray(0, Math.floor(whole.length / 8192) * 4096))).toMatch(
      /state\.corrupt/,
    );
  });

  it('always gives a result or a coded failure', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(whole.length - 1),
        fc.uint8Array({ minLength: 1, maxLength: 64 }),
        fc.option(fc.nat(whole.length)),
        async (at, noise, end) => {
          const bytes = Buffer.from(whole);
          bytes.set(noise.subarray(0, bytes.length - at), at);
          expect(await openedWith(end === null ? bytes : bytes.subarray(0, end))).toMatch(
            /^(fine|state\.(corrupt|foreign|schema|version|io)) (fine|state\.(corrupt|foreign|schema|version|io))$/,
          );
        },
      ),
      { seed: 20_261_121, numRuns: 40 },
    );
  });

  it('loses at most the last turn when its log is cut in the middle of it', async () => {
    const directory = freshFolder();
    const state = openState(directory);
    for (const name of ['a', 'b', 'c']) {
      state.commit({ records: [jobRecord(`${name}1`, 'done'), jobRecord(`${name}2`, 'done')], attempts: [] });
    }
    // As after a power cut: the log as it lies on the disk, its last frames torn.
    const torn = freshFolder();
    for (const name of ['state.db', 'state.db-wal']) copyFileSync(join(directory, name), join(torn, name));
    state.close();
    const log = join(torn, 'state.db-wal');
    truncateSync(log, statSync(log).size - 100);
    const after = openState(torn);
    expect(await all(after.reader.rootKeys())).toEqual(['a1', 'a2', 'b1', 'b2']);
    expect(after.totals().jobs.done).toBe(4);
    after.close();
  });
});
