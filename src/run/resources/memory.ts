import type { Clock } from '../clock.ts';

const everyMs = 60_000;

/** Calls once a minute until the result is called. */
export function everyMinute(clock: Clock, call: () => void): () => void {
  let cancel: (() => void) | undefined;
  const wait = (): void => {
    cancel = clock.at(clock.now() + everyMs, () => {
      // The next minute first: the call may end the watch.
      wait();
      call();
    });
  };
  wait();
  return () => cancel?.();
}
