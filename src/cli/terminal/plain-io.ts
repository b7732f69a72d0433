import { printableText } from '../../pipeline/diagnostics/terminal-text.ts';
import type { Io } from './io.ts';

/**
 * An {@link Io} whose texts hold nothing that a terminal obeys, but for line ends, tabs and, where colours are wanted, the
 * colours that this program paints with. What files, names, variables and services say stands in nearly every text: here all
 * of them pass, so that no command can forget it. JSON of one line is left as it is. A view's frames do not pass here.
 */
export function plainIo(io: Io): Io {
  const { ask } = io;
  const plain = (text: string): string => printableText(text, { colors: io.colors });
  return {
    ...io,
    out: (text) => io.out(plain(text)),
    err: (text) => io.err(plain(text)),
    ...(ask === undefined ? {} : { ask: (question) => ask(plain(question)) }),
  };
}
