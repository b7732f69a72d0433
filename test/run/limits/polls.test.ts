import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { learnedDurations, PollPace } from '../../../src/run/limits/polls.ts';
import type { TaskKind } from '../../../src/run/limits/task-kind.ts';
import { seededRandom } from '../../rig/virtual-run.ts';

const bounds = { minMs: 1000, maxMs: 15_000 };
const free = { minMs: 1000, maxMs: 3_600_000 };
const minute = 60_000;
const kind: TaskKind = { name: 'imagine v6.1 fast', broader: 'imagine' };
const other: TaskKind = { name: 'click U fast', broader: 'click' };

/** Polls a task until it is seen finished, and learns from it. */
function followed(pace: PollPace, durationMs: number, of = kind) {
  let ageMs = 0;
  let polls = 0;
  let polledMs: number | undefined;
  for (;;) {
    ageMs += pace.nextMs(of, ageMs);
    polls += 1;
    if (ageMs >= durationMs) break;
    polledMs = ageMs;
  }
  pace.learn(of, polledMs, ageMs);
  return { polls, lateMs: ageMs - durationMs };
}

const normal = (random: () => number): number =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
const logNormal = (random: () => number, sigma: number, meanMs = minute): number =>
  meanMs * Math.exp(sigma * normal(random) - sigma ** 2 / 2);

/** A pace that has followed tasks of about a minute. */
function taught(count: number, limits = free, sigma = 0.2): PollPace {
  const random = seededRandom(5);
  const pace = new PollPace(limits);
  for (let n = 0; n < count; n++) followed(pace, logNormal(random, sigma));
  return pace;
}

/** Polls and lateness of a task, on average, and polls at a fixed interval that is equally late. */
function against(pace: PollPace, durations: readonly number[]) {
  let [polls, lateMs] = [0, 0];
  for (const duration of durations) {
    const found = followed(pace, duration);
    polls += found.polls / durations.length;
    lateMs += found.lateMs / durations.length;
  }
  let [low, high] = [lateMs / 2, lateMs * 8];
  const fixed = { polls: 0, lateMs: 0 };
  for (let step = 0; step < 40; step++) {
    const interval = Math.sqrt(low * high);
    Object.assign(fixed, { polls: 0, lateMs: 0 });
    for (const duration of durations) {
      const count = Math.ceil(duration / interval);
      fixed.polls += count / durations.length;
      fixed.lateMs += (count * interval - duration) / durations.length;
    }
    if (fixed.lateMs < lateMs) low = interval;
    else high = interval;
  }
  return { polls, lateMs, fixed: fixed.polls };
}

