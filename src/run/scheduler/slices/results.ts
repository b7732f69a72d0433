import type { Committed } from '../../../state/store.ts';
import { factOfCall } from '../../machine/late-answer.ts';
import { factOf, isLast, submissionOf } from '../../machine/search/late-fact.ts';
import { tokensUsed } from '../../machine/text-call.ts';
import type { Hold } from '../../ports.ts';
import {
  type Effect,
  type HeldByOthers,
  isPaid,
  isSameHold,
  type RunCommit,
  type RunInput,
  routeOf,
} from '../commit.ts';
import type { SchedulerState } from '../state/state.ts';
import { unsend } from './lose.ts';

/** Returns the part of a commit that others hold: reported by the store, or lost while the commit was written. */
export function othersOf(
  { slices }: SchedulerState,
  { holds = new Map() }: RunCommit,
  { refused, lost }: Committed = nobody,
): HeldByOthers {
  const gone = new Map<number, Hold>();
  for (const hold of holds.values())
    if (lost.has(hold.slice) || slices.heldAs(hold) === undefined) gone.set(hold.slice, hold);
  return { refused, lost: [...gone.values()] };
}

const nobody: Committed = { refused: new Set(), lost: new Set() };

/** Returns a commit without paid requests that it no longer intends, because another slice has taken the job up since. */
export function withIntents(state: SchedulerState, commit: RunCommit): RunCommit {
  if (state.options.others === undefined) return commit;
  const records = new Map(commit.records.map((record) => [record.key, record]));
  const isIntended = (effect: Effect): boolean => {
    const { record, hold } = effect.job;
    const intent = records.get(record.key) ?? state.lookup(record.key);
    const by = commit.holds?.get(record.key) ?? state.jobs.get(record.key)?.hold;
    const isSent = intent?.status === 'submitting' && isLast(intent, submissionOf(record));
    return !isPaid(effect) || hold === undefined || (isSent && isSameHold(by, hold));
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
  const heard =
    input.type === 'asked' && submission !== undefined ? factOfCall(submission, input.result) : undefined;
  // Only for the same lease: a job that was forgotten and taken up again gets no earlier result.
  if (send.kind === 'list' || state.jobs.get(job.record.key)?.hold === job.hold) {
    if (heard !== undefined) slices.answers.set(job.record.key, heard);
    return true;
  }
  const route = routeOf[send.kind];
  if (route !== undefined) routes.onUnsent(route, now, job.record.key);
  if (input.type === 'asked') routes.tokens.settle(input.key, tokensUsed(input.result), now);
  if (heard !== undefined) outbox.hear(heard);
  if (submission === undefined) return false;
  if (send.kind !== 'submit') return false;
  const fact =
    input.type === 'submitted'
      ? factOf(submission, input.result)
      : input.type === 'unread'
        ? submission
        : undefined;
  if (fact !== undefined) outbox.hear(fact);
  return false;
}

/** Notes that the effects of a commit are sent; earlier decisions are durable. */
export function onSent({ slices }: SchedulerState, { records, effects, events }: RunCommit): void {
  for (const event of events)
    if (event.type === 'slice:end' && slices.heldAs(event) !== undefined) slices.drop(event.slice);
  for (const record of records)
    if (record.status !== 'submitting' || !isLast(record, slices.sent.get(record.key)))
      slices.forget(record.key);
  for (const effect of effects) {
    const { job, send } = effect;
    if (job.hold === undefined || !isPaid(effect)) continue;
    slices.paid.add(effect);
    const submission = submissionOf(job.record);
    if (send.kind === 'submit' && submission !== undefined) slices.sent.set(job.record.key, submission);
  }
}
