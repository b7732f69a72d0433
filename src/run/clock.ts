/** The time and waiting. Setting the machine's clock does not change it while a process runs; the clock of a test jumps. */
export interface Clock {
  /** Unix milliseconds. */
  now(): number;
  /** Calls back once, no sooner than `atMs`; the result cancels it. */
  at(atMs: number, call: () => void): () => void;
}
