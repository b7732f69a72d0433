import { beforeAll, describe, expect, it } from 'vitest';
import { hasHappened, type Mishap, type Moment } from '../rig/mishap.ts';
import { type CalmRun, calmRun, openPlace, settle } from '../rig/run-place.ts';
import { twentyTexts, twoCells } from './pipelines.ts';

interface Case {
  readonly moment: Moment;
  readonly n: number;
  readonly does: 'ENOSPC' | 'EROFS' | 'EIO';
  /** What is said of it. */
  readonly says: RegExp;
  /** Default 74. */
  readonly code?: number;
}

const full = /disk that holds .*state\.db is full \(database or disk is full\)/;
const cases: readonly Case[] = [
  { moment: 'state commit', n: 4, does: 'ENOSPC', says: full },
  { moment: 'state commit', n: 4, does: 'EROFS', says: /state\.db cannot be written/ },
  { moment: 'wal sync', n: 1, does: 'EIO', says: /state\.db could not be read or written \(EIO/ },
  { moment: 'wal sync', n: 4, does: 'EIO', says: /state\.db could not be read or written \(EIO/ },
  { moment: 'wal sync', n: 4, does: 'ENOSPC', says: /disk that holds .*state\.db is full \(ENOSPC/ },
  { moment: 'image write', n: 2, does: 'ENOSPC', says: /The disk is full \(ENOSPC/ },
  { moment: 'image open', n: 2, does: 'EROFS', says: /mounted read-only \(EROFS/ },
  { moment: 'manifest write', n: 2, does: 'ENOSPC', says: /The disk failed: ENOSPC/ },
  { moment: 'manifest rename', n: 1, does: 'EROFS', says: /The disk failed: EROFS/ },
  { moment: 'record write', n: 1, does: 'ENOSPC', says: /The disk failed: ENOSPC/ },
  { moment: 'log open', n: 1, does: 'EROFS', says: /The disk failed: EROFS/ },
  {
    moment: 'reserve write',
    n: 1,
    does: 'ENOSPC',
    says: /has too little room: 1,\d{3} KB are kept free for the answers to what is sent, and there is room for 0 KB/,
  },
  // The state says what the log would have said.
  { moment: 'log write', n: 2, does: 'ENOSPC', says: /The log can no longer be written: ENOSPC/, code: 0 },
];

describe.concurrent('a disk that fails while a run is on', () => {
  let calm: CalmRun;
  beforeAll(async () => {
    calm = await calmRun(twoCells);
  });

  it.each(cases)(
    '$does from $moment $n on is reported, and the run continues after the repair',
    async ({ moment, n, does, says, code = 74 }) => {
      await using place = await openPlace(twoCells);
      const mishap: Mishap = { moment, n, when: 'before', does };
      const failed = await place.meet(mishap);
      expect(hasHappened(failed.stderr), failed.stderr).toBe(true);
      expect(failed.code, failed.stderr).toBe(code);
      expect(failed.stderr).toMatch(says);
      expect(failed.stderr).not.toMatch(/internal error|unhandled/i);
      const sent = place.service.submits.byPath.size;
      expect(moment === 'reserve write' ? sent : 0).toBe(0);

      const settled = await settle(place);
      expect(settled.codes, settled.err).toEqual([settled.inDoubt.length > 0 ? 5 : 0, 0]);
      expect([settled.silently, settled.unexplained]).toEqual([[], []]);
      // Only answers that could not be recorded are in doubt: those of two grids, or of the four clicks that follow them at once.
      expect(settled.inDoubt.length).toBeLessThanOrEqual(/^(?:state|wal) /.test(moment) ? 4 : 0);
      expect(settled.rows).toEqual(calm.rows);
      expect(settled.files).toEqual(calm.files);
    },
  );
});

it.each(['EIO', 'EROFS', 'ENOSPC'] as const)(
  '%s of the replies alone puts no image in doubt, and has no text paid again',
  async (does) => {
    await using place = await openPlace(twentyTexts);
    const failed = await place.meet({ moment: 'reply write', n: 6, when: 'before', does });
    expect(hasHappened(failed.stderr), failed.stderr).toBe(true);
    expect(failed.code, failed.stderr).toBe(74);
    const settled = await settle(place);
    expect(settled.codes, settled.err).toEqual([0, 0]);
    expect(settled.inDoubt).toEqual([]);
    const again = [...place.service.texts.byName].filter(([, calls]) => calls > 1);
    expect(again).toEqual([]);
    expect(failed.stderr).toMatch(/replies .*Texts that came are kept, without their whole replies\./);
  },
);
