import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KindModel } from '../../../../src/run/limits/poll/kind-model.ts';
import { ProgressMap } from '../../../../src/run/limits/poll/progress-map.ts';

const ends = fc.array(fc.tuple(fc.nat(2_000_000), fc.nat(2_000_000)), { minLength: 1, maxLength: 40 });
const ages = fc.array(fc.nat(30_000_000), { minLength: 2, maxLength: 20 });
const learned = (all: readonly (readonly [number, number])[], broader?: KindModel): KindModel => {
  const model = new KindModel(broader);
  for (const [a, b] of all) model.learn(Math.min(a, b), Math.max(a, b));
  return model;
};

describe('KindModel', () => {
  it('has a share of unfinished tasks that only falls with their age', () => {
    fc.assert(
      fc.property(ends, ages, (all, at) => {
        const model = learned(all, new KindModel());
        const shares = at.toSorted((a, b) => a - b).map((age) => model.survival(age));
        expect(shares).toEqual(shares.toSorted((a, b) => b - a));
        expect(model.survival(0)).toBeCloseTo(1, 3);
        expect(Math.min(...shares)).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  it('always has a next poll, later than now', () => {
    const map = new ProgressMap();
    fc.assert(
      fc.property(ends, fc.integer({ min: 1, max: 30_000_000 }), (all, age) => {
        const next = learned(all).nextAge(age, [], map);
        expect(Number.isFinite(next)).toBe(true);
        expect(next).toBeGreaterThan(age);
      }),
    );
  });

  it('does not poll more often up to a later time because a poll came late', () => {
    const map = new ProgressMap();
    fc.assert(
      fc.property(ends, fc.nat(2_000_000), fc.nat(100_000), (all, age, later) => {
        const model = learned(all);
        expect(model.nextAge(age + later, [], map)).toBeGreaterThanOrEqual(
          model.nextAge(age, [], map) - 1e-6,
        );
      }),
    );
  });

  it('expects every end once, and uses its class before the first', () => {
    const broader = new KindModel();
    const first = new KindModel(broader);
    expect([broader.isKnown, first.isKnown, first.survival(minute)]).toEqual([false, false, 1]);
    for (let n = 0; n < 30; n++) first.learn(minute - 1000, minute + 1000);
    const second = new KindModel(broader);
    expect([broader.ends, second.ends, second.isKnown]).toEqual([30, 0, true]);
    expect(second.survival(minute / 2)).toBeGreaterThan(0.9);
    expect(second.survival(2 * minute)).toBeLessThan(0.1);
  });
});

const minute = 60_000;
