/** A slice whose turn it is for this worker. */
export interface Turn {
  readonly run: number;
  readonly slice: number;
}

/**
 * Says whose turn a slice is, and nothing more: a queue may lose a slice, or give it to two workers at once. That a slice is nobody else's
 * is a matter of its epoch in the state. Each verb may reject where the queue is away: it is tried again later, and whoever has a slice
 * goes on.
 */
export interface SliceQueue {
  /**
   * Takes a slice of a run that nobody has; undefined: there is none now. It does not wait for one. Whether the slice is done, or the
   * run over, the state says.
   *
   * @param session of this worker: slices of which it lacks files are passed over, where the queue can choose
   */
  take(run: number, session?: number): Promise<Turn | undefined>;
  /**
   * Says that this worker is still at work on these slices; to be said every third of the lease.
   *
   * @returns those that are not its own any more: others may have taken them
   */
  keep(turns: readonly Turn[]): Promise<readonly Turn[]>;
  /** Gives a slice back that is not done; nobody takes it for so long, ms. */
  giveBack(turn: Turn, delayMs: number): Promise<void>;
  /** The slice is done, and the state says so. */
  done(turn: Turn): Promise<void>;
  /** Adds slices that the state has. One that the queue knows stays as it is. */
  feed(run: number, slices: readonly number[]): Promise<void>;
  /** This process has nothing more to do with a run for now: connections of its own for that run are closed. */
  leave(run: number): Promise<void>;
  /** The run is over: nothing of it stays in the queue. What comes later feeds it anew. */
  remove(run: number): Promise<void>;
  /** Takes no more slices, and lets go of the connections. What is held falls to others once its lease is over. */
  close(): Promise<void>;
}
