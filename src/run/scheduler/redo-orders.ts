import { isSettled, type JobRecord } from '../../plan/job.ts';
import type { RedoChange } from '../../state/redo-order.ts';
import { durableForm } from '../machine/redo.ts';
import type { Lease } from '../ports.ts';
import type { SchedulerState } from './state/state.ts';

/** Returns the decided progress of a job's redo order; undefined where no open order names the job. */
export function redoOf({ outbox, options }: SchedulerState, key: string): 'waiting' | 'begun' | undefined {
  const state = outbox.redo(key) ?? options.redo(key);
  return state === 'made' ? undefined : state;
}

/** Returns the keys of the jobs whose redo has not begun. */
export const redosWaiting = (state: SchedulerState): Pick<ReadonlySet<string>, 'has'> => ({
  has: (key) => redoOf(state, key) === 'waiting',
});

/**
 * Writes a record in its durable form, and the progress of its redo order: both become durable together, so that no run repeats a redo that
 * another one has paid for.
 */
export function writeRecord(state: SchedulerState, record: JobRecord, lease?: Lease): void {
  const { outbox } = state;
  const durable = durableForm(record);
  outbox.write(durable, lease);
  const before = redoOf(state, record.key);
  const after = before && progressOf(before, record, durable);
  if (after !== undefined && after !== before) outbox.noteRedo(record.key, after);
}

/** A redo begins with its submission. One that was given back has not begun, unless its submission may have made a task. */
function progressOf(
  before: 'waiting' | 'begun',
  { status }: JobRecord,
  { status: durable }: JobRecord,
): RedoChange {
  if (durable === 'in-doubt') return before;
  if (status === 'pending' && isSettled(durable)) return 'waiting';
  return isSettled(status) ? 'made' : 'begun';
}
