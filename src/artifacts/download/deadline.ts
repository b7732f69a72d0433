import { setMaxListeners } from 'node:events';

/** Wall time and waiting, as a run has it; a test's clock jumps. */
export interface DownloadClock {
  /** Unix milliseconds. */
  now(): number;
  /** Calls back once, no sooner than `atMs`; the result cancels it. */
  at(atMs: number, call: () => void): () => void;
}

/** In milliseconds. */
export interface DownloadTimeouts {
  /** The longest wait for the next byte. */
  readonly idleMs: number;
  /** The longest that one download may take. */
  readonly totalMs: number;
}

/** The reason of a signal that a deadline aborted. */
export class TimedOut extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'TimedOut';
  }
}

/** Watches one download. */
export interface Deadline {
  /** Aborted when the caller's signal is, or with a {@link TimedOut}. */
  readonly signal: AbortSignal;
  /** Something arrived: the wait begins again. */
  arrived(): void;
  /** Stops watching. */
  end(): void;
}

/** Starts the watch. Two alarms serve a whole download, however many chunks arrive. */
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
  // One signal serves every download of a run, and each listener is removed with its download: many of them are no leak.
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
