import type { JobRecord } from '../../../plan/job.ts';
import { isTextRequest } from '../../../plan/job-request.ts';
import type { SubmitResult } from '../../../service/image-service.ts';
import type { ServiceResult } from '../../../service/result.ts';
import type { LateFact } from '../../../state/store.ts';
import { become } from '../job.ts';
import { withAdoptedTask } from '../poll/poll.ts';
import { mayHaveMade, withoutOne } from '../retry/in-doubt.ts';
import { revertAttempt } from '../retry/retry.ts';

/**
 * Facts that a worker learns about submissions of a slice it has lost. They decide nothing for the job, which another worker has put in
 * doubt, but they end the doubt: the task is polled, or the job is submitted again because it certainly never was. A text call is never in
 * doubt: the new owner waits before it makes the call again, and uses the answer whoever received it.
 */

/** The identity of one submission of a slice. */
export type Submission = Omit<LateFact, 'taskId' | 'answer'>;

/** Returns the last submission of a job; undefined where it is unknown, or was not made for a slice. */
export const submissionOf = ({ key, submittedAt, submittedBy }: JobRecord): Submission | undefined =>
  submittedAt === undefined || submittedBy === undefined ? undefined : { key, submittedAt, submittedBy };

/** Whether this is the last submission of the job. */
export const isLast = (
  { key, submittedAt, submittedBy }: JobRecord,
  submission: Submission | undefined,
): boolean =>
  key === submission?.key && submittedAt === submission.submittedAt && submittedBy === submission.submittedBy;

/** Returns the answer to a submission as a fact; undefined where it stays unknown whether there is a task. */
export function factOf(submission: Submission, result: ServiceResult<SubmitResult>): LateFact | undefined {
  if (!result.ok) return mayHaveMade(result.error) ? undefined : submission;
  const { value } = result;
  if ('taskId' in value) return { ...submission, taskId: value.taskId };
  return value.kind === 'refused' && value.made ? undefined : submission;
}

/**
 * Returns what a worker that loses a slice knows of a submission whose outcome is not durable; undefined: nothing certain.
 *
 * @param record the record as last decided by this worker
 */
export function factDecided(record: JobRecord, submission: Submission): LateFact | undefined {
  const { taskId, status, doubtful, request } = record;
  // Answers to text calls are saved as they arrive.
  if (isTextRequest(request)) return undefined;
  if (taskId !== undefined) return isLast(record, submission) ? { ...submission, taskId } : undefined;
  // The answer came without a task: the job was to be submitted again.
  const isAgain = status === 'pending' || status === 'submitting';
  return isAgain && doubtful?.since === undefined ? submission : undefined;
}

/**
 * Returns the record of a job in doubt, once a fact about its submission is known; undefined where the fact is about another submission.
 * The new record is no longer in doubt for that submission, so no fact counts twice.
 *
 * @param price price of one submission, where known
 */
export function withLateFact(
  record: JobRecord,
  fact: LateFact,
  price: number | undefined,
): JobRecord | undefined {
  const { status, modal } = record;
  if (status !== 'in-doubt' || !isLast(record, fact)) return undefined;
  // A confirm that did not arrive does not undo its click.
  if (modal !== undefined && fact.taskId === undefined) return undefined;
  const known = become(record, status, { sender: undefined });
  if (fact.taskId === undefined) return neverMade(known);
  // The service itself has named the task, so it is not a claim.
  return become(withAdoptedTask(known, fact.taskId, price), 'running', {
    named: undefined,
    claimed: undefined,
  });
}

/** Removes the submission that the record was in doubt for. It stays in doubt where an earlier one may have made a task. */
function neverMade(record: JobRecord): JobRecord {
  const { since } = record.doubtful ?? {};
  const isOpen = since !== undefined && since !== record.submittedAt;
  const left = withoutOne({ ...record.doubtful });
  const doubtful = left && { ...left, ...(isOpen ? { since } : {}) };
  const reverted = become(revertAttempt(record), 'in-doubt', { doubtful });
  return isOpen
    ? become(reverted, 'in-doubt', { submittedAt: since })
    : become(reverted, 'pending', { submittedAt: undefined, finishedAt: undefined, error: undefined });
}
