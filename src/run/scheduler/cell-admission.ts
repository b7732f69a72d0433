import { isPress } from '../../pipeline/kinds.ts';
import { isInterrupted } from '../../plan/estimate/revival.ts';
import { isSettled, type JobRecord, type JobSpec, needsOf } from '../../plan/job.ts';
import { lacksFilesYet } from '../../plan/resolve/former.ts';
import { lineageOf, sourcesOf } from '../../plan/resolve/lineage.ts';
import type { RecordLookup, Slot } from '../../plan/slot.ts';
import { type Job, withLease } from '../machine/job.ts';
import { jobForSlot } from '../machine/resume.ts';
import type { Lease } from '../ports.ts';
import { closeCell, leaveCell } from './drain.ts';
import { placeJob, recoverJob, takeUp } from './place-job.ts';
import { redoOf, redosWaiting } from './redo-orders.ts';
import type { KindState } from './routes/kinds.ts';
import { adoptKept } from './slices/take.ts';
import type { OpenCell } from './state/open-cells.ts';
import { canOpenCell, isAtEnd, taskOf } from './state/queries.ts';
import { reportSlots } from './state/slot-reports.ts';
import type { SchedulerState } from './state/state.ts';

/** Opens cells while their first requests may be sent soon. */
export function admitCells(state: SchedulerState): void {
  const { cells, slices } = state;
  visitDueCells(state);
  if (isAtEnd(state)) state.jobs.beginEnd();
  while (cells.open.due.size === 0) {
    if (cells.areAllGiven && cells.incoming.length === 0) {
      cells.incoming = cells.openedLast.toSorted((a, b) => a.tries - b.tries).map(({ cell }) => cell);
      cells.openedLast = [];
      cells.isLast = true;
    }
    const cell = canOpenCell(state) ? cells.incoming.shift() : undefined;
    if (cell === undefined) return;
    visitCell(state, cells.open.open(cell, slices.takeLease(cell)));
    if (isAtEnd(state)) state.jobs.beginEnd();
    // The next tick opens the other cells. None of them was deferred to the end, and nothing else may happen that opens a cell.
    if (canOpenCell(state) && state.isLong()) return;
  }
}

/** Largest number of cells deferred to the end. */
const maxOpenedLast = 4096;

/** Whether a cell needs a job that an earlier run put back: such jobs go behind those that were never tried. */
const comesLast = ({ cells, options }: SchedulerState, slots: readonly Slot[]): boolean =>
  !cells.isLast &&
  options.others === undefined &&
  cells.openedLast.length < maxOpenedLast &&
  slots.some(({ record, ready }) => ready && record?.status === 'pending' && record.putBack === true);

/** Resolves the due cells, until that takes too long for one input. */
export function visitDueCells(state: SchedulerState): void {
  const { due } = state.cells.open;
  for (const open of due) {
    due.delete(open);
    visitCell(state, open);
    if (state.isLong()) return;
  }
}

