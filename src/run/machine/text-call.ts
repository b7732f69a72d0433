import type { SaveFailure } from '../../artifacts/writer.ts';

import type { AssumedTokens, JobError, JobRecord, TokenUsage } from '../../plan/job.ts';
import { isTextRequest } from '../../plan/job-request.ts';
import { addUsage, tokenSides, totalTokens } from '../../plan/usage.ts';
import type { ServiceFailure } from '../../service/result.ts';
import {
  type Asked,
  become,
  type CallResult,
  type Job,
  type JobContext,
  type JobStep,
  leaseName,
  type NextRequest,
} from './job.ts';
import { replacing } from './redo.ts';
import { lostCall, mayHaveMade } from './retry/in-doubt.ts';
import { afterSeveral, defer, restAfter, retryLater, revert, revertAttempt } from './retry/retry.ts';
import { fileError, jobError } from './retry/service-failure.ts';
import { attemptOf, rest, settle } from './transition.ts';

/**
 * Makes the call on its turn on the text route. As for a submission, the intent becomes durable before the request is sent and counts as an
 * attempt from then on. But a text call whose reply is lost is made again: only its text is lost.
 */
export function askNow(job: Job, { now }: JobContext): JobStep {
  const record = become(job.record, 'submitting', {
    attempts: job.record.attempts + 1,
    submittedAt: now,
    submittedBy: job.lease && leaseName(job.lease),
    sender: undefined,
    error: undefined,
    finishedAt: undefined,
  });
  return { job: { ...job, record, nextRequest: { kind: 'answer' } }, send: { kind: 'ask' } };
}

/** Returns the name of a call within its job, as used in `unheard` of the record. */
export const submissionName = ({
  submittedAt,
  submittedBy,
}: Required<Pick<JobRecord, 'submittedAt' | 'submittedBy'>>): string => `${submittedAt}/${submittedBy}`;

/** Returns the record of a text call to make again; its attempt stays counted. */
export const requeue = (record: JobRecord): JobRecord =>
  become(record, 'pending', { submittedAt: undefined });

/** Handles the result of a text call. */
export function onAskResult(job: Job, result: CallResult, context: JobContext): JobStep {
  const paid = account(job, result, context);
  const step = onResult(paid, result, context);
  const { key, submittedAt = context.now } = job.record;
  return { ...step, attempt: attemptOf({ key }, submittedAt, ...outcomeOf(result)) };
}

function onResult(job: Job, result: CallResult, context: JobContext): JobStep {
  switch (result.kind) {
    case 'answered':
      return onReply(job, result.asked, context);
    case 'refused':
      return onFailure(job, result.error, context);
    case 'unread':
      return onUnread(job, result.error, context);
    case 'unwritten':
      return onUnwritten(job, result, context);
  }
}

/** Adds the tokens of a reply, usable or not, and their cost. */
function account(job: Job, result: CallResult, context: JobContext): Job {
  const usage = usageOf(result);
  const hasReply = result.kind === 'answered' || result.kind === 'unwritten';
  if (usage === undefined && !hasReply) return job;
  // A late answer to an earlier call belongs to another round.
  const record = hasReply ? become(job.record, job.record.status, { unheard: undefined }) : job.record;
  if (!isTextRequest(record.request)) throw new Error(`Internal error: ${record.key} is not a text job.`);
  const price = context.replyPrice(record.request, usage);
  const uncounted = hasReply ? uncountedOf(usage, result, context.assumedUsage(record)) : undefined;
  const isPricedByTokens =
    uncounted !== undefined && context.replyPrice(record.request, undefined) === undefined;
  return {
    ...job,
    record: become(record, record.status, {
      usage: sumUsage(record.usage, usage),
      cost: price === undefined ? record.cost : (record.cost ?? 0) + price,
      ...(isPricedByTokens ? { partlyPriced: true as const } : {}),
      ...(uncounted && { assumed: assumedOf(record, uncounted, isPricedByTokens, context) }),
    }),
  };
}

/**
 * Estimated tokens that the service did not count for a reply: all of them, or a side that certainly used some. Undefined where it counted
 * both sides, or a total above the counted side.
 */
