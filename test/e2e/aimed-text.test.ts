import { beforeAll, describe, expect, it } from 'vitest';
import { DurableTexts } from '../rig/durable-texts.ts';
import { aimedKill, hasHappened, type Mishap, type Moment } from '../rig/mishap.ts';
import { repliesOf } from '../rig/replies.ts';
import { type CalmRun, calmRun, openPlace, settle } from '../rig/run-place.ts';
import { oneText } from './pipelines.ts';

type When = Mishap['when'];

/**
 * Calls on the disk that text jobs make: the replies of a turn are written and synced together, then its jobs are durable. The file is
 * made once.
 */
const aims: readonly (readonly [Moment, number, readonly When[]])[] = [
  ['reply open', 1, ['before', 'after']],
  ['reply write', 1, ['before', 'after']],
  ['reply write', 2, ['before', 'after']],
  ['reply write', 4, ['after']],
  ['reply sync', 1, ['before', 'after']],
  ['reply sync', 3, ['before', 'after']],
  ['state commit', 4, ['before', 'after']],
  ['state commit', 8, ['before']],
  ['wal sync', 4, ['before', 'after']],
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
      expect(await repliesOf(place.directory)).toMatchObject({ lost: [], unclaimed: [] });
    },
  );
});
