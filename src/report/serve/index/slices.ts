import { setImmediate as nextTurn } from 'node:timers/promises';

/** How long one piece of work may hold up the others, in ms. */
const sliceMs = 8;

/** Long work in pieces: between two of them everybody else who waits for the same thread has a turn. */
export class Slices {
  #until = performance.now() + sliceMs;

  /** Gives way where this piece has lasted long enough. */
  async breathe(): Promise<void> {
    if (performance.now() < this.#until) return;
    await nextTurn();
    this.#until = performance.now() + sliceMs;
  }
}