function uncountedOf(
  usage: TokenUsage | undefined,
  result: CallResult,
  estimated: TokenUsage & { readonly total: number },
): (TokenUsage & { readonly total: number }) | undefined {
  if (usage === undefined || totalTokens(usage) === 0) return estimated;
  const { sent, made } = tokenSides(usage) ?? { sent: 0, made: 0 };
  if (totalTokens(usage) > sent + made) return undefined;
  if (sent === 0) return side('prompt', estimated);
  return made === 0 && saysSomething(result) ? side('candidates', estimated) : undefined;
}

const side = (name: 'prompt' | 'candidates', { [name]: count = 0 }: TokenUsage) => ({
  [name]: count,
  total: count,
});

const saysSomething = (result: CallResult): boolean => {
  const text =
    result.kind === 'answered' ? result.asked.text : result.kind === 'unwritten' ? result.text : undefined;
  return text?.candidates.some(({ text: said, parts }) => said !== '' || parts.length > 0) ?? false;
};

/** Charges uncounted tokens of a reply to the budgets by their estimate. Otherwise no budget would ever end the run. */
function assumedOf(
  record: JobRecord,
  usage: TokenUsage & { readonly total: number },
  isPricedByTokens: boolean,
  { replyPrice }: JobContext,
): AssumedTokens {
  const { answers = 0, tokens = 0, cost } = record.assumed ?? {};
  const price =
    isPricedByTokens && isTextRequest(record.request) ? replyPrice(record.request, usage) : undefined;
  const costs = price === undefined ? cost : (cost ?? 0) + price;
  return {
    answers: answers + 1,
    tokens: tokens + usage.total,
    ...(costs === undefined ? {} : { cost: costs }),
  };
}

function onReply(job: Job, { verdict, text, artifacts }: Asked, context: JobContext): JobStep {
  const { now } = context;
  const { record } = job;
  switch (verdict.kind) {
    case 'done': {
      const done = become(record, 'done', {
        text,
        artifacts,
        tries: 0,
        finishedAt: now,
        error: undefined,
        putBack: undefined,
        ...replacing(record),
      });
      return { job: { ...job, record: done, misses: 0, nextRequest: { kind: 'nothing' } } };
    }
    case 'calls': {
      // The round is paid and answered: its turns are saved, and it is finished before another conversation begins.
      const turns = [...(record.turns ?? []), ...verdict.turns];
      const rounds = text.reply === undefined ? record.rounds : [...(record.rounds ?? []), text.reply];
      const next = become(record, 'pending', { turns, rounds, tries: 0, submittedAt: undefined });
      return { job: { ...job, record: next, misses: 0, depth: job.depth + 1, nextRequest: { kind: 'ask' } } };
    }
    case 'invalid': {
      const invalid = (record.invalid ?? 0) + 1;
      const { error } = verdict;
      const seen = { text, invalid, tries: 0 };
      if (invalid > Math.min(context.retry.invalid, verdict.most ?? Number.POSITIVE_INFINITY))
        return settle(job, 'failed', afterSeveral(error, invalid, 'answers'), now, seen);
      const waiting = become(requeue(record), 'pending', { ...seen, error });
      return restAfter(invalid, { ...job, record: waiting }, { next: ask() }, context);
    }
    case 'failed':
      return settle(job, 'failed', verdict.error, now, { text, tries: 0 });
  }
}

function lost(record: JobRecord, { price, assumedUsage }: JobContext): JobRecord {
  const { cost = price(record), tokens = assumedUsage(record).total } = record.reserve ?? {};
  return lostCall(record, cost, tokens);
}

function onFailure(asking: Job, failure: ServiceFailure, context: JobContext): JobStep {
  // A call that broke off with a token count is paid and accounted for.
  const isOpen = mayHaveMade(failure) && failure.usage === undefined;
  const job = isOpen ? { ...asking, record: lost(asking.record, context) } : asking;
  switch (failure.class) {
    case 'throttle':
      return deferCall(job, failure, context);
    case 'unsent':
    case 'stop':
      // The service did not accept the call: the job is as before its turn, held by the route's pause or the end of the run.
      return isOpen ? askAgain(job, context) : askUnsent(job, context);
    case 'permanent':
      return settle(job, 'failed', jobError(failure), context.now);
    case 'lost':
    case 'retry':
      return retryCall(
        failure.unstreamed ? unstreamed(job) : job,
        jobError(failure),
        failure.retryAfterMs,
        context,
      );
  }
}