/** Resolves a cell: takes up the jobs that can run now, and closes the cell when none is left. */
function visitCell(state: SchedulerState, open: OpenCell): void {
  const { options, cells, jobs, clicks, lifecycle, lookup, slices, outbox } = state;
  const isFirst = open.isComplete === undefined;
  const gathered = open.cell.groupsElsewhere ? [] : (options.gathers?.(open.cell.number) ?? []);
  const members = toCome(state, open, gathered);
  // Nothing of a group is begun before all its cells have nothing else to do. Until then the first visit alone resolves it, to know the state
  // before the run.
  const isOwnOver = members.size === 0 && (isFirst || open.isOwnOver === true);
  const isOwn = gathered.length > 0 && !isOwnOver && !lifecycle.isEnding;
  let hasFailed = false;
  const noting: RecordLookup = (key) => {
    const record = lookup(key);
    hasFailed ||= record?.error !== undefined && record.invocation === options.invocation;
    return record;
  };
  const resolved = (): readonly Slot[] =>
    options.resolve(open.cell, isFirst ? noting : lookup, isOwn && !isFirst);
  // A slot that reads a redone job waits for the new result, and may then need another job.
  let slots = resolved();
  const toBegin = (): readonly Slot[] => (isOwn ? slots.filter(({ group }) => group === undefined) : slots);
  if (isFirst && comesLast(state, slots)) {
    cells.open.close(open);
    const tries = Math.min(...slots.flatMap(({ record }) => (record?.putBack ? record.attempts : [])));
    cells.openedLast.push({ cell: open.cell, tries });
    return;
  }
  if (isFirst) outbox.emit({ type: 'cell:open', cell: open.cell.number });
  const isUnbegun = isFirst && slots.every(({ record }) => !isBegun(record));
  while (
    recoverJobs(state, toBegin()) ||
    beginRedos(state, toBegin(), open.lease) ||
    beginRetries(state, toBegin(), open.lease)
  )
    slots = resolved();
  // Jobs of a group that an earlier visit has begun.
  const begun = isOwn ? [...open.waiting].filter((key) => jobs.get(key) !== undefined) : [];
  const waiting = new Set(begun);
  const below = isUnbegun ? closedBelow(state, slots) : undefined;
  let isLeft = false;
  let hasRevived = false;
  for (const slot of toBegin()) {
    const key = slot.job?.key;
    if (key === undefined || !isChosen(state, slot)) continue;
    if (isPress(slot.kind) && slot.record?.status === 'done') clicks.worked(slot.record);
    const active = jobs.get(key);
    if (active === undefined && slot.record !== undefined && slices.isOthers(slot.record)) {
      if (lifecycle.isEnding) isLeft = true;
      else {
        slices.awaited.add(key);
        waiting.add(key);
      }
      continue;
    }
    const job = active ?? jobToBegin(state, slot);
    if (job === undefined) continue;
    const closed = active === undefined ? closedFor(state, slot, below) : undefined;
    if (closed !== undefined && !isUnbegun) closed.leave(key);
    if (closed !== undefined || (active === undefined && lifecycle.isEnding)) {
      isLeft = true;
      continue;
    }
    if (active === undefined) {
      hasRevived ||= slot.record !== undefined && isSettled(slot.record.status);
      begin(state, job, open.lease);
      // The job's kind turned out to be closed.
      if (jobs.get(key) === undefined) {
        isLeft = true;
        continue;
      }
    } else if (
      (slot.keep && !active.record.keep) ||
      (slot.split && !active.record.split) ||
      (slot.seed && !active.record.seed)
    ) {
      const needs = {
        keep: active.record.keep || slot.keep,
        ...(slot.split && { split: true as const }),
        ...(slot.seed && { seed: true as const }),
      };
      placeJob(state, active, { ...active, record: { ...active.record, ...needs } });
    }
    waiting.add(key);
  }
  open.hasMore = slots.some((slot) => slot.status === 'pending' && !waiting.has(slot.job?.key ?? ''));
  const isIdle = waiting.size === 0 && !isLeft;
  const mayFollow = isOwn || open.hasMore || slots.some(({ waitsForRedo }) => waitsForRedo === true);
  if (isIdle && members.size > 0 && mayFollow && lifecycle.isEnding) isLeft = true;
  if (isLeft) cells.isWhole = false;
  if (isLeft && isUnbegun && waiting.size === 0) cells.left += 1;
  // Slots below a retried job are no longer blocked by it.
  if (hasRevived) slots = resolved();
  reportSlots(state, open, slots, { closes: isIdle && !isOwn, hasFailed });
  open.hasMore = slots.some((slot) => slot.status === 'pending' && !waiting.has(slot.job?.key ?? ''));
  open.isComplete =
    !isLeft && !isOwn && slots.every((slot) => waiting.has(slot.job?.key ?? '') || isOver(slot));
  if (waiting.size > 0) cells.open.waitFor(open, waiting, isOwn ? 0 : gathered.length);
  else if (isLeft) leaveCell(state, open);
  else if (!isOwn) closeCell(state, open);
  else if (members.size > 0) cells.open.park(open, members);
  else {
    open.isOwnOver = true;
    cells.open.due.add(open);
  }
}

