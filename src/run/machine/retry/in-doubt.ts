import { isInterrupted } from '../../../plan/estimate/revival.ts';
import type { JobError, JobRecord, UnconfirmedSubmits } from '../../../plan/job.ts';
import { isTextRequest } from '../../../plan/job-request.ts';
import type { ServiceFailure } from '../../../service/result.ts';
import { become, type JobContext, type JobStep } from '../job.ts';
import { isUnmade } from './service-failure.ts';

/**
 * Accounts for submissions without an answer, or with an answer that leaves their outcome open. Each may have made a task and may have been
 * paid, whatever happens to the job later: a budget counts it, and the job cannot fail as if there were no task.
 */

/** Whether a task may exist although the submission failed. */
export const mayHaveMade = (failure: ServiceFailure): boolean =>
  failure.class === 'lost' || failure.mayBeDone === true || (failure.class === 'retry' && !isUnmade(failure));

/** The error of a job in doubt whose submission had no result when the run ended. */
export const interruptedSubmit: JobError = {
  code: 'submit.interrupted',
  message:
    'The run ended between sending this submission and receiving its answer, so a task may exist and may have been paid.',
};

/**
 * Returns the record with its last submission counted as unanswered.
 *
 * @param price price of one submission, where known
 * @param tokens estimated tokens of a text call
 */
export function addUnanswered(record: JobRecord, price: number | undefined, tokens?: number): JobRecord {
  const { doubtful, submittedAt, status } = record;
  const { count = 0, cost, since = submittedAt } = doubtful ?? {};
  const all = price === undefined ? cost : (cost ?? 0) + price;
  const used = tokens === undefined ? doubtful?.tokens : (doubtful?.tokens ?? 0) + tokens;
  return become(record, status, {
    doubtful: {
      count: count + 1,
      ...(all === undefined ? {} : { cost: all }),
      ...(used === undefined ? {} : { tokens: used }),
      ...(since === undefined ? {} : { since }),
    },
  });
}

/** Returns the possible usage of the remaining submissions, in equal shares, after one is removed; undefined where none is left. */
export function withoutOne({
  count = 0,
  cost,
  tokens,
}: Partial<UnconfirmedSubmits>): UnconfirmedSubmits | undefined {
  const left = count - 1;
  if (left <= 0) return undefined;
  return {
    count: left,
    ...(cost === undefined ? {} : { cost: (cost * left) / count }),
    ...(tokens === undefined ? {} : { tokens: Math.round((tokens * left) / count) }),
  };
}

/** Adds the reserve of a request in flight to its record, and removes it from any other record. A confirm is paid with its click. */
export function withReserve(step: JobStep, { price, assumedUsage }: JobContext): JobStep {
  const { job } = step;
  const { record } = job;
  if (isInterrupted(record) === (record.reserve !== undefined)) return step;
  const cost = price(record);
  const tokens = isTextRequest(record.request) ? assumedUsage(record).total : undefined;
  const reserve = { ...(cost === undefined ? {} : { cost }), ...(tokens === undefined ? {} : { tokens }) };
  const isKnown = record.reserve === undefined && Object.keys(reserve).length > 0;
  if (record.reserve === undefined && !isKnown) return step;
  return {
    ...step,
    job: { ...job, record: become(record, record.status, { reserve: isKnown ? reserve : undefined }) },
  };
}

/** Returns the record of a known or reset task: unanswered submissions stay counted, but no longer turn a failure into a doubt. */
export function closeUnanswered(record: JobRecord): JobRecord {
  if (record.doubtful?.since === undefined) return record;
  const { since: _, ...doubtful } = record.doubtful;
  return become(record, record.status, { doubtful });
}

/**
 * Returns the record of a text call with its last call counted as unanswered. It leaves no task, so only its price and tokens are
 * uncertain.
 *
 * @param price price of the call, where known
 * @param tokens estimated tokens
 */
export const lostCall = (record: JobRecord, price: number | undefined, tokens: number): JobRecord =>
  closeUnanswered(addUnanswered(record, price, tokens));

/**
 * Returns the record once an unanswered submission is known to have made the job's task: its possible cost becomes a known cost.
 *
 * @param price price of one submission, where known
 */
export function resolveUnanswered(record: JobRecord, price: number | undefined): JobRecord {
  const { count = 0, cost } = record.doubtful ?? {};
  const share = cost === undefined || count === 0 ? undefined : cost / count;
  const paid = price ?? share;
  return become(record, record.status, {
    cost: paid === undefined ? record.cost : (record.cost ?? 0) + paid,
    doubtful: withoutOne({ ...record.doubtful }),
  });
}
