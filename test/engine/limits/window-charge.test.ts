import { expect, it } from 'vitest';
import { fairShare, type Member } from '../../../src/engine/limits/divide.ts';
import { WindowCharge } from '../../../src/engine/limits/window-charge.ts';

it('charges what was used until it has left the window, and says when that is', () => {
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

it('charges nothing for longer than a window where the clock is set back', () => {
  const charge = new WindowCharge(1000);
  charge.add(3_600_000, 5);
  expect(charge.at(3_600_500)).toBe(5);
  expect(charge.at(100)).toBe(5);
  expect(charge.at(1100)).toBe(0);
});

const member = (id: string, want: number, more: Partial<Member> = {}): Member => ({
  id,
  want,
  unit: 1,
  granted: 1,
  forMs: 60_000,
  ...more,
});
const parts = (limit: number, members: readonly Member[]): readonly number[] =>
  members.map(({ id }) => fairShare(limit, members, id));

it('divides a limit by demand, each its unit first, and no more than there is', () => {
  expect(parts(10, [member('a', 10), member('b', 10), member('c', 10)])).toEqual([3, 3, 4]);
  expect(parts(10, [member('a', 2), member('b', 10), member('c', 10)])).toEqual([2, 4, 4]);
  // Of what nobody wants, whoever wants nothing has one to begin with.
  expect(parts(10, [member('a', 0), member('b', 5)])).toEqual([1, 5]);
  expect(parts(5, [member('a', 0), member('b', 5)])).toEqual([0, 5]);
});

it('lets workers take turns where there is not a unit for each', () => {
  const old = member('a', 5);
  const waits = member('b', 5, { granted: 0, forMs: 3000 });
  const waitsLonger = member('c', 5, { granted: 0, forMs: 9000 });
  const young = member('d', 5, { forMs: 500 });
  expect(parts(1, [old, waits, waitsLonger, young])).toEqual([0, 0, 0, 1]);
  expect(parts(2, [old, waits, waitsLonger, young])).toEqual([0, 0, 1, 1]);
  expect(parts(3, [old, waits, waitsLonger, young])).toEqual([0, 1, 1, 1]);
  // Calls of many tokens: one at a time, and the small one beside it.
  const calls = ['a', 'b', 'c'].map((id) =>
    member(id, 100, { unit: 60, granted: id === 'a' ? 60 : 0, forMs: 100 }),
  );
  expect(parts(100, [...calls, member('d', 100, { unit: 30, granted: 0, forMs: 50 })])).toEqual([
    65, 0, 0, 35,
  ]);
});