const isBegun = (record: JobRecord | undefined): boolean =>
  record !== undefined && (record.status !== 'pending' || record.attempts > 0);

/**
 * Returns the kind for which a job does not begin: a closed one, its own or that of a job below it; or one whose refusal has left the job
 * to a later run.
 */
function closedFor(
  { kinds }: SchedulerState,
  slot: Slot,
  below?: ReadonlyMap<Slot, KindState>,
): KindState | undefined {
  for (const kind of kinds.all()) if (kind.left.has(slot.job?.key ?? '')) return kind;
  if (kinds.closed.length === 0) return undefined;
  const own = kinds.ofSlot(slot);
  return own?.closed === undefined ? below?.get(slot) : own;
}

const noCells: ReadonlySet<number> = new Set();

/** The numbers of those other cells that are not closed or not yet open. */
function toCome(
  { cells }: SchedulerState,
  { cell }: OpenCell,
  numbers: readonly number[],
): ReadonlySet<number> {
  if (numbers.length === 0) return noCells;
  // Cells come in order, except those that are opened last.
  const later = new Set(cells.openedLast.map((put) => put.cell.number));
  if (cells.isLast) for (const { number } of cells.incoming) later.add(number);
  const isToCome = (number: number): boolean => cells.open.has(number) || later.has(number);
  return new Set(numbers.filter((number) => number !== cell.number && isToCome(number)));
}

/** The slots of a cell without any begun job that lead to a slot of a closed kind, and that kind: nothing is paid for them. */
function closedBelow(state: SchedulerState, slots: readonly Slot[]): ReadonlyMap<Slot, KindState> {
  const { kinds } = state;
  const closed = new Map<Slot, KindState>();
  const needed = new Map<number | string, KindState>();
  if (kinds.closed.length === 0) return closed;
  // A file lists its steps in any order: slots below a later step are found in the next round.
  for (let size = -1; size !== closed.size; ) {
    size = closed.size;
    for (const slot of slots) {
      if (slot.status !== 'pending' || closed.has(slot) || !isChosen(state, slot)) continue;
      const own = kinds.ofSlot(slot);
      const kind = own?.closed === undefined ? (needed.get(slot.place ?? -1) ?? needed.get(slot.step)) : own;
      if (kind === undefined) continue;
      closed.set(slot, kind);
      for (const need of slot.needs ?? []) needed.set(need, kind);
    }
  }
  return closed;
}

/**
 * Recovers the jobs of a cell whose requests were in flight when an earlier run ended, where this run did not adopt them.
 *
 * @returns false where there is none
 */
function recoverJobs(state: SchedulerState, slots: readonly Slot[]): boolean {
  // Such a job belongs to another worker, or was left with its slice: `jobForSlot` submits none again.
  if (state.options.others !== undefined) return adoptKept(state, slots);
  const left = slots.flatMap(({ record }) =>
    record !== undefined && isInterrupted(record) && state.jobs.get(record.key) === undefined ? [record] : [],
  );
  const jobs = new Map(left.map((record) => [record.key, record]));
  for (const record of jobs.values()) recoverJob(state, record);
  return jobs.size > 0;
}

/** Whether a slot stays as it is. A failed or blocked one may be tried again once a job above it is done. */
const isOver = ({ status, outdated }: Slot): boolean =>
  (status === 'done' || status === 'skipped') && outdated !== true;

/**
 * Takes up the jobs of a cell that are to be redone, except those below another of them.
 *
 * @returns false where there is none
 */
