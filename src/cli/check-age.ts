import { join } from 'node:path';
import { readOwnText } from '../state/plain-path.ts';
import { StateError, type StateReader } from '../state/store.ts';
import { readRunFacts } from './run-facts.ts';
import { runFiles } from './run-files.ts';

/**
 * Refuses a state that is older than `run.json` beside it: a run writes the state first, so the last run is missing in
 * it. Somebody has removed it, put an old copy in its place, or left behind the log (`state.db-wal`) that a run which
 * was killed still needs. All that the run made would be paid for once more, without a word.
 *
 * @throws StateError `state.old`
 */
export function checkAge(state: StateReader | undefined, directory: string): void {
  const record = join(directory, runFiles.record);
  const recorded = startOf(record);
  const known = state && readRunFacts(state)?.startedAt;
  if (recorded === undefined || (known !== undefined && recorded <= known)) return;
  throw new StateError(
    'state.old',
    `The state in ${directory} knows nothing of the run that began at ${new Date(recorded).toISOString()}: ` +
      'state.db, or state.db-wal beside it, is missing or was replaced by an older one.',
    {
      hint:
        'Put both back as that run left them. To go on without what it did, and pay for it again, ' +
        `move ${record} away.`,
    },
  );
}

/** Many times what a record of the most images takes. */
const mostBytes = 64 * 1024 * 1024;

/** When the last run of the directory began, Unix ms; undefined where no record says so. */
function startOf(file: string): number | undefined {
  const text = readOwnText(file, mostBytes);
  if (text === undefined) return undefined;
  try {
    const { startedAt } = JSON.parse(text) as { readonly startedAt?: unknown };
    const start = typeof startedAt === 'string' ? Date.parse(startedAt) : Number.NaN;
    return Number.isNaN(start) ? undefined : start;
  } catch {
    // Somebody else's file, or one that was edited: it proves nothing.
    return undefined;
  }
}
