import { createHash } from 'node:crypto';

/**
 * How many submissions of a run on an engine its workers have counted, kept beside the results: a database that knows of fewer is older than
 * its run. Each worker writes one of a few files, whichever has room for its name; each of them is a lower bound of the whole, so that the
 * highest one counts.
 */
export interface SubmissionCounts {
  /** What the highest of them says; 0 where there is none. @throws SaveError, StateError, the error of the file system */
  highest(): Promise<number>;
  /** Says a higher number in the file of a worker; a lower one changes nothing. @throws as `highest` */
  raise(worker: string, value: number): Promise<void>;
}

/** Names of the files in a run directory: 16, however many workers come and go. */
export const countNames: readonly string[] = Array.from(
  { length: 16 },
  (_, n) => `submissions-${n.toString(16)}`,
);

/** The file that a worker writes. */
export const countNameOf = (worker: string): string =>
  `submissions-${createHash('sha256').update(worker).digest('hex').slice(0, 1)}`;

/** Far below what any disk writes at once. */
const digits = 16;

/** Bytes of a count, and one more, by which a longer text is known. */
export const countBytes = digits + 2;

/** A count as it is written. */
export const countText = (value: number): string => `${String(value).padStart(digits, '0')}\n`;

/** Reads what {@link countText} wrote; a power cut leaves a new file empty, or filled with zero bytes. @returns undefined where it is no count */
export function countOf(text: string): number | undefined {
  if (/^\0*$/.test(text)) return 0;
  return /^\d{16}\n$/.test(text) ? Number(text) : undefined;
}
