/** How long one piece of work may hold up all others, in ms. */
const pieceMs = 8;

/**
 * Long work in pieces: between two of them all else that waits for the thread has its turn, above all signals. Where pieces are cut is a
 * matter of time, never of results.
 */
export class Turns {
  #until = performance.now() + pieceMs;

  /** True once this piece has lasted long enough: asked in loops that cannot afford a promise each time. */
  get isOver(): boolean {
    return performance.now() >= this.#until;
  }

  /** Gives way where this piece has lasted long enough. @throws the signal's reason when it is aborted */
  async next(signal?: AbortSignal): Promise<void> {
    if (!this.isOver) return;
    await nextTurn(signal);
    this.#until = performance.now() + pieceMs;
  }
}

/** Lets other work have a turn. @throws the signal's reason when it is aborted */
export async function nextTurn(signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve) => {
    setImmediate(resolve);
  });
  signal?.throwIfAborted();
}
