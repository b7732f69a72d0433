import type { Clock } from '../run/ports.ts';

/** Longest wait that a timer of Node.js knows; longer ones end at once. */
const longestMs = 2 ** 31 - 1;

/** The wall clock. Its timers keep the process alive: a run that waits is not at its end. */
export const wallClock: Clock = {
  now: Date.now,
  at: (atMs, call) => {
    let timer: NodeJS.Timeout;
    const wait = (): void => {
      const left = atMs - Date.now();
      timer = left > longestMs ? setTimeout(wait, longestMs) : setTimeout(call, Math.max(0, left));
    };
    wait();
    return () => clearTimeout(timer);
  },
};
