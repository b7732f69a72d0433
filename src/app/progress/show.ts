import type { RunEvent, RunListener } from '../../run/events.ts';
import type { Io } from '../output/io.ts';
import type { Progress, ProgressStart } from './model.ts';

/** A view of the progress of a run. */
export interface ProgressShow {
  readonly listener: RunListener;
  /** Prints a line without disturbing the view. */
  say(text: string): void;
  /** Removes the view from the terminal. */
  end(): void;
}

/** A source of the progress of a run. */
export interface ProgressSource {
  take(event: RunEvent, now: number): void;
  /** Returns the progress now. @param now Unix ms; never before that of the previous call */
  progress(now: number): Progress;
}

/**
 * Starts to show the progress of a run.
 *
 * @param source of the progress; absent: the view counts events itself
 */
export type ShowProgress = (
  io: Io,
  run: ProgressStart,
  options: { readonly quiet: boolean },
  source?: ProgressSource,
) => ProgressShow;

/** Prints only important messages, for a caller that listens to the events of the run instead. */
export const showNoProgress: ShowProgress = (io) => ({
  listener: () => {},
  say: (text) => io.err(`${text}\n`),
  end: () => {},
});
