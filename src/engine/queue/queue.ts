/** The right of this worker to take a slice next. */
export interface Turn {
  readonly run: number;
  readonly slice: number;
}

/**
 * Decides which worker takes which slice, and nothing more: a queue may lose a slice, or give it to two workers at once. The epoch in the
 * state makes sure that only one worker owns a slice. Each method may reject while the queue is unavailable: it is called again later, and
 * workers keep their slices.
 */
export interface SliceQueue {
  /**
   * Takes a free slice of a run, or undefined where there is none now; does not wait. The state says whether the slice is done or the run
   * has ended.
   *
   * @param session of this worker: slices whose files it lacks are skipped, where the queue can choose
   */
  take(run: number, session?: number): Promise<Turn | undefined>;
  /**
   * Renews the leases of these slices; to be called every third of the lease.
   *
   * @returns the slices that this worker has lost: others may have taken them
   */
  keep(turns: readonly Turn[]): Promise<readonly Turn[]>;
  /** Gives an unfinished slice back; no worker takes it for `delayMs`. */
  giveBack(turn: Turn, delayMs: number): Promise<void>;
  /** Removes a slice that is done by the state. */
  done(turn: Turn): Promise<void>;
  /** Adds slices of the state. A slice that the queue already has stays as it is. */
  feed(run: number, slices: readonly number[]): Promise<void>;
  /** Closes this process's connections for a run that it does not use for now. */
  leave(run: number): Promise<void>;
  /** Removes everything of an ended run. A later invocation feeds it again. */
  remove(run: number): Promise<void>;
  /** Stops taking slices and closes the connections. Slices still held go to others once their lease expires. */
  close(): Promise<void>;
}
