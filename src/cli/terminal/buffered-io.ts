import type { Io } from '../../app/output/io.ts';

/** An {@link Io} that says nothing on standard error before it is allowed to. */
export interface BufferedIo {
  readonly io: Io;
  /** What was held back is said now, and all else at once. */
  flush(): void;
}

/** Holds back what is said on standard error, until there is a reason to say anything (`--quiet`). A question is one. */
export function bufferErrors(io: Io): BufferedIo {
  let held: string[] | undefined = [];
  const { ask } = io;
  const flush = (): void => {
    const texts = held ?? [];
    held = undefined;
    for (const text of texts) io.err(text);
  };
  return {
    io: {
      ...io,
      err: (text) => {
        if (held === undefined) io.err(text);
        else held.push(text);
      },
      ...(ask === undefined
        ? {}
        : {
            ask: (question) => {
              flush();
              return ask(question);
            },
          }),
    },
    flush,
  };
}