/** Repeats the call without streaming in this run, whatever the pipeline says. */
const unstreamed = (job: Job): Job => {
  const { call } = job.record;
  return call === undefined ? job : { ...job, record: { ...job.record, call: { ...call, stream: false } } };
};

/** Handles an unreadable input: no call was sent, so it is not an attempt. Only failures that may pass are retried. */
function onUnread(job: Job, failure: SaveFailure, context: JobContext): JobStep {
  if (failure.class === 'stop') return askUnsent(job, context);
  const idle: Job = { ...job, record: revertAttempt(job.record) };
  if (failure.class === 'permanent') return settle(idle, 'failed', fileError(failure), context.now);
  return retryCall(idle, fileError(failure), failure.retryAfterMs, context);
}

/**
 * Handles a paid reply that could not be written, or whose files could not. A full disk stops the run, and the next run makes the call
 * again; otherwise the record has the text, and only the user can allow another paid call.
 */
function onUnwritten(
  job: Job,
  { error, text }: Extract<CallResult, { kind: 'unwritten' }>,
  context: JobContext,
): JobStep {
  if (error.class === 'stop') return askAgain(job, context);
  return settle(job, 'failed', fileError(error), context.now, { text, tries: 0 });
}

function retryCall(job: Job, error: JobError, atLeastMs: number | undefined, context: JobContext): JobStep {
  const onExhausted = (tries: number): JobStep =>
    settle(job, 'failed', afterSeveral(error, tries), context.now, { tries: 0 });
  const waiting = { ...job, record: requeue(job.record) };
  return retryLater(waiting, { status: 'pending', error, atLeastMs, next: ask(), onExhausted }, context);
}

/** Returns the job about to make its call again; the attempt counts. */
const askAgain = (job: Job, { now }: JobContext): JobStep =>
  rest({ ...job, record: requeue(job.record) }, 0, ask(), now);

/** Returns the job as before its turn; the attempt does not count. */
export const askUnsent = (job: Job, { now }: JobContext): JobStep => rest(revert(job), 0, ask(), now);

/** Defers a text call behind others, like a submission. It fails where others are answered and it never is. */
function deferCall(job: Job, failure: ServiceFailure, context: JobContext): JobStep {
  // A job that ends keeps the time of its last call.
  const onStarved = (starved: Job, why: JobError): JobStep =>
    settle({ ...starved, record: revertAttempt(job.record) }, 'failed', why, context.now);
  const retry = { error: jobError(failure), atLeastMs: failure.retryAfterMs, next: ask() };
  return defer(revert(job), { route: 'text', ...retry, onStarved }, context);
}

/** A new object each time: its identity marks the job's place in the queue. */
const ask = (): NextRequest => ({ kind: 'ask' });

function outcomeOf(result: CallResult): readonly [outcome: string, error?: JobError] {
  switch (result.kind) {
    case 'answered': {
      const { verdict } = result.asked;
      return 'error' in verdict ? [verdict.kind, verdict.error] : [verdict.kind];
    }
    case 'refused':
      return [result.error.class, jobError(result.error)];
    case 'unread':
    case 'unwritten':
      return [result.kind, fileError(result.error)];
  }
}

/** Adds the tokens of two replies. A part that neither reports stays unknown; the total is always known. */
export function sumUsage(sum: TokenUsage | undefined, more: TokenUsage | undefined): TokenUsage | undefined {
  if (sum === undefined && more === undefined) return undefined;
  const [a, b] = [sum ?? {}, more ?? {}];
  return { ...addUsage(a, b), total: totalTokens(a) + totalTokens(b) };
}

/** Returns the tokens that a reply reports. */
export function usageOf(result: CallResult): TokenUsage | undefined {
  switch (result.kind) {
    case 'answered':
      return result.asked.usage;
    case 'refused':
      return result.error.usage;
    case 'unwritten':
      return result.usage;
    case 'unread':
      return undefined;
  }
}

/** Returns the tokens that a result counts against the token rate; undefined where the service may have used an unknown number. */
export function tokensUsed(result: CallResult): number | undefined {
  const usage = usageOf(result);
  if (usage !== undefined) return totalTokens(usage);
  return mayHaveWorked(result) ? undefined : 0;
}

/** Whether the service may have worked on a call without a usable reply. */
export const mayHaveWorked = (result: CallResult): boolean =>
  result.kind !== 'unread' &&
  !(result.kind === 'refused' && result.error.class !== 'retry' && result.error.class !== 'lost');
