import type { SliceEnd } from '../../events.ts';
import { restsOutside } from '../../machine/job.ts';
import type { Hold } from '../../ports.ts';
import { leaveCell } from '../drain.ts';
import { lacksRoom, withoutRoomMs } from '../state/queries.ts';
import type { SchedulerState } from '../state/state.ts';
import { forgetJob } from './lose.ts';

/** How long a slice may wait only for others before it is given back, ms. */
const waitMs = 2000;

/**
 * Ends the slices that are closed, that only wait, that cannot begin anything for lack of slots, or whose last result arrived.
 *
 * @returns whether one was given back: cells of other slices may wait for jobs that it has not begun
 */
export function endSlices(state: SchedulerState): boolean {
  const { slices, jobs, lifecycle, now } = state;
  if (slices.held.length === 0 && slices.ending.size === 0) return false;
  let hasGivenBack = false;
  for (const hold of slices.ending) if (!slices.isHearing(hold)) end(state, hold, 'lost');
  for (const held of slices.held) {
    if (!held.isWhole || held.hasEnded || lifecycle.isHalted) continue;
    const isIdle = (): boolean => [...jobs.all()].every(({ hold }) => hold?.slice !== held.slice);
    if (held.cells === 0) {
      if (isIdle() && isWritten(state, held))
        end(state, held, held.looksAgain || held.kept.size > 0 ? 'waits' : 'closed');
      continue;
    }
    const isWaiting = onlyWaits(state, held) && isIdle();
    const mostMs = isWaiting
      ? waitMs
      : lacksRoom(state) && isUnbegun(state, held)
        ? withoutRoomMs
        : undefined;
    if (mostMs === undefined) delete held.waitsSince;
    else {
      held.waitsSince ??= now;
      if (now - held.waitsSince < mostMs) continue;
      end(state, held, 'waits');
      hasGivenBack = true;
    }
  }
  return hasGivenBack;
}

/**
 * Whether all decisions for a slice are durable, except those that are done. Until then, a cell of another slice could take up the job
 * under this slice after it was closed.
 */
const isWritten = ({ outbox }: SchedulerState, held: Hold): boolean =>
  outbox.keysOf(held).every((key) => (outbox.record(key)?.status ?? 'done') === 'done');

/** Whether a slice has nothing in flight: its jobs, if any, wait for a task slot, and their decisions are durable. */
const isUnbegun = ({ jobs, outbox }: SchedulerState, { slice }: Hold): boolean =>
  [...jobs.all()].every(
    (job) =>
      job.hold?.slice !== slice ||
      ((job.nextRequest.kind === 'task-slot' || restsOutside(job)) &&
        outbox.holdOf(job.record.key) === undefined),
  );

/** Whether all remaining cells of a slice are open, and wait only for jobs of others. */
function onlyWaits(
  { cells, slices }: SchedulerState,
  { slice, cells: left }: { slice: number; cells: number },
) {
  if (slices.awaited.size === 0) return false;
  const open = [...cells.open.all()].filter(({ hold }) => hold?.slice === slice);
  return (
    open.length === left &&
    open.every(({ waiting }) => waiting.size > 0 && [...waiting].every((key) => slices.awaited.has(key)))
  );
}

function end(state: SchedulerState, hold: Hold, how: SliceEnd): void {
  const { slices, jobs, cells, outbox } = state;
  const { slice, epoch } = hold;
  if (how === 'waits') {
    for (const job of jobs.all()) if (job.hold?.slice === slice) forgetJob(state, job);
    cells.incoming = cells.incoming.filter((cell) => slices.holdOf(cell)?.slice !== slice);
    for (const open of cells.open.all()) if (open.hold?.slice === slice) leaveCell(state, open);
  }
  if (how === 'lost') slices.ending.delete(hold);
  const held = slices.heldAs(hold);
  if (held !== undefined) held.hasEnded = true;
  const belowDoubt = how === 'closed' && held?.belowDoubt === true;
  outbox.emit({ type: 'slice:end', slice, epoch, how, ...(belowDoubt && { belowDoubt }) });
}
