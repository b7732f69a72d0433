import { describe, expect, it } from 'vitest';
import { PaceNews } from '../../../../src/run/scheduler/routes/lane.ts';

/** The moments at which these paces, one a second, are news, s. */
function newsOf(paces: Parameters<PaceNews['isNews']>[0][], repeat = 30): readonly number[] {
  const news = new PaceNews();
  return paces
    .flatMap((pace) => Array.from({ length: repeat }, () => pace))
    .flatMap((pace, at) => (news.isNews(pace, 1000 * at) ? [at] : []));
}

describe('PaceNews', () => {
  it('tells a rule once it has held for ten seconds, and no change of its figures that nobody feels', () => {
    const windows = [11, 12, 11, 13, 12].map((atOnce) => ({ atOnce }));
    expect(newsOf([{}, ...windows])).toEqual([40]);
    expect(newsOf([{ perMinute: 600 }, { perMinute: 520 }, { perMinute: 650 }])).toEqual([10]);
    expect(newsOf([{ byChance: 0.3 }, { byChance: 0.35 }, { byChance: 0.26 }])).toEqual([10]);
    expect(newsOf([{ byChance: 0.03 }, {}, { byChance: 0.05 }])).toEqual([]);
  });

  it('tells another rule, and one with quite another figure', () => {
    expect(newsOf([{ atOnce: 1 }, { atOnce: 2 }, { atOnce: 2, byChance: 0.2 }], 70)).toEqual([10, 80, 150]);
    expect(newsOf([{ perMinute: 600 }, { perMinute: 150 }, {}], 70)).toEqual([10, 80, 150]);
  });

  it('tells no steps of a search, and at most once a minute what came of it', () => {
    expect(newsOf([{ atOnce: 3 }, { atOnce: 9 }, { perMinute: 60 }, { byChance: 0.5 }], 5)).toEqual([]);
    const turns = Array.from({ length: 10 }, (_, turn) =>
      turn % 2 === 0 ? { atOnce: 3 } : { byChance: 0.5 },
    );
    expect(newsOf(turns, 15)).toEqual([10, 85]);
  });
});
