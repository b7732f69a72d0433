import type { Io } from '../../app/output/io.ts';
import { Screen } from './progress/screen.ts';

const redrawMs = 200;
const sentenceMs = 10_000;

/**
 * Shows the progress of a command on standard error: on a terminal as one line that is redrawn, else as a line from time to time.
 *
 * @param text returns the current progress in one line
 * @returns a function that removes the line; call it once
 */
export function showCounting(io: Pick<Io, 'terminal' | 'err' | 'every'>, text: () => string): () => void {
  const { terminal } = io;
  if (terminal === undefined) return io.every(sentenceMs, () => io.err(`${text()}\n`));
  const screen = new Screen(
    (frame) => terminal.draw(frame),
    (said) => io.err(said),
  );
  const stop = io.every(redrawMs, () => screen.draw([text().slice(0, Math.max(1, terminal.columns() - 1))]));
  return () => {
    stop();
    screen.clear();
  };
}
