import { type JobSpec, needsOf } from '../../plan/job.ts';
import { lineageOf, sourcesOf } from '../../plan/resolve/lineage.ts';
import type { Slot } from '../../plan/slot.ts';
import type { Job } from '../machine/job.ts';
import { jobForSlot } from '../machine/resume.ts';
import { closeCell } from './drain.ts';
import { placeJob } from './place-job.ts';
import type { OpenCell } from './state/open-cells.ts';
import { hasRoomForCell, taskOf } from './state/queries.ts';
import type { SchedulerState } from './state/state.ts';

/** Opens cells while there is room for their first request. */
export function admitCells(state: SchedulerState): void {
  const { cells, lifecycle, outbox } = state;
  visitDueCells(state);
  while (!lifecycle.isEnding && hasRoomForCell(state)) {
    const cell = cells.incoming.shift();
    if (cell === undefined) return;
    outbox.emit({ type: 'cell:open', cell: cell.number });
    visitCell(state, cells.open.open(cell));
  }
}

/** Resolves the open cells again in which a job was settled or released since the last call. */
export function visitDueCells(state: SchedulerState): void {
  const { cells } = state;
  for (let open = cells.due.shift(); open !== undefined; open = cells.due.shift()) visitCell(state, open);
}

/** Resolves a cell: takes up the jobs that can be worked on now, and closes the cell when there is none left. */
function visitCell(state: SchedulerState, open: OpenCell): void {
  const { options, cells, jobs, clicks, lookup } = state;
  // What reads the result of a job that is made again waits for the new one, and may ask for something else then.
  let slots = options.resolve(open.cell, lookup);
  while (beginRedos(state, slots)) slots = options.resolve(open.cell, lookup);
  const waiting = new Set<string>();
  for (const slot of slots) {
    const key = slot.job?.key;
    if (key === undefined || !isChosen(state, slot)) continue;
    if (slot.kind === 'click' && slot.record?.status === 'done') clicks.worked(slot.record);
    const active = jobs.get(key);
    const job = active ?? jobToBegin(state, slot);
    if (job === undefined) continue;
    if (active === undefined) begin(state, job);
    else if (slot.keep && !active.record.keep)
      placeJob(state, active, { ...active, record: { ...active.record, keep: true } });
    waiting.add(key);
  }
  if (waiting.size === 0) closeCell(state, open);
  else cells.open.waitFor(open, waiting);
}

/**
 * Takes up the jobs of a cell that are to be made again, but for those that come from another of them.
 *
 * @returns false where there is none
 */
function beginRedos(state: SchedulerState, slots: readonly Slot[]): boolean {
  const jobs = new Map<string, Job>();
  for (const slot of slots) {
    const { record } = slot;
    const isAsked = record?.status === 'done' && state.cells.redo.has(record.key);
    if (record === undefined || !(isAsked || slot.outdated === true)) continue;
    if (!isChosen(state, slot) || state.jobs.get(record.key) !== undefined) continue;
    const job = jobToBegin(state, slot);
    if (job?.record.status === 'pending') jobs.set(record.key, job);
  }
  if (jobs.size === 0) return false;
  const below = keysBelow(slots, jobs);
  const first = [...jobs.values()].filter(({ record }) => !below.has(record.key));
  if (first.length === 0) throw new Error('Internal error: jobs of a cell come from themselves.');
  for (const job of first) begin(state, job);
  return true;
}

/** The job of a slot, where it can be worked on and the run still begins new work. */
function jobToBegin(state: SchedulerState, slot: Slot): Job | undefined {
  const { options, cells, lookup, now } = state;
  const { job: spec } = slot;
  if (spec === undefined || !areInputsDone(state, spec)) return undefined;
  const lineage = lineageOf(spec, taskOf(state, spec.parent), lookup);
  const job = jobForSlot(slot, lineage, options.settings, cells.redo, options.invocation, now);
  if (job === undefined || !state.lifecycle.isEnding) return job;
  cells.isWhole = false;
  return undefined;
}

function begin(state: SchedulerState, job: Job): void {
  state.cells.redo.delete(job.record.key);
  placeJob(state, undefined, job);
}

const isChosen = ({ options: { steps } }: SchedulerState, { step }: Slot): boolean =>
  steps === undefined || steps.has(step);

/** True when every job is done that a request shows, continues or names; a job that is made again is waited for, as a click does. */
function areInputsDone({ lookup }: SchedulerState, job: JobSpec): boolean {
  const shown = job.request.kind === 'click' ? [] : needsOf(job);
  return [...shown, ...(job.reads ?? [])].every((key) => lookup(key)?.status === 'done');
}

/** Keys of the jobs of a cell that come from one of these, over any number of others. */
function keysBelow(slots: readonly Slot[], from: ReadonlyMap<string, unknown>): ReadonlySet<string> {
  const below = new Set<string>();
  // Steps stand in any order in a file: what comes from a later one is found the next time round.
  for (let size = -1; size !== below.size; ) {
    size = below.size;
    for (const { job } of slots)
      if (job !== undefined && sourcesOf(job).some((key) => from.has(key) || below.has(key)))
        below.add(job.key);
  }
  return below;
}
