import type { Io } from '../../app/output/io.ts';

/** An {@link Io} that buffers standard error. */
export interface BufferedIo {
  readonly io: Io;
  /** Prints the buffered text, and from now on all text at once. */
  flush(): void;
}

/** Buffers standard error until the first flush or question (`--quiet`). */
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
