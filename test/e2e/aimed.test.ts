import { beforeAll, describe, expect, it } from 'vitest';
import { aimedKill, hasHappened, type Mishap, type Moment } from '../rig/mishap.ts';
import { type CalmRun, calmRun, openPlace, settle } from '../rig/run-place.ts';
import { twoCells } from './pipelines.ts';

/** Which of the calls of a run of six jobs: the first one, and one in the middle of the work where there are several. */
const aims: readonly (readonly [Moment, readonly number[]])[] = [
  // The first one makes the tables.
  ['state commit', [1, 2, 7]],
  ['image write', [3]],
  ['image sync', [1]],
  ['image rename', [4]],
  ['manifest write', [2]],
  ['manifest sync', [1]],
  ['manifest rename', [1]],
  // At the begin of a run, and at its end.
  ['record rename', [1, 2]],
];
const kills: readonly Mishap[] = aims.flatMap(([moment, ns]) =>
  ns.flatMap((n) => [aimedKill(moment, n, 'before'), aimedKill(moment, n, 'after')]),
);

describe.concurrent('a run that is killed at one exact moment', () => {
  let calm: CalmRun;
  beforeAll(async () => {
    calm = await calmRun(twoCells);
  });

  it.each(kills)(
    '$when $moment $n: goes on, repeats nothing, and comes to what an undisturbed run comes to',
    async (kill) => {
      await using place = await openPlace(twoCells);
      const killed = await place.meet(kill);
      expect([killed.signal, hasHappened(killed.stderr)], killed.stderr).toEqual(['SIGKILL', true]);

      const settled = await settle(place);
      expect(settled.codes, settled.err).toEqual([settled.inDoubt.length > 0 ? 5 : 0, 0]);
      expect([settled.silently, settled.unexplained]).toEqual([[], []]);
      expect(settled.asked).toBe(calm.tasks);
      expect(settled.rows).toEqual(calm.rows);
      expect(settled.files).toEqual(calm.files);
    },
  );
});
