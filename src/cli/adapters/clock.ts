import { uptime } from 'node:os';
import type { Clock } from '../../run/clock.ts';

/** Longest delay of a Node.js timer; longer ones fire at once. */
const longestMs = 2 ** 31 - 1;

/** Milliseconds between two checks whether the machine has slept. */
const askMs = 1000;

/** Shortest sleep that is detected; the uptime of some systems has whole seconds. */
const leastSleepMs = 2000;

/** The clocks of the system. */
export interface TimeSources {
  /** The system clock, Unix ms, which users may change. */
  readonly wall: () => number;
  /** Milliseconds on a clock that never goes back and that nobody can set. It may stop while the machine sleeps. */
  readonly elapsed: () => number;
  /** Seconds on such a clock, including sleep; undefined if the system does not tell. */
  readonly uptime: () => number | undefined;
}

const ofMachine: TimeSources = {
  wall: Date.now,
  elapsed: () => performance.now(),
  uptime: () => {
    try {
      return uptime();
    } catch {
      // Some systems refuse the uptime; their time of sleep is not counted.
      return undefined;
    }
  },
};

/**
 * Returns a clock that starts at the system time and then measures elapsed time, so that setting the system clock changes no wait and no
 * duration. Time of sleep is counted.
 */
export function steadyClock({ wall, elapsed, uptime }: TimeSources = ofMachine): Clock {
  const begun = elapsed();
  const start = wall() - begun;
  const awake = uptime();
  let sleptMs = 0;
  let askedAt = begun;
  const now = (): number => {
    const passed = elapsed();
    if (awake !== undefined && passed - askedAt >= askMs) {
      askedAt = passed;
      const more = ((uptime() ?? awake) - awake) * 1000 - (passed - begun);
      if (more - sleptMs >= leastSleepMs) sleptMs = more;
    }
    return Math.floor(start + passed + sleptMs);
  };
  return {
    now,
    at: (atMs, call) => {
      let timer: NodeJS.Timeout;
      const wait = (): void => {
        const left = atMs - now();
        timer = left > longestMs ? setTimeout(wait, longestMs) : setTimeout(call, Math.max(0, left));
      };
      wait();
      return () => clearTimeout(timer);
    },
  };
}

/** The clock of this process. Its timers keep the process alive while a run waits. */
export const wallClock: Clock = steadyClock();
