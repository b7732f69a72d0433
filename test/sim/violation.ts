/** A broken promise. */
export class Violation extends Error {}
