import { formatBranch } from '../../../pipeline/selectors/parse.ts';
import type { Slot } from '../../../plan/slot.ts';
import type { RunEvent } from '../../events.ts';
import type { OpenCell } from './open-cells.ts';
import type { SchedulerState } from './state.ts';

type SlotEvent = Extract<RunEvent, { type: 'slot:status' }>;

/**
 * Emits, once each, the slots of an open cell that no job will settle. The state before the run, as found by the cell's first visit, is not
 * emitted, because it is not a change.
 *
 * @param how.closes true where the cell closes now: slots still pending wait for a job in doubt
 * @param how.hasFailed true where a job that the first visit found has failed in this run, for another cell
 */
export function reportSlots(
  { outbox, options: { steps } }: SchedulerState,
  open: OpenCell,
  slots: readonly Slot[],
  { closes, hasFailed }: { readonly closes: boolean; readonly hasFailed: boolean },
): void {
  const found = slots.flatMap((slot) => {
    const status = steps === undefined || steps.has(slot.step) ? statusOf(slot, closes) : undefined;
    return status === undefined ? [] : [{ slot, status }];
  });
  open.reported ??= new Set(hasFailed ? [] : found.map(({ slot }) => slot.id));
  for (const { slot, status } of found) {
    if (open.reported.has(slot.id)) continue;
    open.reported.add(slot.id);
    const { step, cell, branch, error, accepted } = slot;
    outbox.emit({
      type: 'slot:status',
      step,
      branch: formatBranch(branch),
      cell,
      status,
      ...(error === undefined ? {} : { error }),
      ...(accepted && { accepted }),
    });
  }
}

/** The status of a slot without a job; jobs have events of their own. */
function statusOf({ status, record }: Slot, closes: boolean): SlotEvent['status'] | undefined {
  if (status === 'pending') return closes ? status : undefined;
  if (record !== undefined) return undefined;
  return status === 'blocked' || status === 'skipped' || status === 'failed' ? status : undefined;
}
