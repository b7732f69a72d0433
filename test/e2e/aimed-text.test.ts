import { beforeAll, describe, expect, it } from 'vitest';
import { DurableTexts } from '../rig/durable-texts.ts';
import { aimedKill, hasHappened, type Mishap, type Moment } from '../rig/mishap.ts';
import { type CalmRun, calmRun, openPlace, settle } from '../rig/run-place.ts';
import { oneText } from './pipelines.ts';

type When = Mishap['when'];

/**
 * Calls on the disk that text jobs make. Files of one reply: its text or JSON is written and synced, then the whole
 * reply; then the one gets its name, then the other; then the job is durable. Five answers are written so.
 */
const aims: readonly (readonly [Moment, number, readonly When[]])[] = [
  ['text open', 1, ['before']],
  ['text write', 2, ['before', 'after']],
  ['text sync', 1, ['before']],
  ['answer open', 1, ['after']],
  ['answer write', 2, ['before']],
  ['answer sync', 1, ['after']],
  ['text rename', 1, ['before', 'after']],
  ['text rename', 3, ['after']],
  ['answer rename', 1, ['before', 'after']],
  ['answer rename', 4, ['after']],
  ['state commit', 4, ['before', 'after']],
  ['state commit', 8, ['before']],
];
const kills = aims.flatMap(([moment, n, whens]) => whens.map((when) => aimedKill(moment, n, when)));

describe.concurrent('a run with texts that is killed at one exact moment', () => {
  let calm: CalmRun;
  beforeAll(async () => {
    calm = await calmRun(oneText);
  });

  it.each(kills)(
    '$when $moment $n: continues, repeats no durable call, and ends like an undisturbed run',
    async (kill) => {
      await using place = await openPlace(oneText);
      const durable = new DurableTexts();
      const killed = await place.meet(kill);
      expect([killed.signal, hasHappened(killed.stderr)], killed.stderr).toEqual(['SIGKILL', true]);
      await durable.note(place.directory, place.service.texts);

      const settled = await settle(place);
      expect(settled.codes, settled.err).toEqual([settled.inDoubt.length > 0 ? 5 : 0, 0]);
      expect([settled.silently, settled.unexplained]).toEqual([[], []]);
      expect(durable.askedAgain(place.service.texts)).toEqual([]);
      // Nothing of a text is in doubt: what one process could have in flight was asked again, once.
      expect(Math.max(...place.service.texts.byName.values())).toBeLessThanOrEqual(2);
      expect(settled.rows).toEqual(calm.rows);
      expect(settled.files).toEqual(calm.files);
    },
  );
});
