import type { SliceEnd } from '../../events.ts';
import { restsOutside } from '../../machine/job.ts';
import type { Lease } from '../../ports.ts';
import { leaveCell } from '../drain.ts';
import { lacksTaskSlots, withoutSlotsMs } from '../state/queries.ts';
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
  if (slices.leased.length === 0 && slices.ending.size === 0) return false;
  let hasGivenBack = false;
  for (const lease of slices.ending) if (!slices.hasPaidInFlight(lease)) end(state, lease, 'lost');
  for (const leased of slices.leased) {
    if (!leased.isWhole || leased.hasEnded || lifecycle.isHalted) continue;
    const isIdle = (): boolean => [...jobs.all()].every(({ lease }) => lease?.slice !== leased.slice);
    if (leased.cells === 0) {
      if (isIdle() && isWritten(state, leased))
        end(state, leased, leased.looksAgain || leased.kept.size > 0 ? 'waits' : 'closed');
      continue;
    }
    const isWaiting = onlyWaits(state, leased) && isIdle();
    const maxMs = isWaiting
      ? waitMs
      : lacksTaskSlots(state) && isUnbegun(state, leased)
        ? withoutSlotsMs
        : undefined;
    if (maxMs === undefined) delete leased.waitsSince;
    else {
      leased.waitsSince ??= now;
      if (now - leased.waitsSince < maxMs) continue;
      end(state, leased, 'waits');
      hasGivenBack = true;
    }
  }
  return hasGivenBack;
}

/**
 * Whether all decisions for a slice are durable, except those about finished jobs. Until then, a cell of another slice could take up the job
 * under this slice after it was closed.
 */
const isWritten = ({ outbox }: SchedulerState, leased: Lease): boolean =>
  outbox.keysOf(leased).every((key) => (outbox.record(key)?.status ?? 'done') === 'done');

/** Whether a slice has nothing in flight: its jobs, if any, wait for a task slot, and their decisions are durable. */
const isUnbegun = ({ jobs, outbox }: SchedulerState, { slice }: Lease): boolean =>
  [...jobs.all()].every(
    (job) =>
      job.lease?.slice !== slice ||
      ((job.nextRequest.kind === 'task-slot' || restsOutside(job)) &&
        outbox.leaseOf(job.record.key) === undefined),
  );

/** Whether all remaining cells of a slice are open, and wait only for jobs of others, or for cells that do. */
function onlyWaits(
  { cells, slices }: SchedulerState,
  { slice, cells: left }: { slice: number; cells: number },
) {
  if (slices.awaited.size === 0) return false;
  const open = [...cells.open.all()].filter(({ lease }) => lease?.slice === slice);
  return (
    open.length === left &&
    open.every(({ waiting, members }) =>
      waiting.size > 0 ? [...waiting].every((key) => slices.awaited.has(key)) : (members?.size ?? 0) > 0,
    )
  );
}

function end(state: SchedulerState, lease: Lease, how: SliceEnd): void {
  const { slices, jobs, cells, outbox } = state;
  const { slice, epoch } = lease;
  if (how === 'waits') {
    for (const job of jobs.all()) if (job.lease?.slice === slice) forgetJob(state, job);
    cells.incoming = cells.incoming.filter((cell) => slices.leaseOf(cell)?.slice !== slice);
    for (const open of cells.open.all()) if (open.lease?.slice === slice) leaveCell(state, open);
  }
  if (how === 'lost') slices.ending.delete(lease);
  const leased = slices.ofLease(lease);
  if (leased !== undefined) leased.hasEnded = true;
  const belowDoubt = how === 'closed' && leased?.belowDoubt === true;
  outbox.emit({ type: 'slice:end', slice, epoch, how, ...(belowDoubt && { belowDoubt }) });
}
