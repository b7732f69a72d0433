import { describe, expect, it } from 'vitest';
import type { RunStore } from '../../src/run/ports.ts';
import { openState } from '../../src/state/state.ts';
import { systemError } from '../rig/replace-fs.ts';
import { seededRandom } from '../rig/virtual-run.ts';
import { freshFolder } from '../state/places.ts';
import { run, text } from './engine-rig.ts';

const many = { text: text.replace('to: 5', 'to: 12'), settings: { limits: { tasks: 6, requests: 8 } } };

/**
 * A state whose log is synced some turns of the event loop after it was asked to be.
 *
 * @param fails the number of the sync that fails, from 1
 */
function slowDisk(seed: number, fails = 0) {
  const random = seededRandom(seed);
  const seen = { commits: 0, syncs: 0, underWay: 0, most: 0, submits: 0, durable: 0 };
  const state = openState(freshFolder(), {
    log: () => ({
      sync: () => undefined,
      syncSoon: async () => {
        seen.syncs += 1;
        const sync = seen.syncs;
        seen.underWay += 1;
        seen.most = Math.max(seen.most, seen.underWay);
        const { submits } = seen;
        for (let turns = Math.floor(random() * 12); turns > 0; turns--)
          await new Promise((resolve) => setImmediate(resolve));
        seen.underWay -= 1;
        if (sync === fails) throw systemError('EIO', 'fdatasync');
        seen.durable = submits;
      },
      close: () => undefined,
    }),
  });
  const store: RunStore = {
    ...state,
    commit: (turn) => {
      seen.commits += 1;
      seen.submits += turn.submits ?? 0;
      return state.commitSoon(turn);
    },
  };
  return { state, store, seen };
}

describe('the engine, with a state that is synced apart from its commits', () => {
  it.each([1, 2, 3])(
    'sends nothing before its intent is synced, one commit at a time (seed %i)',
    async (seed) => {
      const { state, store, seen } = slowDisk(seed);
      const early: string[] = [];
      let sent = 0;
      const note = (what: string): void => {
        sent += 1;
        if (sent > seen.durable) early.push(what);
      };
      const { end } = await run({
        ...many,
        store,
        service: (port) => ({
          begin: (...request) => {
            note('imagine');
            return port.begin(...request);
          },
          action: (...request) => {
            note('action');
            return port.action(...request);
          },
        }),
      });
      expect(end).toEqual({ kind: 'complete' });
      expect([early, sent, seen.durable]).toEqual([[], 24, 24]);
      expect(seen.most).toBe(1);
      expect(state.totals()).toMatchObject({ attempts: 24, jobs: { done: 24, submitting: 0 } });
      expect((await state.reader.submissions()).counted).toBe(24);
      state.close();
    },
  );

  it.each([2, 4, 7])(
    'ends as on a broken disk where sync %i fails, and sends nothing of that commit',
    async (fails) => {
      const { state, store, seen } = slowDisk(fails, fails);
      let sent = 0;
      const { end } = await run({
        ...many,
        store,
        service: (port) => ({
          begin: (...request) => {
            sent += 1;
            return port.begin(...request);
          },
          action: (...request) => {
            sent += 1;
            return port.action(...request);
          },
        }),
      });
      expect(end).toMatchObject({ kind: 'disk', code: 'state.io' });
      expect(sent).toBe(seen.durable);
      expect(seen.syncs).toBe(fails);
      expect((await state.reader.submissions()).counted).toBe(seen.durable);
      state.close();
    },
  );
});