describe('PollPace', () => {
  const duration = fc.integer({ min: 0, max: 2_000_000 });

  it('stays within its bounds whatever it has learned', () => {
    const ends = fc.array(fc.tuple(fc.option(duration, { nil: undefined }), duration), { maxLength: 60 });
    fc.assert(
      fc.property(ends, duration, (learned, age) => {
        const pace = new PollPace(bounds);
        for (const [before, at] of learned) pace.learn(kind, before, at);
        const ms = pace.nextMs(kind, age);
        expect(ms).toBeGreaterThanOrEqual(bounds.minMs);
        expect(ms).toBeLessThanOrEqual(bounds.maxMs);
      }),
    );
  });

  it('polls a task after the clock was set back like one that has just begun', () => {
    const pace = taught(30, bounds);
    const other = { name: 'of another class', broader: 'another class' };
    for (const one of [kind, other]) expect(pace.nextMs(one, -3_600_000)).toBe(pace.nextMs(one, 0));
  });

  it('learns no negative duration where the clock was set back between two polls', () => {
    const pace = new PollPace(free);
    pace.learn(kind, -3_600_000, 60_000);
    expect(learnedDurations(pace.learned)).toMatchObject([{ median: 30 }]);
  });

  it('is as good as a fixed interval where both bounds are equal', () => {
    const pace = taught(30, { minMs: 5000, maxMs: 5000 });
    expect([0, 10, 40_000, 1e6].map((age) => pace.nextMs(kind, age))).toEqual([5000, 5000, 5000, 5000]);
  });

  it.each([0.1, 0.2, 0.35, 0.5])(
    'is late by 3 %% of a task at most, once it knows them (sigma %d)',
    (sigma) => {
      const random = seededRandom(11);
      const pace = taught(40, free, sigma);
      let lateMs = 0;
      for (let n = 0; n < 300; n++) lateMs += followed(pace, logNormal(random, sigma)).lateMs / 300;
      expect(lateMs / minute).toBeLessThan(0.03);
    },
  );

  it.each([
    [0.2, 0.45],
    [0.35, 0.68],
    [0.5, 0.88],
  ])(
    'needs fewer polls than a fixed interval that is equally late, after 20 ends (sigma %d)',
    (sigma, ratio) => {
      const random = seededRandom(12);
      const durations = Array.from({ length: 300 }, () => logNormal(random, sigma));
      const { polls, fixed } = against(taught(20, free, sigma), durations);
      expect(polls / fixed).toBeLessThan(ratio);
    },
  );

  it('needs at most three times the polls of a fixed interval that is equally late, for any durations', () => {
    const seconds = fc.integer({ min: 30, max: 120 });
    const few = fc.array(seconds, { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(
        few,
        few,
        fc.integer({ min: 0, max: 1e6 }),
        fc.double({ min: 0, max: 0.5, noNaN: true }),
        (first, then, seed, sigma) => {
          const random = seededRandom(seed);
          const pick = (from: readonly number[]): number =>
            logNormal(random, sigma, 1000 * (from[Math.floor(random() * from.length)] ?? 60));
          const durations = Array.from({ length: 300 }, (_, n) => pick(n < 100 ? first : then));
          const { polls, fixed } = against(new PollPace({ minMs: 100, maxMs: 3_600_000 }), durations);
          expect(polls / fixed).toBeLessThan(3);
        },
      ),
      { numRuns: 15 },
    );
  });

  it('polls a task that outlived all others less often the older it is', () => {
    const pace = taught(40);
    const share = (age: number): number => pace.nextMs(kind, age) / age;
    expect(pace.nextMs(kind, 20 * minute)).toBeGreaterThan(1.5 * pace.nextMs(kind, 10 * minute));
    expect(share(20 * minute) / share(10 * minute)).toBeCloseTo(1, 0);
    expect(share(40 * minute)).toBeLessThan(0.3);
  });

  it('follows durations that double', () => {
    const pace = taught(100);
    const random = seededRandom(4);
    for (let n = 0; n < 15; n++) followed(pace, logNormal(random, 0.2, 2 * minute));
    const found = against(
      pace,
      Array.from({ length: 100 }, () => logNormal(random, 0.2, 2 * minute)),
    );
    expect(found.lateMs / (2 * minute)).toBeLessThan(0.035);
    expect(found.polls / found.fixed).toBeLessThan(0.6);
  });

  it('polls tasks of an unknown kind after a quarter of their age', () => {
    const pace = new PollPace(bounds);
    expect([0, 4000, 4004, 24_000, 60_000, 80_000].map((age) => pace.nextMs(kind, age))).toEqual([
      1000, 1000, 1001, 6000, 15_000, 15_000,
    ]);
  });

  it('begins with the class where it knows nothing of the kind, and learns other classes separately', () => {
    const pace = taught(40);
    const known = pace.nextMs(kind, 0);
    expect(known).toBeGreaterThan(20_000);
    expect(pace.nextMs({ name: 'imagine v7 fast', broader: 'imagine' }, 0)).toBeGreaterThan(known / 2);
    expect(pace.nextMs(other, 0)).toBe(free.minMs);
  });

  it('polls tasks of an unknown class less often where others have taken long, but more often than those', () => {
    const [fresh, pace] = [new PollPace(free), taught(40)];
    expect(pace.nextMs(other, 1000)).toBeGreaterThan(fresh.nextMs(other, 1000));
    expect(pace.nextMs(other, 1000)).toBeLessThan(pace.nextMs(kind, 1000) / 2);
  });
});

describe('the learned data of a pace', () => {
  it('is empty where no task has ended', () => {
    const pace = new PollPace(bounds);
    expect(pace.learned).toBeUndefined();
    pace.nextMs(kind, 1000);
    expect(learnedDurations(pace.learned)).toEqual([]);
  });

  it('makes another pace poll like the first', () => {
    const first = taught(30);
    const before = learnedDurations(first.learned);
    const second = new PollPace(free, first.learned);
    const shown = learnedDurations(second.learned);
    const cost = (pace: PollPace): number => {
      const { polls, lateMs } = followed(pace, 58_000);
      return polls + lateMs / 2000;
    };
    expect(cost(second)).toBeLessThan(1.5 * cost(first));
    expect(cost(new PollPace(free))).toBeGreaterThan(1.5 * cost(second));
    expect(shown).toEqual(before);
  });

  it('says how long each kind takes', () => {
    const [found] = learnedDurations(taught(60).learned);
    expect(found).toMatchObject({ kind: 'imagine v6.1 fast', tasks: 60 });
    expect(found?.median).toBeGreaterThan(50);
    expect(found?.median).toBeLessThan(70);
    expect(found?.from).toBeLessThan(found?.median ?? 0);
    expect(found?.to).toBeGreaterThan(found?.median ?? 0);
  });

  it('does not grow with tasks and kinds', () => {
    const pace = new PollPace(free);
    const random = seededRandom(2);
    const names = Array.from({ length: 400 }, (_, n) => `click ${'x'.repeat(60)} ${n} fast`);
    for (const name of names)
      for (let n = 0; n < 6; n++) followed(pace, logNormal(random, 0.5), { name, broader: 'click' });
    const text = pace.learned ?? '';
    expect(text.length).toBeLessThan(65_536);
    expect(new PollPace(free, text).nextMs({ name: 'click new fast', broader: 'click' }, 0)).toBeGreaterThan(
      1000,
    );
  });

  it('is ignored where it is damaged', () => {
    const learned = taught(30).learned ?? '';
    fc.assert(
      fc.property(fc.nat(learned.length), fc.string({ maxLength: 3 }), fc.nat(5), (at, text, gone) => {
        const damaged = learned.slice(0, at) + text + learned.slice(at + gone);
        const ms = new PollPace(bounds, damaged).nextMs(kind, 30_000);
        expect(ms).toBeGreaterThanOrEqual(bounds.minMs);
        expect(ms).toBeLessThanOrEqual(bounds.maxMs);
      }),
    );
    for (const content of [null, 7, {}, [], [7], [[]], [['imagine', '', 7, 7]], [['imagine', '', 7, ['7']]]])
      expect(new PollPace(bounds, JSON.stringify({ version: 2, content })).nextMs(kind, 0)).toBe(1000);
  });
});
