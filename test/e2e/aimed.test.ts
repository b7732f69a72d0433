import { beforeAll, describe, expect, it } from 'vitest';
import { aimedKill, hasHappened, type Mishap, type Moment } from '../rig/mishap.ts';
import { type CalmRun, calmRun, openPlace, settle } from '../rig/run-place.ts';
import { twoCells } from './pipelines.ts';

type When = Mishap['when'];

/**
 * Calls of a run of six jobs. Nothing lies between the end of one call and the begin of the next that stands here,
 * so each gap is tried once; `npm run kills` draws from all of them.
 */
const aims: readonly (readonly [Moment, number, readonly When[]])[] = [
  // Tables are made; first jobs are about to be submitted; the first answer is recorded; somewhere in the middle.
  ['state commit', 1, ['before']],
  ['state commit', 2, ['before', 'after']],
  ['state commit', 3, ['before', 'after']],
  ['state commit', 7, ['before']],
  ['wal sync', 2, ['before', 'after']],
  ['wal sync', 4, ['before', 'after']],
  ['wal sync', 8, ['before']],
  // The intents are durable, and nothing of it is sent; the first and a later turn.
  ['count write', 1, ['before', 'after']],
  ['count write', 2, ['before', 'after']],
  ['image write', 3, ['before']],
  ['image sync', 1, ['before']],
  ['image rename', 4, ['before', 'after']],
  ['manifest write', 2, ['before']],
  ['manifest sync', 1, ['before']],
  ['manifest rename', 1, ['before', 'after']],
  // At the begin of a run, and at its end.
  ['record rename', 1, ['before', 'after']],
  ['record rename', 2, ['before', 'after']],
];
const kills = aims.flatMap(([moment, n, whens]) => whens.map((when) => aimedKill(moment, n, when)));

describe.concurrent('a run that is killed at one exact moment', () => {
  let calm: CalmRun;
  beforeAll(async () => {
    calm = await calmRun(twoCells);
  });

  it.each(kills)(
    '$when $moment $n: continues, repeats nothing, and ends like an undisturbed run',
    async (kill) => {
      await using place = await openPlace(twoCells);
      const killed = await place.meet(kill);
      expect([killed.signal, hasHappened(killed.stderr)], killed.stderr).toEqual(['SIGKILL', true]);

      const settled = await settle(place);
      expect(settled.codes, settled.err).toEqual([settled.inDoubt.length > 0 ? 5 : 0, 0]);
      // An answer that was lost with its process leaves a doubt.
      const isLost = kill.moment === 'state commit' && kill.n === 3 && kill.when === 'before';
      expect(settled.inDoubt.length).toBeGreaterThanOrEqual(isLost ? 1 : 0);
      expect([settled.silently, settled.unexplained]).toEqual([[], []]);
      expect(settled.asked).toBe(calm.tasks);
      expect(settled.rows).toEqual(calm.rows);
      expect(settled.files).toEqual(calm.files);
    },
  );
});
