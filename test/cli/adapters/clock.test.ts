import { describe, expect, it, vi } from 'vitest';
import { steadyClock } from '../../../src/cli/adapters/clock.ts';

const hour = 3_600_000;

/** A machine whose clock is set, and which sleeps. */
function machine() {
  const at = { wall: 1_000_000_000_000, elapsed: 5_000_000, uptime: 90_000 as number | undefined };
  return {
    at,
    pass: (ms: number) => {
      at.wall += ms;
      at.elapsed += ms;
      if (at.uptime !== undefined) at.uptime += ms / 1000;
    },
    sleep: (ms: number) => {
      at.wall += ms;
      if (at.uptime !== undefined) at.uptime += ms / 1000;
    },
    set: (byMs: number) => {
      at.wall += byMs;
    },
    clock: steadyClock({ wall: () => at.wall, elapsed: () => at.elapsed, uptime: () => at.uptime }),
  };
}

describe('the clock of a process', () => {
  it.each([-2 * hour, 2 * hour, -24 * hour * 365, 1500])(
    'ignores that the system clock is set by %d ms',
    (byMs) => {
      const { clock, pass, set } = machine();
      const start = clock.now();
      pass(700);
      set(byMs);
      expect(clock.now() - start).toBe(700);
      pass(60_000);
      expect(clock.now() - start).toBe(60_700);
      set(-byMs);
      pass(10);
      expect(clock.now() - start).toBe(60_710);
    },
  );

  it('begins with the time of the system clock', () => {
    const { clock, at } = machine();
    expect(clock.now()).toBe(at.wall);
  });

  it('counts time of sleep, unless the system does not tell', () => {
    const { clock, pass, sleep, set } = machine();
    const start = clock.now();
    pass(2000);
    sleep(8 * hour);
    pass(1000);
    expect(clock.now() - start).toBe(8 * hour + 3000);
    set(-8 * hour);
    pass(5000);
    expect(clock.now() - start).toBe(8 * hour + 8000);

    const untold = machine();
    untold.at.uptime = undefined;
    const clock2 = steadyClock({
      wall: () => untold.at.wall,
      elapsed: () => untold.at.elapsed,
      uptime: () => undefined,
    });
    const begun = clock2.now();
    untold.pass(1000);
    untold.sleep(hour);
    expect(clock2.now() - begun).toBe(1000);
  });

  it('never goes back when the uptime counts whole seconds', () => {
    const { at, pass, sleep } = machine();
    const clock = steadyClock({
      wall: () => at.wall,
      elapsed: () => at.elapsed,
      uptime: () => Math.floor(at.uptime ?? 0),
    });
    const start = clock.now();
    for (let n = 1; n <= 300; n += 1) {
      pass(333);
      expect(clock.now() - start).toBe(n * 333);
    }
    // Nor after the machine has slept, and slept again.
    for (const ms of [10_000, hour]) {
      sleep(ms);
      pass(1000);
      const woken = clock.now();
      for (let n = 1; n <= 300; n += 1) {
        pass(333);
        expect(clock.now() - woken).toBe(n * 333);
      }
    }
    expect(Math.abs(clock.now() - at.wall)).toBeLessThanOrEqual(2000);
  });

  it('calls at a time that is further away than any timer, unless it is cancelled', () => {
    vi.useFakeTimers();
    try {
      const clock = steadyClock({ wall: Date.now, elapsed: Date.now, uptime: () => undefined });
      const ms = 2.5 * 2 ** 31;
      const called: string[] = [];
      clock.at(clock.now() + ms, () => called.push('kept'));
      const cancel = clock.at(clock.now() + ms, () => called.push('cancelled'));
      clock.at(clock.now() - 1, () => called.push('past'));
      vi.advanceTimersByTime(ms - 1);
      expect(called).toEqual(['past']);
      cancel();
      vi.advanceTimersByTime(ms);
      expect(called).toEqual(['past', 'kept']);
    } finally {
      vi.useRealTimers();
    }
  });
});
