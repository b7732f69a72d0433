import type { JobStatus } from '../plan/job.ts';
import type { StateReader } from '../state/store.ts';
import { usageError } from './failure.ts';

const statuses = [
  'in-doubt',
  'failed',
  'running',
  'modal',
  'saving',
  'submitting',
  'pending',
  'done',
] as const satisfies readonly JobStatus[];

/** Fewer characters than this name nothing in particular. */
const leastLength = 4;

/**
 * The key of the one job that a user names, by the whole key or by its beginning.
 *
 * @throws CliError (exit 2) when there is none, or more than one
 */
export function findJob(named: string, state: StateReader): string {
  if (state.get(named) !== undefined) return named;
  const found: string[] = [];
  for (const status of named.length < leastLength ? [] : statuses) {
    // In key order: nothing behind the last key with this beginning needs to be read.
    for (const { key } of state.withStatus(status)) {
      if (key.startsWith(named)) found.push(key);
      if (found.length > 1 || key > `${named}\u{10FFFF}`) break;
    }
  }
  const [key, another] = found;
  if (key === undefined) {
    throw usageError(
      `No job has the key "${named}".`,
      'The last column of the manifest has the keys; the beginning of one is enough.',
    );
  }
  if (another !== undefined) {
    throw usageError(`Several jobs have keys that begin with "${named}": ${found.slice(0, 2).join(', ')}.`);
  }
  return key;
}
