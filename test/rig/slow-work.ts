import { vi } from 'vitest';

/** Time, as code asks for it, that stands still but for work that says it is slow: each piece then takes longer than one may last. */
export function slowWork(): {
  readonly work: () => void;
  readonly abortAfter: (count: number) => AbortSignal;
  readonly done: () => number;
} {
  let now = 0;
  let done = 0;
  const heard = new AbortController();
  let heardAfter = Number.POSITIVE_INFINITY;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  return {
    work: () => {
      now += 100;
      done += 1;
      // As a signal is: it waits for a turn of the event loop.
      if (done === heardAfter) setImmediate(() => heard.abort(new Error('heard')));
    },
    abortAfter: (count) => {
      heardAfter = count;
      return heard.signal;
    },
    done: () => done,
  };
}
