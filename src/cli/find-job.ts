import type { StateReader } from '../state/store.ts';
import { usageError } from './failure.ts';

/** Fewer characters than this name nothing in particular. */
const leastLength = 4;

/** Of many jobs that begin alike, as many are shown. */
const mostListed = 5;

/** The keys that a user's word can mean: itself, else those that begin so, at most one more than are ever shown. */
export function jobsNamed(named: string, state: StateReader): readonly string[] {
  if (state.get(named) !== undefined) return [named];
  return named.length < leastLength ? [] : state.keysWithPrefix(named, mostListed + 1);
}

/**
 * The key of the one job that a user names, by the whole key or by its beginning.
 *
 * @throws CliError (exit 2) when there is none, or more than one
 */
export function findJob(named: string, state: StateReader): string {
  const found = jobsNamed(named, state);
  const [key] = found;
  if (key === undefined) throw noSuchJob(named);
  if (found.length > 1) throw severalJobs(named, found);
  return key;
}

export const noSuchJob = (named: string): Error =>
  named.length < leastLength
    ? usageError(
        `"${named}" is too short to name a job.`,
        `Give ${leastLength} characters of its key or more.`,
      )
    : usageError(
        `No job has the key "${named}".`,
        'The column "job" of the manifest has the keys; the beginning of one is enough.',
      );

const severalJobs = (named: string, found: readonly string[]): Error => {
  const more = found.length > mostListed ? ', …' : '';
  return usageError(
    `Several jobs have keys that begin with "${named}": ${found.slice(0, mostListed).join(', ')}${more}`,
    'Give more of the key.',
  );
};
