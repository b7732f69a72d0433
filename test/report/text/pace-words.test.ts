import { describe, expect, it } from 'vitest';
import { laneWords, paceWords } from '../../../src/report/text/pace-words.ts';

describe('paceWords', () => {
  it.each([
    [{ route: 'text', kind: 'text-pro', atOnce: 2 }, '2 at a time fit at text-pro'],
    [{ route: 'text', kind: 'text-pro', atOnce: 1 }, '1 at a time fits at text-pro'],
    [{ route: 'submit', atOnce: 1 }, '1 task at a time fits'],
    [{ route: 'poll', atOnce: 12 }, '12 polls at a time fit'],
    [{ route: 'submit', perMinute: 597.3 }, 'about 600 submissions a minute are served'],
    [{ route: 'download', perMinute: 9.97 }, 'about 10 downloads a minute are served'],
    [{ route: 'poll', perMinute: 0.512 }, 'about 0.51 polls of tasks a minute are served'],
    [
      { route: 'submit', byChance: 0.48 },
      'half of the submissions are refused by chance: each refused job waits alone',
    ],
    [
      { route: 'text', kind: 'm', byChance: 0.1 },
      '10 % of the text calls of m are refused by chance: each refused job waits alone',
    ],
    [
      { route: 'submit', atOnce: 8, perMinute: 60, byChance: 0.02 },
      '8 tasks at a time fit; about 60 submissions a minute are served',
    ],
    [{ route: 'text', kind: 'm' }, 'there is no known limit of text calls of m any more'],
  ] as const)('says of %j: %s', (pace, words) => {
    expect(paceWords(pace)).toBe(words);
  });

  it('shows no control characters that a pipeline puts into the name of a model', () => {
    const pace = { route: 'text', kind: 'a\u001b[2Jb\nc', atOnce: 2, perMinute: 6 } as const;
    for (const words of [paceWords(pace), laneWords(pace)]) expect(words).not.toMatch(/\p{Cc}/u);
  });
});
