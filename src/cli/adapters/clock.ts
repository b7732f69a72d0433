import { uptime } from 'node:os';
import type { Clock } from '../../run/clock.ts';

/** Longest wait that a timer of Node.js knows; longer ones end at once. */
const longestMs = 2 ** 31 - 1;

/** How often it is asked whether the machine has slept, ms. */
const askMs = 1000;

/** The uptime of some systems counts whole seconds. */
const leastSleepMs = 2000;

/** What the time is read from. */
export interface TimeSources {
  /** The machine's clock, Unix ms, which somebody may set. */
  readonly wall: () => number;
  /** Ms since whenever, never going back, whatever is done to the clock. A machine that sleeps may stop it. */
  readonly elapsed: () => number;
  /** The same with the time that the machine slept, in s; undefined where the system does not tell. */
  readonly uptime: () => number | undefined;
}

const ofMachine: TimeSources = {
  wall: Date.now,
  elapsed: () => performance.now(),
  uptime: () => {
    try {
      return uptime();
    } catch {
      // Some systems keep it from programs: there a sleep takes no time.
      return undefined;
    }
  },
};

/**
 * The time that begins as the machine's clock says, and goes on by what passes: setting the clock makes no wait longer or shorter, and
 * no duration wrong. The time that the machine sleeps counts.
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

/** The clock of this process. Its timers keep the process alive: a run that waits is not at its end. */
export const wallClock: Clock = steadyClock();
