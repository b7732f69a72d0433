import type { Clock } from '../../run/clock.ts';

/** Longest wait that a timer of Node.js knows; longer ones end at once. */
const longestMs = 2 ** 31 - 1;

/**
 * Wall time that never goes back. When the machine's clock is set back, time continues from the last reading; otherwise a
 * waiting job would wait twice. A jump forwards (a machine that slept) is accepted.
 *
 * @param read the machine's clock, Unix ms
 */
export function steadyClock(read: () => number): Clock {
  let latest = Number.NEGATIVE_INFINITY;
  let lead = 0;
  const now = (): number => {
    const wall = read() + lead;
    if (wall < latest) lead += latest - wall;
    else latest = wall;
    return latest;
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

/** The clock of this machine. Its timers keep the process alive: a run that waits is not at its end. */
export const wallClock: Clock = steadyClock(Date.now);
