import { expect, it } from 'vitest';
import { watchUnconfirmed } from '../../../../src/app/engine/lead/find.ts';

/** A clock whose one alarm is rung by the test. */
function ringing() {
  let alarm: (() => void) | undefined;
  return {
    now: () => 0,
    at: (_: number, ring: () => void) => {
      alarm = ring;
      return () => {
        alarm = undefined;
      };
    },
    isSet: () => alarm !== undefined,
    ring: async (): Promise<void> => {
      const rung = alarm;
      alarm = undefined;
      rung?.();
      for (let turns = 0; turns < 5; turns++) await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

it('the tasks of jobs in doubt are searched only when more jobs are in doubt', async () => {
  const clock = ringing();
  const counts: (number | Error)[] = [2, 2, 5, 5, new Error('away'), 3, 4];
  const searchedAt: number[] = [];
  const inDoubt = (): Promise<number> => {
    const next = counts.shift();
    return next === undefined || next instanceof Error
      ? Promise.reject(next ?? new Error('x'))
      : Promise.resolve(next);
  };
  const end = watchUnconfirmed(inDoubt, () => Promise.resolve(searchedAt.push(counts.length)), clock, 5000);
  await clock.ring();
  while (counts.length > 0) await clock.ring();
  // When 5 were in doubt, and when 4 were after 3.
  expect(searchedAt).toEqual([4, 0]);
  expect(clock.isSet()).toBe(true);
  await end();
  expect(clock.isSet()).toBe(false);
});
