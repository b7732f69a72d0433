import { beforeAll, describe, expect, it } from 'vitest';
import { aimedKill, hasHappened, type Mishap, type Moment } from '../rig/mishap.ts';
import { useModalLag } from '../rig/modal-lag.ts';
import { type CalmRun, calmRun, openPlace, repeated, settle } from '../rig/run-place.ts';
import { everyKind, oneModal, oneOfEveryKind } from './pipelines.ts';

// A gateway may lag for 45 s; here nothing does, but for those that show MODAL until the work is done.
useModalLag(300);

type When = Mishap['when'];

/** A modal is answered in these ways (gateway 4.6). */
const ways = [
  { modalCode: 21, modalTask: 'new', modalLingers: false },
  { modalCode: 1, modalTask: 'same', modalLingers: true },
] as const;

/** The commits of such a run, of which there are about fifteen, from where the upscale is under way; beyond them all is finished. */
const commits = { from: 5, to: 24 };

describe.concurrent('a run that is killed between a click, its modal and the result', () => {
  it.each(ways)(
    'whichever commit it is, continues without a second click or a second modal: $modalCode, $modalTask',
    async (way) => {
      const calm = await calmRun(oneModal, way);
      const seen = new Set<string>();
      const step = async (n: number): Promise<boolean> => {
        await using place = await openPlace(oneModal, way);
        const { service } = place;
        const killed = await place.meet(aimedKill('state commit', n, 'before'));
        if (killed.signal !== 'SIGKILL') return false;
        const clicks = service.submits.all.filter(({ route }) => route === 'action').length;
        seen.add(`${clicks} clicks, ${service.submits.modals.length} modals`);
        const settled = await settle(place);
        const where = `before commit ${n}`;
        expect(settled.codes, `${where}\n${settled.err}`).toEqual([settled.inDoubt.length > 0 ? 5 : 0, 0]);
        expect([settled.silently, settled.unexplained], where).toEqual([[], []]);
        expect(service.submits.modals.length, where).toBe(1);
        // Where MODAL still shows of one that was answered, nobody can tell: only the user has it sent again, which is refused.
        const mayBeSecond = way.modalLingers && settled.inDoubt.length > 0;
        expect(service.count('modal'), where).toBeLessThanOrEqual(mayBeSecond ? 2 : 1);
        expect(settled.secondModals.length, where).toBeLessThanOrEqual(Number(mayBeSecond));
        expect(settled.rows, where).toEqual(calm.rows);
        expect(settled.files, where).toEqual(calm.files);
        return true;
      };
      let n = commits.from;
      while (n < commits.to && (await step(n))) n += 1;
      expect(n).toBeLessThan(commits.to);
      // Before the repaint's click, between it and the modal, and between the modal and its result.
      expect([...seen]).toEqual(
        expect.arrayContaining(['1 clicks, 0 modals', '2 clicks, 0 modals', '2 clicks, 1 modals']),
      );
    },
    120_000,
  );
});

/** Calls on the disk of a run of every kind. */
const aims: readonly (readonly [Moment, number, readonly When[]])[] = [
  ['state commit', 9, ['before']],
  ['state commit', 13, ['after']],
  ['state commit', 17, ['before']],
  ['video open', 1, ['before']],
  ['video sync', 2, ['before']],
  ['video rename', 1, ['before', 'after']],
];
const kills = aims.flatMap(([moment, n, whens]) => whens.map((when) => aimedKill(moment, n, when)));

describe.concurrent('a run of every kind of image work that is killed at one exact moment', () => {
  let calm: CalmRun;
  beforeAll(async () => {
    calm = await calmRun(oneOfEveryKind);
  });

  it.each(kills)(
    '$when $moment $n: continues, repeats nothing, and ends like an undisturbed run',
    async (kill) => {
      await using place = await openPlace(oneOfEveryKind);
      const killed = await place.meet(kill);
      expect([killed.signal, hasHappened(killed.stderr)], killed.stderr).toEqual(['SIGKILL', true]);
      expect(repeated(place.service)).toEqual([]);

      const settled = await settle(place);
      expect(settled.codes, settled.err).toEqual([settled.inDoubt.length > 0 ? 5 : 0, 0]);
      expect([settled.silently, settled.unexplained, settled.secondModals]).toEqual([[], [], []]);
      expect(place.service.submits.modals.length).toBe(everyKind.modals);
      expect(settled.asked).toBe(calm.tasks);
      expect(settled.rows).toEqual(calm.rows);
      expect(settled.files).toEqual(calm.files);
    },
  );
});
