import { expect, it } from 'vitest';
import { WindowCharge } from '../../../src/run/limits/window-charge.ts';

it('counts an amount until it has left the window, and says when that is', () => {
  const charge = new WindowCharge(1000);
  for (const at of [0, 100, 200]) charge.add(at, 1);
  expect([charge.at(200), charge.at(999), charge.at(1000), charge.at(1100)]).toEqual([3, 3, 2, 1]);
  expect([charge.downTo(0, 1100), charge.downTo(1, 1100)]).toEqual([1200, Number.NEGATIVE_INFINITY]);
  const calls = new WindowCharge(60_000);
  const charged = calls.add(0, 500);
  calls.change(charged, -200);
  expect(calls.at(1)).toBe(300);
  expect(calls.at(60_000)).toBe(0);
  calls.change(charged, 1000);
  expect(calls.at(60_000)).toBe(0);
});

it('counts nothing for longer than a window where the clock is set back', () => {
  const charge = new WindowCharge(1000);
  charge.add(3_600_000, 5);
  expect(charge.at(3_600_500)).toBe(5);
  expect(charge.at(100)).toBe(5);
  expect(charge.at(1100)).toBe(0);
});
