import type { Clock } from '../clock.ts';
import type { MemoryReading, RunEvent } from '../events.ts';
import type { DiskSpace } from './disk-space.ts';

const everyMs = 60_000;

/** Calls a function once a minute. @returns a function that stops the calls */
export function everyMinute(clock: Clock, call: () => void): () => void {
  let cancel: (() => void) | undefined;
  const wait = (): void => {
    cancel = clock.at(clock.now() + everyMs, () => {
      // The timer is set first, because the call may stop it.
      wait();
      call();
    });
  };
  wait();
  return () => cancel?.();
}

/** The work of a run that uses memory. */
interface Work {
  readonly requests: number;
  readonly inMemory: { readonly jobs: number; readonly cells: number };
}

/**
 * Watches the disk and the memory of the machine, where there is a port for either.
 *
 * @param guard reports exceptions as bugs
 * @returns a function that ends the watch; undefined where nothing is watched
 */
export function watchMachine(
  { clock, memory }: { readonly clock: Clock; readonly memory?: () => MemoryReading },
  disk: DiskSpace | undefined,
  work: Work,
  emit: (event: RunEvent) => void,
  guard: (work: () => void) => void,
): (() => void) | undefined {
  if (memory === undefined && disk === undefined) return undefined;
  return everyMinute(clock, () =>
    guard(() => {
      disk?.look();
      if (memory !== undefined)
        emit({ type: 'run:memory', requests: work.requests, ...work.inMemory, ...memory() });
    }),
  );
}
