import type { Rate } from '../../../pipeline/pipeline.ts';
import type { JobRecord } from '../../../plan/job.ts';
import { lacksFilesYet, lacksOnlyFiles } from '../../../plan/resolve/former.ts';
import type { Slot } from '../../../plan/slot.ts';
import type { SchedulerState } from './state.ts';

/** Whether an open cell waits for this job. */
export const isAwaited = ({ cells }: SchedulerState, key: string): boolean =>
  cells.open.awaiting(key).length > 0;

/** Returns the id of a job's finished task, on which the job's buttons are pressed. */
export function taskOf({ lookup }: SchedulerState, key: string | undefined): string | undefined {
  const record = key === undefined ? undefined : lookup(key);
  return record !== undefined && isFinished(record) ? record.taskId : undefined;
}

/** Whether a job's task is finished, with or without its files. */
export const isFinished = (record: JobRecord): boolean =>
  record.status === 'done' || lacksOnlyFiles(record) || lacksFilesYet(record);

/** Whether a job has failed; false for a missing button that every slot calls optional. */
export function isFailure(state: SchedulerState, { key, status, error }: JobRecord): boolean {
  if (status !== 'failed' || error?.code !== 'button.missing') return status === 'failed';
  return isAskedFor(state, key, (slot) => slot.status === 'failed');
}

/** Whether a slot that needs this job waits because the job's parent is being redone. */
export const waitsForNewParent = (state: SchedulerState, key: string): boolean =>
  isAskedFor(state, key, (slot) => slot.waitsForRedo === true);

/**
 * Largest number of cells checked for a job or a kind at a time. What a job waits for is the same in all of them, and so are their steps,
 * except for `when`. A further cell, or one opened later, may need a button that all of these call optional: its slot has failed, which
 * `--max-failures` does not count.
 */
export const maxAsked = 64;

function isAskedFor(
  { cells, options, lookup }: SchedulerState,
  key: string,
  by: (slot: Slot) => boolean,
): boolean {
  return cells.open
    .awaiting(key)
    .slice(0, maxAsked)
    .some(({ cell }) => options.resolve(cell, lookup).some((slot) => slot.job?.key === key && by(slot)));
}

/**
 * Whether the run could soon open more cells than it has. It looks ahead by the number of slots, to know the last cells. Slices of dead
 * workers are taken even if no cells are needed: their tasks may be paid for, and nobody polls them until then. Without any slot the worker
 * takes other slices too.
 */
export const wantsCells = (state: SchedulerState): boolean => {
  const { lifecycle, cells, jobs, slices } = state;
  if (lifecycle.isEnding || cells.areAllGiven) return false;
  if (slices.hasOrphans) return true;
  return cells.incoming.length < jobs.slots || maySearchSlices(state);
};

/** Largest number of slices that a worker leases at once while it may begin nothing. */
const maxSlicesWithoutSlots = 8;

/** How long a worker that may begin nothing keeps a slice in which nothing is in flight, ms. */
export const withoutSlotsMs = 5000;

/**
 * Whether this worker was granted none of the shared task slots, and has no task whose end would free one. The tasks of a dead worker take
 * slots until others have leased its slices: if all waited for slots, none would ever be free.
 */
export const lacksTaskSlots = ({ options, lifecycle, jobs }: SchedulerState): boolean =>
  options.others !== undefined &&
  options.shared?.taskSlots !== undefined &&
  !lifecycle.isEnding &&
  jobs.slots === 0 &&
  jobs.tasksInFlight === 0;

const maySearchSlices = (state: SchedulerState): boolean =>
  lacksTaskSlots(state) &&
  state.slices.leased.filter(({ isWhole, hasEnded }) => isWhole && !hasEnded).length < maxSlicesWithoutSlots;

/** Returns when a worker that may begin nothing gives the next slice back, Unix ms; undefined where there is none. */
export function givesBackAt(state: SchedulerState): number | undefined {
  if (!lacksTaskSlots(state)) return undefined;
  const since = state.slices.leased.flatMap(({ hasEnded, waitsSince }) =>
    hasEnded ? [] : (waitsSince ?? []),
  );
  return since.length === 0 ? undefined : Math.min(...since) + withoutSlotsMs;
}

/** Whether the unopened cells are the last ones and fewer than the slots. Never with a single slot. */
export const isAtEnd = ({ cells, jobs: { slots } }: SchedulerState): boolean =>
  cells.areAllGiven && slots > 1 && cells.incoming.length + cells.openedLast.length < slots;

/** Whether one more cell may be opened: its first request may be sent soon. */
export const mayOpenMoreCells = ({ jobs, cells, now }: SchedulerState): boolean =>
  jobs.mayOpenCell(now) && cells.open.mayOpenMore;

/** Whether open cells are to be resolved again before anything else is decided. */
export const hasDueCells = ({ cells }: SchedulerState): boolean => cells.open.due.size > 0;

/** Whether one of the run's cells may be opened. */
export const canOpenCell = (state: SchedulerState): boolean =>
  !state.lifecycle.isEnding && state.cells.incoming.length > 0 && mayOpenMoreCells(state);

/** Whether every cell of the plan was opened. */
export const areAllCellsOpened = ({ cells }: SchedulerState): boolean =>
  cells.areAllGiven && cells.incoming.length + cells.openedLast.length === 0;

/** The most polls that are repeated where `limits.poll` is not set. */
const mostPolls: Rate = { count: 100, perMs: 1000 };

/** Returns the time that so many polls take within their limit, ms: no task is polled again before all others could have been. */
export function pollsTakeMs({ options }: SchedulerState, polls: number): number {
  const { count, perMs } = options.settings.limits.poll ?? mostPolls;
  return (polls * perMs) / count;
}
