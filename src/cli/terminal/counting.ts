import type { Io } from '../../app/output/io.ts';
import { Screen } from './progress/screen.ts';

const redrawMs = 200;
const sentenceMs = 10_000;

/**
 * Shows on standard error how far a command is: on a terminal one line that is drawn over, else a line now and then.
 *
 * @param text one line of what is known at the moment
 * @returns takes it off the terminal; called once
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
