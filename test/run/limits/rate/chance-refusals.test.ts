import { describe, expect, it } from 'vitest';
import { ChanceRefusals } from '../../../../src/run/limits/rate/chance-refusals.ts';

/** So many results, of which every seventh is a refusal. */
const seenSome = (results = 21): ChanceRefusals => {
  const chance = new ChanceRefusals();
  for (let n = 1; n <= results; n += 1) chance.onResult(n % 7 === 0);
  return chance;
};

describe('ChanceRefusals', () => {
  it('is proven by the sixth lowering among few refusals, and knows the pace before the first', () => {
    const chance = seenSome();
    for (let n = 0; n < 5; n += 1) chance.onLowered(10 - n);
    expect(chance.isProven).toBe(false);
    chance.onLowered(5);
    expect([chance.isProven, chance.paceBefore]).toEqual([true, 10]);
  });

  it('bounds a lowering by the share of the last twenty results that are refusals', () => {
    // Of the last twenty of 21 results, three are refusals.
    expect(seenSome().onLowered(1)).toBeCloseTo(0.95 * (1 - 3 / 20));
  });

  it('is not proven where most results are refusals, or too few results are known', () => {
    const refusing = new ChanceRefusals();
    for (let n = 0; n < 20; n += 1) refusing.onResult(n % 2 === 0);
    const fresh = seenSome(7);
    for (let n = 0; n < 20; n += 1) expect([refusing.onLowered(1), fresh.onLowered(1)]).toEqual([0, 0]);
    expect([refusing.isProven, fresh.isProven]).toEqual([false, false]);
  });

  it('forgets a lowering in 333 requests', () => {
    const chance = seenSome();
    for (let n = 0; n < 5; n += 1) chance.onLowered(1);
    for (let n = 0; n < 330; n += 1) chance.onSent();
    chance.onLowered(1);
    expect(chance.isProven).toBe(false);
    chance.onLowered(1);
    expect(chance.isProven).toBe(true);
  });
});
