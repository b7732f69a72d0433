import { expect, test, vi } from 'vitest';
import { systemTimer, TimeOut } from '../../../src/service/http/timeout.ts';

/** A clock and the timers on it; each timer as the bound that it was set with. */
function started(ms: number) {
  let now = 0;
  let expired = 0;
  const set: number[] = [];
  let timer: { readonly at: number; readonly expire: () => void } | undefined;
  const timeOut = new TimeOut(
    ms,
    (bound, expire) => {
      set.push(bound);
      const own = { at: now + bound, expire };
      timer = own;
      return () => {
        if (timer === own) timer = undefined;
      };
    },
    () => now,
    () => {
      expired += 1;
    },
  );
  const pass = (some: number): number => {
    now += some;
    if (timer !== undefined && timer.at <= now) {
      const { expire } = timer;
      timer = undefined;
      expire();
    }
    return expired;
  };
  return { timeOut, set, pass };
}

test('a time-out expires once, after its time', () => {
  const { pass } = started(1000);
  expect([pass(999), pass(1), pass(9999)]).toEqual([0, 1, 1]);
});

test('a time-out does not count the time in which the service waits for us', async () => {
  const { timeOut, set, pass } = started(1000);
  pass(400);
  let go = (): void => {};
  const wait = timeOut.except(
    new Promise((resolve) => {
      go = resolve;
    }),
  );
  expect(pass(50_000)).toBe(0);
  go();
  await wait;
  expect(set).toEqual([1000, 600]);
  expect([pass(599), pass(1)]).toEqual([0, 1]);
});

test('a time-out continues after a failed wait, with the rest of its time', async () => {
  const { timeOut, set, pass } = started(1000);
  pass(300);
  await expect(timeOut.except(Promise.reject(new Error('stop')))).rejects.toThrow('stop');
  pass(300);
  await timeOut.except(Promise.resolve());
  expect(set).toEqual([1000, 700, 400]);
});

test('a time-out can be restarted with another limit, and ended', () => {
  const { timeOut, set, pass } = started(1000);
  pass(900);
  timeOut.restart(200);
  expect([pass(199), pass(1)]).toEqual([0, 1]);
  timeOut.restart(50);
  timeOut.end();
  expect(pass(9999)).toBe(1);
  expect(set).toEqual([1000, 200, 50]);
});

test('a time that no timer of the system can hold is replaced by the longest possible', () => {
  vi.useFakeTimers();
  try {
    let expired = 0;
    const cancel = systemTimer(2 ** 40, () => {
      expired += 1;
    });
    vi.advanceTimersByTime(2 ** 31 - 2);
    expect(expired).toBe(0);
    vi.advanceTimersByTime(1);
    expect(expired).toBe(1);
    cancel();
    systemTimer(1000, () => {
      expired += 1;
    })();
    vi.advanceTimersByTime(5000);
    expect(expired).toBe(1);
  } finally {
    vi.useRealTimers();
  }
});
