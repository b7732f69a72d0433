/** Longest time in ms for which a piece of work may block all others. */
const pieceMs = 8;

/**
 * Splits long work into pieces, so that other work on the thread runs between them, above all signal handlers. The split depends on time
 * and never changes results.
 */
export class Turns {
  #until = performance.now() + pieceMs;

  /** Whether the current piece has lasted long enough. For loops in which a promise per round would be too slow. */
  get isOver(): boolean {
    return performance.now() >= this.#until;
  }

  /** Lets other work run if the current piece has lasted long enough. @throws the signal's reason when it is aborted */
  async next(signal?: AbortSignal): Promise<void> {
    if (!this.isOver) return;
    await nextTurn(signal);
    this.#until = performance.now() + pieceMs;
  }
}

/** Lets other work run. @throws the signal's reason when it is aborted */
export async function nextTurn(signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve) => {
    setImmediate(resolve);
  });
  signal?.throwIfAborted();
}
