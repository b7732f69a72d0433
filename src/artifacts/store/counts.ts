import { createHash } from 'node:crypto';

/**
 * Counts of submissions that the workers of a run on an engine keep beside the results: a database that knows fewer is older than its
 * run. Each worker writes one of a few files, by its name. Each file is a lower bound of the whole, so that the highest one counts.
 */
export interface SubmissionCounts {
  /** Returns the highest count; 0 if there is none. @throws SaveError, StateError, the error of the file system */
  highest(): Promise<number>;
  /** Writes a higher number to a worker's file; a lower one changes nothing. @throws as `highest` */
  raise(worker: string, value: number): Promise<void>;
}

/** Names of the files in a run directory: 16, however many workers join and leave. */
export const countNames: readonly string[] = Array.from(
  { length: 16 },
  (_, n) => `submissions-${n.toString(16)}`,
);

/** Returns the name of the file that a worker writes. */
export const countNameOf = (worker: string): string =>
  `submissions-${createHash('sha256').update(worker).digest('hex').slice(0, 1)}`;

/** Digits of a count: far fewer than any disk writes at once. */
const digits = 16;

/** Bytes of a count and one more, so that a longer text is noticed. */
export const countBytes = digits + 2;

/** Returns the text of a count. */
export const countText = (value: number): string => `${String(value).padStart(digits, '0')}\n`;

/** Reads a text of {@link countText}. A power cut leaves a new file empty, or full of zero bytes. @returns undefined if not a count */
export function countOf(text: string): number | undefined {
  if (/^\0*$/.test(text)) return 0;
  return /^\d{16}\n$/.test(text) ? Number(text) : undefined;
}
