import type { AssumedTokens, Attempt, JobRecord, JobStatus, UnconfirmedSubmits } from '../plan/job.ts';
import { addUsage } from '../plan/usage.ts';

/**
 * How far a job has come, by status; a task that exists, or may exist, ranks above a failure elsewhere. A job in doubt ranks above a failed
 * one for the same reason, and only the user can settle it.
 */
const ranks: Readonly<Record<JobStatus, number>> = {
  done: 7,
  saving: 6,
  running: 5,
  modal: 4,
  'in-doubt': 3,
  submitting: 2,
  failed: 1,
  pending: 0,
};

/** The records of one job in two directories, combined. */
export interface Combined {
  readonly record: JobRecord;
  /** True if the result and files are those of the second directory. */
  readonly isSecond: boolean;
  /** True if both had a result, and the results differ. */
  readonly isConflict: boolean;
}

/** A job of one directory with its history. */
export interface KnownJob {
  readonly record: JobRecord;
  readonly attempts: readonly Attempt[];
}

/**
 * Combines the records of one job in two directories. Takes the result of the directory in which the job has come further; of two results
 * the older one. Submissions and costs of both add up; but if one directory is a copy of the other, so that both know the same submission,
 * it counts once.
 */
export function combine(first: KnownJob, second: KnownJob): Combined {
  const [a, b] = [first.record, second.record];
  const isSecond = isAhead(b, a);
  const [winner, loser] = isSecond ? [b, a] : [a, b];
  const isConflict = a.status === 'done' && b.status === 'done' && !isSameSubmission(a, b);
  const known = new Set(first.attempts.map((attempt) => JSON.stringify(attempt)));
  const isCopy =
    isSameSubmission(a, b) || second.attempts.some((attempt) => known.has(JSON.stringify(attempt)));
  return { record: isCopy ? winner : withSpendingOf(winner, loser), isSecond, isConflict };
}

function isAhead(b: JobRecord, a: JobRecord): boolean {
  const difference = ranks[b.status] - ranks[a.status];
  if (difference !== 0) return difference > 0;
  if (b.status === 'done') return finished(b) < finished(a);
  return b.attempts > a.attempts;
}

const finished = ({ finishedAt }: JobRecord): number => finishedAt ?? Number.POSITIVE_INFINITY;

/** Whether two records have the result of one submission. */
export const isSameSubmission = (a: JobRecord, b: JobRecord): boolean =>
  a.submittedAt !== undefined && a.submittedAt === b.submittedAt && a.taskId === b.taskId;

function withSpendingOf(record: JobRecord, other: JobRecord): JobRecord {
  const cost = sum(record.cost, other.cost);
  const doubtful = doubts(record.doubtful, other.doubtful);
  const assumed = assumptions(record.assumed, other.assumed);
  const usage = other.usage === undefined ? record.usage : addUsage(record.usage, other.usage);
  return {
    ...record,
    attempts: record.attempts + other.attempts,
    keep: record.keep || other.keep,
    ...(other.split && { split: true }),
    ...(other.seed && { seed: true }),
    ...(cost === undefined ? {} : { cost }),
    ...(doubtful === undefined ? {} : { doubtful }),
    ...(assumed === undefined ? {} : { assumed }),
    ...(usage === undefined ? {} : { usage }),
    ...(record.partlyPriced || other.partlyPriced ? { partlyPriced: true } : {}),
  };
}

const sum = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined && b === undefined ? undefined : (a ?? 0) + (b ?? 0);

/** The waiting time of a job is that of its own record. */
function doubts(
  own: UnconfirmedSubmits | undefined,
  other: UnconfirmedSubmits | undefined,
): UnconfirmedSubmits | undefined {
  if (other === undefined) return own;
  const cost = sum(own?.cost, other.cost);
  const tokens = sum(own?.tokens, other.tokens);
  return {
    count: (own?.count ?? 0) + other.count,
    ...(cost === undefined ? {} : { cost }),
    ...(tokens === undefined ? {} : { tokens }),
    ...(own?.since === undefined ? {} : { since: own.since }),
  };
}

function assumptions(
  own: AssumedTokens | undefined,
  other: AssumedTokens | undefined,
): AssumedTokens | undefined {
  if (own === undefined || other === undefined) return own ?? other;
  const cost = sum(own.cost, other.cost);
  return {
    answers: own.answers + other.answers,
    tokens: own.tokens + other.tokens,
    ...(cost === undefined ? {} : { cost }),
  };
}
