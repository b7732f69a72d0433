import type { RunEnd } from '../events.ts';
import type { Job } from '../machine/job.ts';
import { mayBeLeft } from './state/lifecycle.ts';
import type { OpenCell } from './state/open-cells.ts';
import { areAllCellsOpened } from './state/queries.ts';
import type { SchedulerState } from './state/state.ts';

/** Ends the run early: nothing new begins, and jobs in flight are settled. The first cause of an end applies. */
export function drain(state: SchedulerState, end: RunEnd): void {
  if (state.lifecycle.drain(end)) leaveUnbegun(state, end);
}

/** Ends the run at once: nothing more is sent. */
export function halt(state: SchedulerState, end: RunEnd): void {
  if (state.lifecycle.halt(end)) leaveUnbegun(state, end);
}

/** Leaves a job that was not submitted to a later run. */
export function leaveJob(state: SchedulerState, { record: { key } }: Job): void {
  const { jobs, cells, kinds } = state;
  jobs.drop(key);
  kinds.forget(key);
  cells.isWhole = false;
  leaveCells(state, cells.open.release(key));
}

/** Leaves a job whose download failed, and with it all files that wait for hosts from which no file can be downloaded now. */
export function leaveUnsaved(state: SchedulerState, job: Job): void {
  leaveJob(state, job);
  if (job.record.status !== 'saving' || !state.routes.queues.download.lane().isProbing) return;
  for (const other of state.jobs.all())
    if (other.record.status === 'saving' && other.nextRequest.kind === 'save') leaveJob(state, other);
}

/**
 * Leaves an open cell to a later run, because the run ends or a kind is closed before all its jobs have begun. With a closed kind, the cell
 * and perhaps its slice are over in this run; a later run gets all cells anew.
 */
export function leaveCell({ cells, outbox, slices, lifecycle }: SchedulerState, open: OpenCell): void {
  cells.open.close(open);
  if (!lifecycle.isEnding) slices.closeCell(open.lease);
  outbox.emit({ type: 'cell:left', cell: open.cell.number });
}

/** Leaves those of the cells that wait for nothing any more. A due cell may still begin or report something. */
function leaveCells(state: SchedulerState, cells: Iterable<OpenCell>): void {
  const { due } = state.cells.open;
  for (const open of cells)
    if (open.waiting.size === 0 && (state.lifecycle.isHalted || !due.has(open))) leaveCell(state, open);
}

/** Closes an open cell in which nothing is left to do. */
export function closeCell({ cells, outbox, slices }: SchedulerState, open: OpenCell): void {
  cells.open.close(open);
  slices.closeCell(open.lease, open.hasMore);
  outbox.emit({ type: 'cell:close', cell: open.cell.number });
}

/** Leaves the cells that are not open, and the jobs without a task on the service, to a later run. */
function leaveUnbegun(state: SchedulerState, end: RunEnd): void {
  const { cells, jobs, outbox, slices, lifecycle } = state;
  if (!areAllCellsOpened(state) || cells.open.parked().length > 0) cells.isWhole = false;
  cells.incoming = [];
  for (const open of cells.open.parked()) leaveCell(state, open);
  for (const key of slices.awaited) leaveCells(state, cells.open.release(key));
  slices.awaited.clear();
  for (const job of jobs.all())
    if (mayBeLeft(job) && job.nextRequest.kind !== 'answer') leaveUnsaved(state, job);
  if (lifecycle.isHalted) leaveCells(state, cells.open.due);
  outbox.emit({ type: 'run:stopping', end, ...jobs.inFlight });
}
