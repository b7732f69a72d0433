import type { JobError, JobRecord } from '../../../plan/job.ts';
import type { ServiceFailure } from '../../../service/result.ts';
import { become } from '../job.ts';
import { isUnmade } from './service-failure.ts';

/**
 * What is known of submissions that nobody answered, or not with what became of them. Each may have made a task and may have
 * been paid, whatever comes of the job later: a budget counts it, and the job cannot fail over it as if nothing had been made.
 */

/** True where a task may exist although the submission failed. */
export const mayHaveMade = (failure: ServiceFailure): boolean =>
  failure.class === 'lost' || failure.mayBeDone === true || (failure.class === 'retry' && !isUnmade(failure));

/** Why a job is in doubt whose submission nobody heard of again before the run ended. */
export const interruptedSubmit: JobError = {
  code: 'submit.interrupted',
  message:
    'The run ended between sending this submission and hearing its answer, so a task may exist and may have been paid.',
};

/** The record with one more such submission: the one that it says was sent last. @param price of it, where known */
export function addUnanswered(record: JobRecord, price: number | undefined): JobRecord {
  const { doubtful, submittedAt, status } = record;
  const { count = 0, cost, since = submittedAt } = doubtful ?? {};
  const all = price === undefined ? cost : (cost ?? 0) + price;
  return become(record, status, {
    doubtful: {
      count: count + 1,
      ...(all === undefined ? {} : { cost: all }),
      ...(since === undefined ? {} : { since }),
    },
  });
}

/** The record once its task is known, or once it is reset to be submitted again: earlier unanswered submissions stay counted, and no later failure is put down to them. */
export function closeUnanswered(record: JobRecord): JobRecord {
  if (record.doubtful?.since === undefined) return record;
  const { since: _, ...doubtful } = record.doubtful;
  return become(record, record.status, { doubtful });
}

/**
 * One of them is known to have made the job's task: what it may have cost is what it cost.
 *
 * @param price of one submission, where known now
 */
export function resolveUnanswered(record: JobRecord, price: number | undefined): JobRecord {
  const { count = 0, cost } = record.doubtful ?? {};
  const share = cost === undefined || count === 0 ? undefined : cost / count;
  const paid = price ?? share;
  const left = count - 1;
  return become(record, record.status, {
    cost: paid === undefined ? record.cost : (record.cost ?? 0) + paid,
    doubtful:
      left > 0
        ? { count: left, ...(cost === undefined || share === undefined ? {} : { cost: cost - share }) }
        : undefined,
  });
}
