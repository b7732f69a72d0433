import { setMaxListeners } from 'node:events';

/** The clock and timer of a run; tests replace them. */
export interface DownloadClock {
  /** Returns the time in Unix milliseconds. */
  now(): number;
  /** Calls back once, no sooner than `atMs`; the result cancels it. */
  at(atMs: number, call: () => void): () => void;
}

/** Time limits of a download, in milliseconds. */
export interface DownloadTimeouts {
  /** Longest wait for the next byte. */
  readonly idleMs: number;
  /** Longest time of one download. */
  readonly totalMs: number;
}

/** The reason of a signal that a deadline aborted. */
export class TimedOut extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'TimedOut';
  }
}

/** The deadline of one download. */
export interface Deadline {
  /** Aborted when the caller's signal is, or with a {@link TimedOut}. */
  readonly signal: AbortSignal;
  /** Starts the wait again, because bytes arrived. */
  arrived(): void;
  /** Stops watching. */
  end(): void;
}

/** Starts a deadline. Two alarms serve a whole download, however many chunks arrive. */
export function startDeadline(
  clock: DownloadClock,
  timeouts: DownloadTimeouts,
  caller: AbortSignal,
): Deadline {
  const controller = new AbortController();
  const { idleMs, totalMs } = timeouts;
  const abortAsCaller = (): void => controller.abort(caller.reason);
  let last = clock.now();

  const watchIdle = (): (() => void) =>
    clock.at(last + idleMs, () => {
      if (clock.now() - last >= idleMs) {
        controller.abort(new TimedOut(`nothing arrived for ${seconds(idleMs)}`));
      } else {
        cancelIdle = watchIdle();
      }
    });
  let cancelIdle = watchIdle();
  const cancelTotal = clock.at(last + totalMs, () => {
    controller.abort(new TimedOut(`it took longer than ${seconds(totalMs)}`));
  });
  // One signal serves every download of a run, and each listener is removed with its download: many of them are not a leak.
  setMaxListeners(0, caller);
  if (caller.aborted) abortAsCaller();
  else caller.addEventListener('abort', abortAsCaller, { once: true });

  return {
    signal: controller.signal,
    arrived: () => {
      last = clock.now();
    },
    end: () => {
      cancelIdle();
      cancelTotal();
      caller.removeEventListener('abort', abortAsCaller);
    },
  };
}

const seconds = (ms: number): string => `${Math.round(ms / 100) / 10} s`;
