import type { RunEvent, RunListener } from '../../run/events.ts';
import type { Io } from '../output/io.ts';
import type { Progress, ProgressStart } from './model.ts';

/** Shows the progress of a run. */
export interface ProgressShow {
  readonly listener: RunListener;
  /** Prints a line without disturbing the view. */
  say(text: string): void;
  /** Takes the view off the terminal. */
  end(): void;
}

/** Knows at any time how far a run is. */
export interface ProgressSource {
  take(event: RunEvent, now: number): void;
  /** @param now Unix ms; never before that of the call before */
  progress(now: number): Progress;
}

/**
 * Begins to show how far a run is.
 *
 * @param source what knows it; absent: the events that the view listens to
 */
export type ShowProgress = (
  io: Io,
  run: ProgressStart,
  options: { readonly quiet: boolean },
  source?: ProgressSource,
) => ProgressShow;

/** For a run whose caller listens to its events instead: what must not be missed is said, nothing else. */
export const showNoProgress: ShowProgress = (io) => ({
  listener: () => {},
  say: (text) => io.err(`${text}\n`),
  end: () => {},
});
