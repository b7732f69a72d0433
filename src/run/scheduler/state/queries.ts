import type { JobRecord } from '../../../plan/job.ts';
import { lacksFilesYet, lacksOnlyFiles } from '../../../plan/resolve/former.ts';
import type { Slot } from '../../../plan/slot.ts';
import type { SchedulerState } from './state.ts';

/** True while an open cell waits for this job. */
export const isAwaited = ({ cells }: SchedulerState, key: string): boolean =>
  cells.open.awaiting(key).length > 0;

/** Id of the finished task of a job, on which the job's buttons are pressed. */
export function taskOf({ lookup }: SchedulerState, key: string | undefined): string | undefined {
  const record = key === undefined ? undefined : lookup(key);
  return record !== undefined && isFinished(record) ? record.taskId : undefined;
}

/** True for a job whose task is finished, whether or not its files are there. */
export const isFinished = (record: JobRecord): boolean =>
  record.status === 'done' || lacksOnlyFiles(record) || lacksFilesYet(record);

/** True for a failed job; false for a missing button that every slot calls optional. */
export function isFailure(state: SchedulerState, { key, status, error }: JobRecord): boolean {
  if (status !== 'failed' || error?.code !== 'button.missing') return status === 'failed';
  return isAskedFor(state, key, (slot) => slot.status === 'failed');
}

/** True where a slot that asks for this job waits because the job's parent is made again. */
export const waitsForNewParent = (state: SchedulerState, key: string): boolean =>
  isAskedFor(state, key, (slot) => slot.waitsForRedo === true);

/**
 * Cells that are asked about a job, or a kind of them, at a time: what a job waits for is the same in all of them, and so are their steps, but
 * for `when`. A cell beyond these, or one that is opened later, may need a button that all of these call optional: its slot is a failed one,
 * which `--max-failures` does not count.
 */
export const mostAsked = 64;

function isAskedFor(
  { cells, options, lookup }: SchedulerState,
  key: string,
  by: (slot: Slot) => boolean,
): boolean {
  return cells.open
    .awaiting(key)
    .slice(0, mostAsked)
    .some(({ cell }) => options.resolve(cell, lookup).some((slot) => slot.job?.key === key && by(slot)));
}

/**
 * True when the run could soon open more cells than it was given. It looks ahead by as many as there are slots, to know the last ones.
 * Slices of dead workers it takes whether or not it wants their cells: they may have tasks, which are paid for and which nobody polls until
 * then. Without any slot it takes other slices too.
 */
export const wantsCells = (state: SchedulerState): boolean => {
  const { lifecycle, cells, jobs, slices } = state;
  if (lifecycle.isEnding || cells.areAllGiven) return false;
  if (slices.hasOrphans) return true;
  return cells.incoming.length < jobs.slots || maySearchSlices(state);
};

/** How many slices are held at once by a worker that may begin nothing. */
const mostWithoutRoom = 8;

/** How long a worker that may begin nothing holds a slice in which nothing is under way, ms. */
export const withoutRoomMs = 5000;

/**
 * True where this worker was granted no room that all workers share, and has no task whose end would make one. The tasks that a dead
 * worker has left take up room until others hold its slices: if all waited for room, there would never be any.
 */
export const lacksRoom = ({ options, lifecycle, jobs }: SchedulerState): boolean =>
  options.others !== undefined &&
  options.shared?.rooms !== undefined &&
  !lifecycle.isEnding &&
  jobs.slots === 0 &&
  jobs.tasksInFlight === 0;

const maySearchSlices = (state: SchedulerState): boolean =>
  lacksRoom(state) &&
  state.slices.held.filter(({ isWhole, hasEnded }) => isWhole && !hasEnded).length < mostWithoutRoom;

/** When a worker that may begin nothing gives the next slice back, Unix ms; undefined: there is none. */
export function givesBackAt(state: SchedulerState): number | undefined {
  if (!lacksRoom(state)) return undefined;
  const since = state.slices.held.flatMap(({ hasEnded, waitsSince }) => (hasEnded ? [] : (waitsSince ?? [])));
  return since.length === 0 ? undefined : Math.min(...since) + withoutRoomMs;
}

/** True when the cells that are not open are the last ones, and fewer than the slots. A single slot never idles beside others. */
export const isAtEnd = ({ cells, jobs: { slots } }: SchedulerState): boolean =>
  cells.areAllGiven && slots > 1 && cells.incoming.length + cells.openedLast.length < slots;

/** True while there is room for the first request of one more cell. */
export const hasRoomForCell = ({ jobs, cells, now }: SchedulerState): boolean =>
  jobs.hasRoomForCell(now) && cells.open.hasRoom;

/** True while open cells are to be resolved again before anything else is decided. */
export const hasDueCells = ({ cells }: SchedulerState): boolean => cells.open.due.size > 0;

/** True while a cell that the run was given may be opened. */
export const canOpenCell = (state: SchedulerState): boolean =>
  !state.lifecycle.isEnding && state.cells.incoming.length > 0 && hasRoomForCell(state);

/** True when every cell of the plan was opened. */
export const areAllCellsOpened = ({ cells }: SchedulerState): boolean =>
  cells.areAllGiven && cells.incoming.length + cells.openedLast.length === 0;
