import { describe, expect, it } from 'vitest';
import type { StateReader } from '../../src/state/reader.ts';
import { openState, openStateForReading } from '../../src/state/state.ts';
import { all } from '../rig/all.ts';
import { freshFolder, startChild } from './places.ts';

/** Turns in the state; every one must be there with its three records and its attempt, or not at all. */
async function wholeTurns(state: StateReader): Promise<number> {
  const records = await all(state.withStatus('running'));
  const turns = new Map<string, number>();
  for (const { key } of records) {
    const turn = key.slice(0, 8);
    turns.set(turn, (turns.get(turn) ?? 0) + 1);
  }
  for (const [turn, count] of turns) {
    expect([turn, count]).toEqual([turn, 3]);
    expect(await state.attempts(`${turn}-a`)).toHaveLength(1);
  }
  return turns.size;
}

describe('a state between processes', () => {
  it('has every acknowledged turn, complete, after the writer was killed', async () => {
    const directory = freshFolder();
    const writer = startChild('writer.ts', directory);
    await writer.says('\n40\n');
    await writer.kill();
    const acknowledged = Number(writer.output().trim().split('\n').at(-1));
    expect(acknowledged).toBeGreaterThanOrEqual(40);

    const state = openState(directory);
    const turns = await wholeTurns(state.reader);
    // The writer may die between its commit and its word, never the other way round.
    expect(turns - acknowledged).toBeGreaterThanOrEqual(0);
    expect(turns - acknowledged).toBeLessThanOrEqual(1);
    expect(state.totals()).toMatchObject({ attempts: turns * 3, cost: turns * 3 });
    expect(state.totals().jobs.running).toBe(turns * 3);
    state.close();
  });

  it('can be read while it is written, and after a kill without a repair', async () => {
    const directory = freshFolder();
    const writer = startChild('writer.ts', directory);
    await writer.says('1\n');
    const reader = openStateForReading(directory);
    if (reader === undefined) throw new Error('There is no state.');
    let seen = 0;
    for (let round = 0; seen < 60; round += 1) {
      const { jobs } = await reader.totals();
      expect(jobs.running % 3).toBe(0);
      expect(jobs.running / 3).toBeGreaterThanOrEqual(seen);
      seen = jobs.running / 3;
      expect((await all(reader.rootKeys())).length).toBeGreaterThanOrEqual(jobs.running);
      // Lets the writer's words through: its pipe must not fill up.
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    }
    await writer.kill();
    await reader.close();
    const after = openStateForReading(directory);
    expect((await after?.totals())?.jobs.running).toBeGreaterThanOrEqual(seen * 3);
    await after?.close();
  });
});
