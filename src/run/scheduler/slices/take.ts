import type { JobRecord } from '../../../plan/job.ts';
import { isTextRequest } from '../../../plan/job-request.ts';
import type { Slot } from '../../../plan/slot.ts';
import type { LateFact } from '../../../state/store.ts';
import { type Job, newJob } from '../../machine/job.ts';
import { answerOf, withCallFact } from '../../machine/late-answer.ts';
import { step } from '../../machine/machine.ts';
import { isLast, withLateFact } from '../../machine/search/late-fact.ts';
import { attemptOf } from '../../machine/transition.ts';
import type { CellBatch, Lease, LeftRecord, SliceBatch } from '../../ports.ts';
import { jobContext } from '../job-context.ts';
import { adoptJob, releaseCells, takeUp } from '../place-job.ts';
import { writeRecord } from '../redo-orders.ts';
import type { SchedulerState } from '../state/state.ts';
import { loseSlice } from './lose.ts';

/**
 * Extends a run on one machine to several. A worker leases slices of the cells; only the store compares the epochs of the leases. A worker's
 * decisions for a slice that another worker has taken over, or for a key that another slice wrote first, are never written, and the
 * requests that depend on them are never sent.
 *
 * - A lease begins with the same input that adopts the slice's unfinished jobs: no cell can find such a job before.
 * - A lost slice is forgotten at once. Results of its paid requests in flight are awaited and saved as facts.
 * - A slice is closed once all its cells are closed and none of its jobs is in flight. One that only waits is given back.
 * - A worker without task slots takes slices too, a few at a time: tasks that were left are polled, which needs no slot. A slice without
 * such tasks is given back, and the next one taken.
 */

/** Adds cells: for a slice, after its unfinished jobs. */
export function giveCells(state: SchedulerState, { cells, of, last }: CellBatch): void {
  const { slices } = state;
  const before = of && slices.of(of.slice);
  // The worker gets a slice again that it had lost without notice.
  if (before !== undefined && before.epoch !== of?.epoch) loseSlice(state, leaseOf(before));
  if (of !== undefined) takeSlice(state, of, cells);
  state.cells.incoming.push(...cells);
  state.cells.areAllGiven = last;
}

const leaseOf = ({ slice, epoch }: Lease): Lease => ({ slice, epoch });

function takeSlice(state: SchedulerState, of: SliceBatch, cells: CellBatch['cells']): void {
  const leased = state.slices.lease(of.slice, of.epoch);
  const lease = leaseOf(of);
  for (const left of of.left ?? []) adoptLeft(state, left, lease);
  state.slices.give(cells, leased);
  leased.isWhole = of.isWhole;
}

/**
 * Takes up the unfinished jobs of a slice. Jobs that need nothing at once are left to the cells that need them, of any slice.
 *
 * A cell of another slice may have begun the job before this slice was claimed, without knowing of it. Either that is refused in the end,
 * or that slice is lost; until then the record is kept.
 */
function adoptLeft(state: SchedulerState, left: LeftRecord, lease: Lease): void {
  const { record, sender, lateFact } = left;
  const { status, key, request } = record;
  const isText = isTextRequest(request);
  if (status === 'in-doubt' && lateFact !== undefined) return applyLateFact(state, lateFact, lease);
  if (status === 'pending' && isText && lateFact !== undefined) return applyLateFact(state, lateFact, lease);
  if (status === 'pending' || status === 'in-doubt' || status === 'modal') return;
  if (isBegun(state, key) || !state.slices.isStill(key, lease)) return state.slices.keepLeft(left, lease);
  if (isText && lateFact !== undefined && isLast(record, lateFact))
    return applyLateFact(state, lateFact, lease);
  const isSending = status === 'submitting' && sender !== undefined;
  adoptJob(state, isSending ? { ...record, sender } : record, lease);
  // The answer to an earlier call counts once this one cannot be sent any more.
  if (lateFact !== undefined && !(isText && isSending)) applyLateFact(state, lateFact, lease);
}

/** Whether this worker runs a job, or has decisions about it that are not durable. */
const isBegun = ({ jobs, outbox }: SchedulerState, key: string): boolean =>
  jobs.get(key) !== undefined || outbox.leaseOf(key) !== undefined;

/**
 * Takes up the kept jobs of a slice for a cell, once the jobs begun in their place are given up.
 *
 * @returns false where there is none
 */
export function adoptKept(state: SchedulerState, slots: readonly Slot[]): boolean {
  let hasAdopted = false;
  for (const { job } of slots) {
    if (job === undefined || isBegun(state, job.key)) continue;
    const kept = state.slices.takeKept(job.key);
    if (kept === undefined) continue;
    adoptLeft(state, kept.left, kept.lease);
    hasAdopted = true;
  }
  return hasAdopted;
}

/** Applies a late fact: it says whether an unconfirmed submission made a task, or is the answer to a text call. */
function applyLateFact(state: SchedulerState, fact: LateFact, slice: Lease): void {
  const { lookup, jobs, outbox, options, budget } = state;
  const record = lookup(fact.key);
  if (record === undefined || jobs.get(fact.key) !== undefined) return;
  if (isTextRequest(record.request)) return applyCallFact(state, record, fact, slice);
  const known = withLateFact(record, fact, options.price(record));
  if (known === undefined) return;
  const lease = takeUp(state, slice, fact.key);
  budget.note(record, known);
  writeRecord(state, known, lease);
  outbox.emitStatus(record, known);
  // The worker that lost the slice could not save the attempt, by which the state knows who got a task.
  if (known.taskId !== undefined) outbox.attempt(attemptOf(known, fact.submittedAt, 'accepted'));
  if (known.status === 'running') adoptJob(state, known, lease);
}

/** After the answer to a text call the job is left to the cells that need it. */
function applyCallFact(state: SchedulerState, record: JobRecord, fact: LateFact, slice: Lease): void {
  const { budget, outbox } = state;
  const known = withCallFact(record, fact);
  if (known === undefined) return;
  const lease = takeUp(state, slice, fact.key);
  const result = answerOf(fact);
  const job: Job = { ...newJob(known, Number.MAX_SAFE_INTEGER, undefined), nextRequest: { kind: 'answer' } };
  const made = result === undefined ? { job } : step(job, { type: 'asked', result }, jobContext(state, job));
  budget.note(record, made.job.record);
  writeRecord(state, made.job.record, lease);
  if (made.attempt !== undefined) outbox.attempt(made.attempt);
  outbox.emitStatus(record, made.job.record);
}

/** Handles new records of other workers' jobs: cells that wait for them check whether they can continue. */
export function onPeerResults(state: SchedulerState, lateFacts: readonly LateFact[]): void {
  const { slices, cells, lookup } = state;
  for (const fact of lateFacts) {
    const lease = cells.open.awaiting(fact.key).find((open) => open.lease !== undefined)?.lease;
    if (lease !== undefined) applyLateFact(state, fact, lease);
  }
  for (const key of slices.awaited) {
    const record = lookup(key);
    const isOthers = state.jobs.get(key) === undefined && record !== undefined && slices.isOthers(record);
    // The cells that waited for the job may have been given back.
    if (isOthers && cells.open.awaiting(key).length > 0) continue;
    slices.awaited.delete(key);
    releaseCells(state, key);
  }
}
