import type { Clock } from '../ports.ts';

/**
 * What the process holds, and what of that are answers; in bytes. A run bounds what it holds by its limits:
 *
 * - answers: the bound of the client's pool and one largest answer, besides 64 KiB and a chunk for each of
 *   `limits.requests`; an answer that has come whole is parsed alone
 * - cells: `tasks` whose tasks are made or waited for, and `2 × (tasks + requests)` whose images come in; where cells share
 *   jobs, as many as the frontier opens
 * - jobs: those of the open cells
 */
export interface MemoryReading {
  /** All of the process that is in the machine's memory. */
  readonly rssBytes: number;
  /** Used by objects and texts. */
  readonly heapBytes: number;
  /** Outside of the heap, array buffers among them. */
  readonly externalBytes: number;
  readonly arrayBufferBytes: number;
  /** Answers that are being read, without the first 64 KiB of each: now, and the most since the run began. */
  readonly answerBytes: number;
  readonly mostAnswerBytes: number;
  /** Answers whose reading waits for room. */
  readonly answersWaiting: number;
}

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
