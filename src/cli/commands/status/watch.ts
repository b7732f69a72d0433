import type { Disposables } from '../../../app/adapters/disposables.ts';
import type { Context } from '../../../app/context.ts';
import type { InterruptName, Io, Terminal } from '../../../app/output/io.ts';
import { columnsOf, cut } from '../../../pipeline/diagnostics/columns.ts';
import { printable } from '../../../pipeline/diagnostics/terminal-text.ts';
import { count, money, rateWords } from '../../../report/text/amounts.ts';
import { type RunStatus, statusNumbers } from '../../../report/text/status/status.ts';
import { wallClock } from '../../adapters/clock.ts';
import { Screen } from '../../terminal/progress/screen.ts';

const everyMs = 2_000;

/**
 * Shows a status every two seconds until its run ends or a signal comes. A terminal shows the current text; other outputs get a timed
 * line whenever the counts change.
 *
 * @param textOf formats the status for users
 * @returns the signal that ended it; undefined if the run has ended or none is active
 */
export async function watchStatus(
  read: () => Promise<RunStatus>,
  textOf: (status: RunStatus) => Promise<string>,
  { io }: Context,
  disposables: Disposables,
): Promise<InterruptName | undefined> {
  const interrupts = io.interrupts();
  disposables.add(() => interrupts.stop());
  // Keeps the process alive, which the timer of the terminal does not.
  disposables.add(wallClock.at(Number.MAX_SAFE_INTEGER, () => {}));
  const { terminal } = io;
  const err = (text: string): void => io.err(text);
  const screen = terminal && new Screen((frame) => terminal.draw(frame), err);
  disposables.add(() => screen?.clear());
  let last = '';
  for (;;) {
    const status = await read();
    const name = interrupts.first();
    if (!status.running || name !== undefined) {
      screen?.clear();
      return status.running ? name : undefined;
    }
    if (screen !== undefined && terminal !== undefined) {
      screen.draw(viewOf(await textOf(status), terminal));
    } else {
      const words = statusLine(status);
      if (words !== last) err(`${new Date(io.now()).toISOString()} ${words}\n`);
      last = words;
    }
    await nextTick(io, interrupts.drain);
  }
}

const nextTick = (io: Pick<Io, 'every'>, interrupted: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (interrupted.aborted) return resolve();
    const stop = io.every(everyMs, () => end());
    const end = (): void => {
      stop();
      interrupted.removeEventListener('abort', end);
      resolve();
    };
    interrupted.addEventListener('abort', end, { once: true });
  });

/** Cuts a text to the window: lines outside of it cannot be redrawn, and a full line would wrap. */
function viewOf(text: string, { columns, rows }: Pick<Terminal, 'columns' | 'rows'>): readonly string[] {
  const lines = text.trimEnd().split('\n').map(printable);
  const most = Math.max(2, rows() - 1);
  const hidden = lines.length - most + 1;
  const shown =
    hidden <= 1 ? lines : [...lines.slice(0, most - 1), `and ${count(hidden)} more lines, shown at the end`];
  const width = columns() - 1;
  return shown.map((line) => (columnsOf(line) <= width ? line : cut(line, width)));
}

/** Formats the counts of a status: `12 done, 3 under way, 1 failed; 37 jobs/min; cost 1.20`. */
function statusLine(status: RunStatus): string {
  const { perMinute, cost } = status;
  return [
    statusNumbers(status).join(', '),
    ...(perMinute === undefined || perMinute === 0 ? [] : [rateWords(perMinute)]),
    ...(cost === undefined ? [] : [`cost ${money(cost)}`]),
  ].join('; ');
}
