import { printableText } from '../../pipeline/diagnostics/terminal-text.ts';
import type { Io } from './io.ts';
import type { Redactor } from './redact.ts';

/** An {@link Io} that writes text unchanged: that of the process, or a test double. */
export type RawIo = Omit<Io, 'data'>;

/**
 * Returns an {@link Io} that masks secrets and escapes control characters, except line ends, tabs and the program's own colours (where
 * colours are wanted). Nearly every text contains names or words from outside, so that all of them pass through here. JSON of one line is
 * otherwise left unchanged, and the frames of a view keep their cursor movements.
 *
 * @param redactor may learn further secrets later
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
