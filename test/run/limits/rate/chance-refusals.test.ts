import { describe, expect, it } from 'vitest';
import { ChanceRefusals } from '../../../../src/run/limits/rate/chance-refusals.ts';

/** One request a second was accepted, twenty times. */
const shown = (): ChanceRefusals => {
  const chance = new ChanceRefusals();
  chance.onRefused(1 / 1000, 20, 20_000);
  return chance;
};

describe('ChanceRefusals', () => {
  it('is proven by the fifth refusal far below a pace that was accepted', () => {
    const chance = shown();
    const proven = Array.from({ length: 5 }, () => {
      chance.onRefused(0.8 / 1000, 6, 7500);
      return chance.isProven;
    });
    expect(proven).toEqual([false, false, false, false, true]);
    expect(chance.shown * 1000).toBeCloseTo(1, 1);
  });

  it('is not proven by refusals near that pace, nor by those of a limit that has fallen', () => {
    const near = shown();
    const fallen = shown();
    for (let n = 0; n < 20; n += 1) {
      near.onRefused(0.9 / 1000, 6, 6000);
      fallen.onRefused(0.5 / 1000, 4, 8000);
    }
    expect([near.isProven, fallen.isProven]).toEqual([false, false]);
  });

  it('forgets a refusal in 333 accepted requests', () => {
    const chance = shown();
    for (let n = 0; n < 20; n += 1) chance.onRefused(0.6 / 1000, 340, 340_000);
    expect(chance.isProven).toBe(false);
  });

  it('takes ten accepted requests for no pace', () => {
    const chance = new ChanceRefusals();
    chance.onRefused(1, 10, 10);
    expect(chance.shown).toBe(0);
  });
});
