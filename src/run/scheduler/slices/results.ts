import type { Committed } from '../../../state/store.ts';
import { factOfCall } from '../../machine/late-answer.ts';
import { factOf, isLast, submissionOf } from '../../machine/search/late-fact.ts';
import { tokensUsed } from '../../machine/text-call.ts';
import type { Lease } from '../../ports.ts';
import {
  type Effect,
  isPaid,
  isSameLease,
  type RunCommit,
  type RunInput,
  routeOf,
  type TakenByOthers,
} from '../commit.ts';
import type { SchedulerState } from '../state/state.ts';
import { unsend } from './lose.ts';

/** Returns the part of a commit that other workers have taken over: as the store reports, or as its slice was lost while it was written. */
export function othersOf(
  { slices }: SchedulerState,
  { leases = new Map() }: RunCommit,
  { refused, lost }: Committed = nobody,
): TakenByOthers {
  const gone = new Map<number, Lease>();
  for (const lease of leases.values())
    if (lost.has(lease.slice) || slices.ofLease(lease) === undefined) gone.set(lease.slice, lease);
  const isWritten = (key: string, slice: number): boolean => !refused.has(key) && !lost.has(slice);
  return { refused, lost: [...gone.values()], isWritten };
}

const nobody: Committed = { refused: new Set(), lost: new Set() };

/** Returns a commit without paid requests that it no longer intends, because another slice has taken the job up since. */
export function withIntents(state: SchedulerState, commit: RunCommit): RunCommit {
  if (state.options.others === undefined) return commit;
  const records = new Map(commit.records.map((record) => [record.key, record]));
  const isIntended = (effect: Effect): boolean => {
    const { record, lease } = effect.job;
    const intent = records.get(record.key) ?? state.lookup(record.key);
    const by = commit.leases?.get(record.key) ?? state.jobs.get(record.key)?.lease;
    const isSent = intent?.status === 'submitting' && isLast(intent, submissionOf(record));
    return !isPaid(effect) || lease === undefined || (isSent && isSameLease(by, lease));
  };
  for (const effect of commit.effects) if (!isIntended(effect)) unsend(state, effect);
  return { ...commit, effects: commit.effects.filter(isIntended) };
}

/** Handles the result of a request for a slice. @returns false where the slice was lost meanwhile: nothing follows from the result */
export function onResultFor(
  state: SchedulerState,
  { effect, input }: Extract<RunInput, { type: 'result' }>,
): boolean {
  const { slices, routes, outbox, now } = state;
  const { job, send } = effect;
  slices.paid.delete(effect);
  const submission = submissionOf(job.record);
  const answered =
    input.type === 'asked' && submission !== undefined ? factOfCall(submission, input.result) : undefined;
  // Only for the same lease: a job that was forgotten and taken up again gets no earlier result.
  if (send.kind === 'list' || state.jobs.get(job.record.key)?.lease === job.lease) {
    if (answered !== undefined) slices.answers.set(job.record.key, answered);
    return true;
  }
  const route = routeOf[send.kind];
  if (route !== undefined) routes.onUnsent(route, now, job.record.key);
  if (input.type === 'asked') routes.tokens.settle(input.key, tokensUsed(input.result), now);
  if (answered !== undefined) outbox.addLateFact(answered);
  if (submission === undefined) return false;
  if (send.kind !== 'submit') return false;
  const fact =
    input.type === 'submitted'
      ? factOf(submission, input.result)
      : input.type === 'unread'
        ? submission
        : undefined;
  if (fact !== undefined) outbox.addLateFact(fact);
  return false;
}

/** Notes that the effects of a commit are sent; earlier decisions are durable. */
export function onSent({ slices }: SchedulerState, { records, effects, events }: RunCommit): void {
  for (const event of events)
    if (event.type === 'slice:end' && slices.ofLease(event) !== undefined) slices.drop(event.slice);
  for (const { key, status } of records) if (status !== 'submitting') slices.forget(key);
  for (const effect of effects) {
    const { job, send } = effect;
    if (job.lease === undefined || !isPaid(effect)) continue;
    slices.paid.add(effect);
    const submission = submissionOf(job.record);
    if (send.kind === 'submit' && submission !== undefined) slices.sent.set(job.record.key, submission);
  }
}
