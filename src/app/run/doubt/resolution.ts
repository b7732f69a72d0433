import { type Attempt, droppedCode, type JobError, type JobRecord } from '../../../plan/job.ts';
import { become } from '../../../run/machine/job.ts';
import { withAdoptedTask } from '../../../run/machine/poll/poll.ts';
import { asBefore, keptAsIs } from '../../../run/machine/redo.ts';
import { interrupted, retryOf } from '../../../run/machine/resume.ts';
import type { Turn } from '../../../state/store.ts';

/** The user's decision about a job in doubt. */
export type Decision =
  /** The service made the job: this is its task. */
  { readonly kind: 'task'; readonly taskId: string } | { readonly kind: 'drop' } | { readonly kind: 'retry' };

/**
 * Applies a decision to a job in doubt and to its history, in one commit, so that a settled job always has an entry that says who settled
 * it.
 *
 * @param record in doubt, or being submitted in a directory where no run is on
 * @param price of one submission of the job, where known
 */
export function resolveInDoubt(
  record: JobRecord,
  decision: Decision,
  price: number | undefined,
  now: number,
): Turn {
  const doubtful = record.status === 'submitting' ? interrupted(record, now, price) : record;
  return {
    records: [decided(doubtful, decision, price, now)],
    attempts: [
      // The next submission replaces the time in the record, so the history keeps it.
      ...(record.status === 'submitting' ? [doubtfulAttempt(doubtful)] : []),
      entryOf(record.key, decision, now),
    ],
    // The job's redo order has had its turn.
    ...(decision.kind === 'drop' && { redos: new Map([[record.key, 'made']]) }),
  };
}

function decided(record: JobRecord, decision: Decision, price: number | undefined, now: number): JobRecord {
  switch (decision.kind) {
    case 'task':
      return withAdoptedTask(record, decision.taskId, price);
    case 'drop':
      // The possible cost stays.
      return record.former === undefined
        ? become(record, 'failed', { error: droppedError(record.error), finishedAt: now })
        : keptAsIs(asBefore(record), record);
    case 'retry':
      return retryOf(record, 0, undefined).record;
  }
}

/** The error of a dropped job. The request id stays, so that the operator can still trace the submission. */
const droppedError = (error: JobError | undefined): JobError => ({
  ...error,
  code: droppedCode,
  message: `Given up by promptpress resolve --drop.${error === undefined ? '' : ` It was in doubt: ${error.message}`}`,
});

const doubtfulAttempt = ({ key, submittedAt, error }: JobRecord): Attempt => ({
  key,
  at: submittedAt ?? 0,
  outcome: 'unanswered',
  ...(error === undefined ? {} : { error }),
});

function entryOf(key: string, decision: Decision, at: number): Attempt {
  switch (decision.kind) {
    case 'task':
      return { key, at, outcome: 'user.adopted', taskId: decision.taskId };
    case 'drop':
      return { key, at, outcome: 'user.dropped' };
    case 'retry':
      return { key, at, outcome: 'user.retry' };
  }
}
