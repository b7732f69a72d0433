/** The current time and timers. Setting the machine's clock does not change it while a process runs. Tests replace it. */
export interface Clock {
  /** Unix milliseconds. */
  now(): number;
  /** Calls `call` once, at `atMs` or later. Returns a function that cancels it. */
  at(atMs: number, call: () => void): () => void;
}
