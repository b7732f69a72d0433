import { describe, expect, it } from 'vitest';
import { learnedText } from '../../../src/run/limits/learned.ts';
import {
  type LanePace,
  lanesOf,
  limitsOf,
  limitsText,
  noLimits,
  readLimits,
  readService,
  serviceText,
} from '../../../src/run/limits/learned-limits.ts';

describe('readService', () => {
  const seen = { served: ['submit/imagine'], hasAnswered: true, showsButtons: true };

  it('reads what was saved for this address, and nothing for another one', () => {
    const text = serviceText({ address: 'a', ...seen });
    expect(readService(text, 'a')).toEqual({ address: 'a', ...seen });
    const nothing = { address: 'b', served: [], hasAnswered: false, showsButtons: false };
    for (const other of [
      text,
      undefined,
      '',
      '{',
      learnedText(1, { address: 'b', served: 7, hasAnswered: 1 }),
    ])
      expect(readService(other, 'b')).toEqual(nothing);
  });

  it('keeps 200 kinds with short names', () => {
    const served = Array.from({ length: 300 }, (_, n) => `text/${n}`);
    expect(readService(serviceText({ address: 'a', ...seen, served }), 'a').served).toHaveLength(200);
    const odd = learnedText(1, { address: 'a', served: ['x'.repeat(201), 7, 'text/a'] });
    expect(readService(odd, 'a').served).toEqual(['text/a']);
  });
});

describe('readLimits', () => {
  it('reads what was saved', () => {
    for (const limits of [
      noLimits,
      { tasks: 3, perMinute: {} },
      { tasks: 8, perMinute: { submit: 59.4, poll: 0.5, download: 1 } },
      { perMinute: {}, lanes: { 'text-pro': 600, 'text-pro (chat)': 0.5 } },
      { perMinute: {}, atOnce: { poll: 3, 'text/a': 1 }, byChance: { submit: 0.5, 'text/a': 0.25 } },
    ])
      expect(readLimits(limitsText(limits))).toEqual(limits);
  });

  it('finds nothing without a text, in an unrelated text, and in another version', () => {
    for (const text of [undefined, '', '{', '[]', 'null', learnedText(0, { tasks: 3, perMinute: {} })])
      expect(readLimits(text)).toEqual(noLimits);
    for (const content of [undefined, null, 7, 'x'])
      expect(readLimits(learnedText(1, content))).toEqual(noLimits);
  });

  it('leaves out invalid numbers, and unknown kinds of requests', () => {
    const read = (content: unknown): unknown => readLimits(learnedText(1, content));
    for (const wrong of [0, -1, '3', null, [], {}]) {
      expect(read({ tasks: wrong, perMinute: { submit: wrong, poll: 6 } })).toEqual({
        perMinute: { poll: 6 },
      });
      expect(read({ lanes: { a: wrong, b: 6 } })).toEqual({ perMinute: {}, lanes: { b: 6 } });
      expect(read({ lanes: wrong, atOnce: wrong, byChance: { a: wrong } })).toEqual(noLimits);
      expect(read({ tasks: 2, perMinute: wrong })).toEqual({ tasks: 2, perMinute: {} });
    }
    // Texts have a pace for each kind.
    expect(read({ perMinute: { text: 5 } })).toEqual(noLimits);
    expect(read({ perMinute: { submit: 5, other: 5, __proto__: 5 } })).toEqual({ perMinute: { submit: 5 } });
    expect(readLimits('{"version":1,"content":{"tasks":1e999,"perMinute":{"submit":1e999}}}')).toEqual(
      noLimits,
    );
  });

  it('reads windows as whole numbers, and shares as 1 at most', () => {
    expect(
      readLimits(learnedText(1, { atOnce: { poll: 0.2, download: 2.9 }, byChance: { submit: 7 } })),
    ).toEqual({
      perMinute: {},
      atOnce: { poll: 1, download: 2 },
      byChance: { submit: 1 },
    });
  });

  it('keeps the pace of 200 kinds of text call, and no name that is too long', () => {
    const lanes = Object.fromEntries(Array.from({ length: 201 }, (_, n) => [`m${n}`, n + 1]));
    const kept =
      readLimits(limitsText({ perMinute: {}, lanes: { ['x'.repeat(201)]: 1, ...lanes } })).lanes ?? {};
    const longest = { ['x'.repeat(200)]: 1 };
    expect(readLimits(limitsText({ perMinute: {}, lanes: longest })).lanes).toEqual(longest);
    expect([Object.keys(kept).length, kept['m0'], kept['m199'], kept['m200']]).toEqual([
      200,
      1,
      200,
      undefined,
    ]);
  });

  it('reads a number of tasks as an integer of at least one', () => {
    expect(readLimits(learnedText(1, { tasks: 2.9, perMinute: {} })).tasks).toBe(2);
    expect(readLimits(learnedText(1, { tasks: 0.2, perMinute: {} })).tasks).toBe(1);
  });
});

describe('lanesOf', () => {
  it('returns the lanes from which limits were made', () => {
    const lanes: readonly LanePace[] = [
      { route: 'submit', atOnce: 3, perMinute: 60, byChance: 0.25 },
      { route: 'poll', perMinute: 600 },
      { route: 'download', atOnce: 4 },
      { route: 'text', kind: 'text-pro', atOnce: 2, perMinute: 59.5 },
      { route: 'text', kind: 'poll', byChance: 0.5 },
    ];
    const limits = limitsOf(lanes);
    expect(limits).toMatchObject({
      tasks: 3,
      perMinute: { submit: 60, poll: 600 },
      lanes: { 'text-pro': 59.5 },
    });
    expect(lanesOf(readLimits(limitsText(limits)))).toEqual(lanes);
    expect(lanesOf(limitsOf([{ route: 'submit' }, { route: 'text', kind: 'a' }]))).toEqual([]);
  });

  it('leaves out unknown lanes', () => {
    expect(lanesOf({ perMinute: {}, atOnce: { text: 2, other: 3 } })).toEqual([]);
  });
});
