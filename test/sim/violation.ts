/** A broken promise. */
export class BrokenPromise extends Error {}
