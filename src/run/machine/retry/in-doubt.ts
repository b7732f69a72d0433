import type { JobError, JobRecord } from '../../../plan/job.ts';
import type { ServiceFailure } from '../../../service/result.ts';
import { become } from '../job.ts';
import { isUnmade } from './service-failure.ts';

/**
 * Accounts for unanswered submissions, and for those whose answer leaves their outcome open. Each may have made a task and may
 * have been paid, whatever happens to the job later: a budget counts it, and the job cannot fail as if there were no task.
 */

/** True where a task may exist although the submission failed. */
export const mayHaveMade = (failure: ServiceFailure): boolean =>
  failure.class === 'lost' || failure.mayBeDone === true || (failure.class === 'retry' && !isUnmade(failure));

/** Why a job is in doubt whose submission had no result when the run ended. */
export const interruptedSubmit: JobError = {
  code: 'submit.interrupted',
  message:
    'The run ended between sending this submission and receiving its answer, so a task may exist and may have been paid.',
};

/** The record with its last submission counted as unanswered. @param price of one submission, where known */
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

/** The record once its task is known, or once it is reset to be submitted again: earlier unanswered submissions stay counted, but no longer turn a later failure into a doubt. */
export function closeUnanswered(record: JobRecord): JobRecord {
  if (record.doubtful?.since === undefined) return record;
  const { since: _, ...doubtful } = record.doubtful;
  return become(record, record.status, { doubtful });
}

/**
 * The record of a text call with its last call counted as unanswered. It leaves no task behind, so that nothing is in doubt but
 * its price.
 *
 * @param price of the call, where known
 */
export const lostCall = (record: JobRecord, price: number | undefined): JobRecord =>
  closeUnanswered(addUnanswered(record, price));

/**
 * One unanswered submission is known to have made the job's task: its possible cost becomes a known cost.
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
