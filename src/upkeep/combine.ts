import type { AssumedTokens, Attempt, JobRecord, JobStatus, UnconfirmedSubmits } from '../plan/job.ts';
import { addUsage } from '../plan/usage.ts';

/**
 * How far a job has come, what is paid first: a task that is there, or may be there, is never given up for a failure elsewhere. One in doubt
 * is above a failed one for the same reason, and only its user can settle it.
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

/** What two directories know of one job, as one record. */
export interface Combined {
  readonly record: JobRecord;
  /** Whose result and files it has. */
  readonly isSecond: boolean;
  /** Both had a result, and not the same one. */
  readonly isConflict: boolean;
}

/** A job of one directory with its history. */
export interface KnownJob {
  readonly record: JobRecord;
  readonly attempts: readonly Attempt[];
}

/**
 * Joins what two directories know of one job. The result is that of the directory in which the job has come further, of two results the
 * older one. What was submitted and paid in both adds up; but where one directory is a copy of the other, so that both know of the
 * same submission, it counts once.
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

const isSameSubmission = (a: JobRecord, b: JobRecord): boolean =>
  a.submittedAt !== undefined && a.submittedAt === b.submittedAt && a.taskId === b.taskId;

/** A record with what another one has cost too. */
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
    ...(cost === undefined ? {} : { cost }),
    ...(doubtful === undefined ? {} : { doubtful }),
    ...(assumed === undefined ? {} : { assumed }),
    ...(usage === undefined ? {} : { usage }),
    ...(record.partlyPriced || other.partlyPriced ? { partlyPriced: true } : {}),
  };
}

const sum = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined && b === undefined ? undefined : (a ?? 0) + (b ?? 0);

/** Since when a job waits for an answer is what its own record says. */
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
