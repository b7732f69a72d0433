import { describe, expect, it } from 'vitest';
import { steadyClock } from '../../../src/cli/adapters/clock.ts';

describe('steadyClock', () => {
  it('continues at the same pace when the machine’s clock is set back, and follows a jump forwards', () => {
    const wall = [1000, 1500, 400, 450, 900, 99_000];
    const clock = steadyClock(() => wall.shift() ?? 0);
    expect(Array.from({ length: 6 }, () => clock.now())).toEqual([1000, 1500, 1500, 1550, 2000, 100_100]);
  });
});
