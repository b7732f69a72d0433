import type { ManifestTotals } from '../../results/row-ledger.ts';
import type { RunEnd } from '../../run/events.ts';
import { exitCodes } from '../errors/cli-error.ts';
import type { InterruptName } from '../output/io.ts';

/**
 * Returns the exit code of a run: the first that applies of 129/130/143, 74, 3, 4, 1, 5.
 *
 * @param slots the chosen slots by status; absent when the run left before they could be counted
 * @param redosFailed number of jobs that were to be remade and were not, even if all jobs are done
 */
export function runExitCode(
  end: RunEnd,
  slots: ManifestTotals['slots'] | undefined,
  signal: InterruptName | undefined,
  redosFailed = 0,
): number {
  switch (end.kind) {
    case 'interrupted':
      return exitCodes[signal ?? 'SIGINT'];
    case 'disk':
      return exitCodes.disk;
    case 'stopped':
      return exitCodes.stopped;
    case 'budget':
      return exitCodes.budget;
    case 'fail-fast':
      return exitCodes.failed;
    case 'complete':
      if (redosFailed > 0) return exitCodes.failed;
      return slots === undefined ? exitCodes.ok : settledExitCode(slots);
  }
}

function settledExitCode(slots: ManifestTotals['slots']): number {
  if (slots.failed + slots.blocked > 0) return exitCodes.failed;
  // Jobs that depend on a job in doubt are still pending.
  if (slots['in-doubt'] > 0) return exitCodes.inDoubt;
  const open = slots.pending + slots.submitting + slots.running + slots.modal + slots.saving;
  return open > 0 ? exitCodes.failed : exitCodes.ok;
}
