import type { RunEnd } from '../events.ts';

/** The reason why the main loop of a run ends. */
export type EngineExit =
  /** All decisions are durable. */
  | { readonly kind: 'settled'; readonly end: RunEnd }
  /** The user ended the run at once. */
  | { readonly kind: 'left'; readonly end: RunEnd }
  /** A commit could not be made durable. */
  | { readonly kind: 'failed'; readonly end: RunEnd }
  | { readonly kind: 'bug'; readonly bug: unknown };

interface Control {
  readonly drain: AbortSignal;
  readonly leave: AbortSignal;
  readonly onEnd?: (listener: (end: RunEnd) => void) => () => void;
}

/** The end of a run at the first signal. */
export const drained: RunEnd = { kind: 'interrupted', forced: false };

/**
 * Watches for signals and events that end a run from outside.
 *
 * @param drain called when nothing new is to begin
 * @param leave called when the run is to be left at once
 * @returns a function that ends the watch
 */
export function watchControl(control: Control, drain: (end: RunEnd) => void, leave: () => void): () => void {
  const onDrain = (): void => drain(drained);
  control.drain.addEventListener('abort', onDrain, { once: true });
  control.leave.addEventListener('abort', leave, { once: true });
  const unwatch = control.onEnd?.(drain);
  return () => {
    control.drain.removeEventListener('abort', onDrain);
    control.leave.removeEventListener('abort', leave);
    unwatch?.();
  };
}
