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
 * What a worker hears of a submission whose slice it has lost decides nothing: the job belongs to somebody else, who has put it in
 * doubt. But it is known, and ends the doubt: the task is polled, or the job is submitted again because it certainly never was. A text
 * call is in no doubt: whoever took it over waits before it is made again, and its answer counts whoever heard it.
 */

/** What names one submission of a slice. */
export type Submission = Omit<LateFact, 'taskId' | 'answer'>;

/** The last submission of a job; undefined: none is known, or it was not for a slice. */
export const submissionOf = ({ key, submittedAt, submittedBy }: JobRecord): Submission | undefined =>
  submittedAt === undefined || submittedBy === undefined ? undefined : { key, submittedAt, submittedBy };

/** True where this is the last submission of the job. */
export const isLast = (
  { key, submittedAt, submittedBy }: JobRecord,
  submission: Submission | undefined,
): boolean =>
  key === submission?.key && submittedAt === submission.submittedAt && submittedBy === submission.submittedBy;

/** What the answer to a submission says as a fact; undefined: whether there is a task stays unknown. */
export function factOf(submission: Submission, result: ServiceResult<SubmitResult>): LateFact | undefined {
  if (!result.ok) return mayHaveMade(result.error) ? undefined : submission;
  const { value } = result;
  if ('taskId' in value) return { ...submission, taskId: value.taskId };
  return value.kind === 'refused' && value.made ? undefined : submission;
}

/**
 * What a worker that loses a slice knows of a submission whose outcome it could not make durable; undefined: nothing certain.
 *
 * @param record as last decided here
 */
export function factDecided(record: JobRecord, submission: Submission): LateFact | undefined {
  const { taskId, status, doubtful, request } = record;
  // What was answered is kept as it was heard.
  if (isTextRequest(request)) return undefined;
  if (taskId !== undefined) return isLast(record, submission) ? { ...submission, taskId } : undefined;
  // Its answer came, and was no task: the job was to be submitted again.
  const isAgain = status === 'pending' || status === 'submitting';
  return isAgain && doubtful?.since === undefined ? submission : undefined;
}

/**
 * The record of a job in doubt, once a fact about its submission is known; undefined: the fact is about another one. What this gives is no
 * longer in doubt for that submission, so that no fact counts twice.
 *
 * @param price of one submission, where known
 */
export function heardOf(record: JobRecord, fact: LateFact, price: number | undefined): JobRecord | undefined {
  const { status, modal } = record;
  if (status !== 'in-doubt' || !isLast(record, fact)) return undefined;
  // A confirm that did not arrive is no submission that was never made: its click stands.
  if (modal !== undefined && fact.taskId === undefined) return undefined;
  const known = become(record, status, { sender: undefined });
  if (fact.taskId === undefined) return neverMade(known);
  // The service itself has named the task: it is no claim.
  return become(withAdoptedTask(known, fact.taskId, price), 'running', {
    named: undefined,
    claimed: undefined,
  });
}

/** The record without the submission that it was in doubt for. It stays in doubt where an earlier one may have made a task. */
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