function beginRedos(state: SchedulerState, slots: readonly Slot[], lease: Lease | undefined): boolean {
  if (state.lifecycle.isEnding) return false;
  const jobs = new Map<string, Job>();
  for (const slot of slots) {
    const { record } = slot;
    const isAsked = record?.status === 'done' && redoOf(state, record.key) === 'waiting';
    if (record === undefined || !(isAsked || slot.outdated === true)) continue;
    if (!isChosen(state, slot) || state.jobs.get(record.key) !== undefined) continue;
    // The job would be left at once, and would be as outdated as before.
    if (closedFor(state, slot) !== undefined) continue;
    const job = jobToBegin(state, slot);
    if (job?.record.status === 'pending') jobs.set(record.key, job);
  }
  if (jobs.size === 0) return false;
  const below = keysBelow(slots, jobs);
  const first = [...jobs.values()].filter(({ record }) => !below.has(record.key));
  if (first.length === 0) throw new Error('Internal error: jobs of a cell come from themselves.');
  for (const job of first) begin(state, job, lease);
  return true;
}

/**
 * Takes up the failed jobs of a cell that are tried again: what leaves failed ones out waits for them.
 *
 * @returns false where there is none
 */
function beginRetries(state: SchedulerState, slots: readonly Slot[], lease: Lease | undefined): boolean {
  const { jobs, lifecycle, slices } = state;
  let hasBegun = false;
  for (const slot of lifecycle.isEnding ? [] : slots) {
    const { record } = slot;
    if (record?.status !== 'failed' || !isChosen(state, slot) || jobs.get(record.key) !== undefined) continue;
    if (slices.isOthers(record) || closedFor(state, slot) !== undefined) continue;
    const job = jobToBegin(state, slot);
    if (job === undefined) continue;
    begin(state, job, lease);
    hasBegun ||= jobs.get(record.key) !== undefined;
  }
  return hasBegun;
}

function jobToBegin(state: SchedulerState, slot: Slot): Job | undefined {
  const { options, lookup, now } = state;
  const { job: spec } = slot;
  if (spec === undefined || !areInputsDone(state, spec)) return undefined;
  const lineage = lineageOf(spec, taskOf(state, spec.parent), lookup);
  return jobForSlot(slot, lineage, options.settings, redosWaiting(state), options.invocation, now);
}

function begin(state: SchedulerState, job: Job, lease: Lease | undefined): void {
  placeJob(state, undefined, withLease({ lease: takeUp(state, lease, job.record.key) }, job));
}

const isChosen = ({ options: { steps } }: SchedulerState, { step }: Slot): boolean =>
  steps === undefined || steps.has(step);

/** Whether all jobs are done that a request shows, continues or names. A request waits for a redone job, as a click does. */
function areInputsDone({ lookup }: SchedulerState, job: JobSpec): boolean {
  const { request, parent, reads = [] } = job;
  if (sourcesOf(job).length === 0) return true;
  const needed = new Set([...(request.press === undefined ? needsOf(job) : []), ...reads]);
  // A job that a request only starts from needs no files.
  const start = parent !== undefined && !showsJob(request, parent) && !reads.includes(parent) ? parent : '';
  return [...needed].every((key) => {
    const record = lookup(key);
    return record?.status === 'done' || (key === start && record !== undefined && lacksFilesYet(record));
  });
}

const showsJob = (request: JobSpec['request'], key: string): boolean =>
  (request.images ?? []).some((image) => 'job' in image && image.job === key);

/** Keys of the jobs of a cell that are based on one of these, over any number of others. */
function keysBelow(slots: readonly Slot[], from: ReadonlyMap<string, unknown>): ReadonlySet<string> {
  const below = new Set<string>();
  // A file lists its steps in any order: a job below a later step is found in the next round.
  for (let size = -1; size !== below.size; ) {
    size = below.size;
    for (const { job } of slots)
      if (job !== undefined && sourcesOf(job).some((key) => from.has(key) || below.has(key)))
        below.add(job.key);
  }
  return below;
}
