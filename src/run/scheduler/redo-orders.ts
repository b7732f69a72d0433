import { isSettled, type JobRecord } from '../../plan/job.ts';
import type { RedoChange } from '../../state/redo-order.ts';
import { durableForm } from '../machine/redo.ts';
import type { Hold } from '../ports.ts';
import type { SchedulerState } from './state/state.ts';

/** How far the job of an open order is, by what is decided; undefined: none has it to be made. */
export function redoOf({ outbox, options }: SchedulerState, key: string): 'waiting' | 'begun' | undefined {
  const state = outbox.redo(key) ?? options.redo(key);
  return state === 'made' ? undefined : state;
}

/** The keys of the jobs that are to be begun anew. */
export const redosWaiting = (state: SchedulerState): Pick<ReadonlySet<string>, 'has'> => ({
  has: (key) => redoOf(state, key) === 'waiting',
});

/**
 * Writes a record in its durable form, and how far an order is that has the job made anew: both are durable together, so that no run
 * begins anew what another one has paid for.
 */
export function writeRecord(state: SchedulerState, record: JobRecord, hold?: Hold): void {
  const { outbox } = state;
  const durable = durableForm(record);
  outbox.write(durable, hold);
  const before = redoOf(state, record.key);
  const after = before && progressOf(before, record, durable);
  if (after !== undefined && after !== before) outbox.noteRedo(record.key, after);
}

/** A job is begun from its submission on. One that was given back is not begun, unless its submission may have made a task. */
function progressOf(
  before: 'waiting' | 'begun',
  { status }: JobRecord,
  { status: durable }: JobRecord,
): RedoChange {
  if (durable === 'in-doubt') return before;
  if (status === 'pending' && isSettled(durable)) return 'waiting';
  return isSettled(status) ? 'made' : 'begun';
}
