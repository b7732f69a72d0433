import type { JobRecord } from '../../../plan/job.ts';
import type { LateFact } from '../../../state/store.ts';
import type { Job } from '../../machine/job.ts';
import { factDecided, submissionOf } from '../../machine/search/late-fact.ts';
import type { Lease } from '../../ports.ts';
import {
  type Effect,
  isOfOneJob,
  isPaid,
  isSameLease,
  type RunCommit,
  type RunInput,
  routeOf,
  type TakenByOthers,
} from '../commit.ts';
import { leaveCell } from '../drain.ts';
import { releaseCells } from '../place-job.ts';
import type { SchedulerState } from '../state/state.ts';

/** Forgets the decisions of a commit that other workers have taken over. */
export function onRefused(
  state: SchedulerState,
  { commit, others }: Extract<RunInput, { type: 'refused' }>,
): void {
  for (const lease of others.lost) loseSlice(state, lease, commit, others.isWritten);
  const isLost = ({ job }: Effect): boolean => others.lost.some((slice) => isSameLease(job.lease, slice));
  for (const key of others.refused) {
    const lease = commit.leases?.get(key);
    for (const effect of commit.effects) if (isOf(effect, key) && !isLost(effect)) unsend(state, effect);
    const job = state.jobs.get(key);
    // A cell may have been closed because of a decision that was not written.
    if (job === undefined) lookAgain(state);
    // This worker may have leased the slice that wrote the key first since then.
    if (job !== undefined && lease !== undefined && isSameLease(job.lease, lease)) forgetJob(state, job);
    else releaseCells(state, key);
  }
}

/** Resolves all cells once more before any slice is closed. */
function lookAgain({ slices, outbox }: SchedulerState): void {
  for (const leased of slices.leased) leased.looksAgain = true;
  outbox.reopen();
}

const isOf = (effect: Effect, key: string): boolean => isOfOneJob(effect) && effect.job.record.key === key;

/** Forgets a job that belongs to another slice now. Its cells are resolved again. */
export function forgetJob(state: SchedulerState, job: Job): void {
  const { key } = job.record;
  if (job.lease !== undefined)
    for (const effect of state.outbox.forget(key, job.lease)) unsend(state, effect);
  drop(state, job);
  state.kinds.forget(key);
  state.slices.forget(key);
  releaseCells(state, key);
}

function drop({ jobs, routes, now }: SchedulerState, job: Job): void {
  if (jobs.isWorkedOn(job.record.key)) routes.queues.submit.lane().pace.ended(job.record.key, now);
  jobs.drop(job.record.key);
}

/**
 * Reverts an effect that is never sent.
 *
 * @param isWritten true where the state counts its submission: only who takes the job over reverts that
 */
export function unsend({ routes, budget, now }: SchedulerState, effect: Effect, isWritten = false): void {
  const { job, send } = effect;
  const { record } = job;
  const route = routeOf[send.kind];
  if (route !== undefined) routes.onUnsent(route, now, record.key);
  if (send.kind === 'ask') routes.tokens.settle(record.key, 0, now);
  // The first confirm of a modal belongs to its click, which is counted.
  const attempts = record.attempts - Number(record.modal?.sent !== 1);
  if (isPaid(effect) && !isWritten) budget.note(record, { ...record, status: 'pending', attempts });
}

/**
 * Forgets a slice that another worker has taken over.
 *
 * @param commit the commit that was not written for the slice, or whose effects must not be sent any more
 * @param isWritten whether the commit's record of a job is written; default: none is
 */
export function loseSlice(
  state: SchedulerState,
  lease: Lease,
  commit?: RunCommit,
  isWritten: TakenByOthers['isWritten'] = () => false,
): void {
  const { slices, jobs, cells, outbox, kinds } = state;
  const isMine = (one: { readonly lease?: Lease }): boolean => isSameLease(one.lease, lease);
  const effects = (commit?.effects ?? []).filter(({ job, send }) => isMine(job) && send.kind !== 'list');
  for (const effect of effects) unsend(state, effect, isWritten(effect.job.record.key, lease.slice));
  const taken = new Map(
    (commit?.records ?? [])
      .filter(({ key }) => isSameLease(commit?.leases?.get(key), lease))
      .map((record) => [record.key, record] as const),
  );
  const active = [...jobs.all()].filter(isMine).map(({ record }) => record.key);
  const decided = new Set([...taken.keys(), ...active, ...outbox.keysOf(lease)]);
  // The records of a commit that is being written are visible to cells of slices taken since, including this one.
  if (decided.size > 0) lookAgain(state);
  for (const key of decided) {
    const job = jobs.get(key);
    // The record in memory: the durable form of a redo that was given back shows the task that stays.
    const own = job !== undefined && isMine(job) ? job.record : undefined;
    const record = own ?? outbox.record(key) ?? taken.get(key);
    const unsent = [...effects.filter((effect) => isOf(effect, key)), ...outbox.forget(key, lease)];
    for (const effect of unsent) if (!effects.includes(effect)) unsend(state, effect);
    for (const fact of factsOf(state, key, record, unsent)) outbox.addLateFact(fact);
    slices.forget(key);
    if (job !== undefined && isMine(job)) {
      drop(state, job);
      kinds.forget(key);
    }
    if (job === undefined || isMine(job)) releaseCells(state, key);
  }
  if (slices.ofLease(lease) === undefined) return;
  cells.incoming = cells.incoming.filter((cell) => slices.leaseOf(cell)?.slice !== lease.slice);
  for (const open of cells.open.all()) if (isMine(open)) leaveCell(state, open);
  slices.drop(lease.slice);
  outbox.forgetEnd(lease);
  slices.ending.add(lease);
}

/** Returns what is certain about the submissions of a job whose slice is lost. Results of requests in flight follow later. */
function factsOf(
  { slices }: SchedulerState,
  key: string,
  record: JobRecord | undefined,
  unsent: readonly Effect[],
): readonly LateFact[] {
  const never = unsent.flatMap(({ job, send }) =>
    send.kind === 'submit' || send.kind === 'ask' ? (submissionOf(job.record) ?? []) : [],
  );
  const sent = slices.sent.get(key);
  const isUnderWay = [...slices.paid].some((effect) => isOf(effect, key));
  const decided =
    slices.answers.get(key) ??
    (sent === undefined || record === undefined || isUnderWay ? undefined : factDecided(record, sent));
  return decided === undefined ? never : [...never, decided];
}

/** Handles a commit that is not durable and becomes part of the next one, without what was lost meanwhile. */
export function onRequeued(state: SchedulerState, { leases = new Map() }: RunCommit): void {
  for (const lease of new Set<Lease>(leases.values()))
    if (state.slices.ofLease(lease) === undefined) loseSlice(state, lease);
}
