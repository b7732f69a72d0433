import { printableText } from '../../pipeline/diagnostics/terminal-text.ts';
import type { Io } from './io.ts';
import type { Redactor } from './redact.ts';

/** An {@link Io} that writes texts as they are: the process, or what a test puts in its place. */
export type RawIo = Omit<Io, 'data'>;

/**
 * An {@link Io} whose texts hold no secret, and nothing that a terminal obeys but for line ends, tabs and, where colours are
 * wanted, the colours that this program paints with. What files, names, variables and services say stands in nearly every text:
 * here all of them pass, so that no command can forget it. JSON of one line is otherwise left as it is. The frames of a view
 * keep their cursor movements.
 *
 * @param redactor may learn of secrets later
 */
export function safeIo(io: RawIo, { apply, applyToData }: Pick<Redactor, 'apply' | 'applyToData'>): Io {
  const { ask, terminal } = io;
  const plain = (text: string): string => printableText(text, { colors: io.colors });
  const words = (text: string): string => plain(apply(text));
  return {
    ...io,
    out: (text) => io.out(words(text)),
    data: (text) => io.out(plain(applyToData(text))),
    err: (text) => io.err(words(text)),
    ...(terminal && { terminal: { ...terminal, draw: (frame) => terminal.draw(apply(frame)) } }),
    ...(ask && { ask: (question) => ask(words(question)) }),
  };
}
