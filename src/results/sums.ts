import { isTextKind } from '../pipeline/kinds.ts';
import { roundMoney } from '../plan/estimate/price.ts';
import { isInterrupted } from '../plan/estimate/revival.ts';
import { type FailureRules, isSkipped, missingCode, noFailureRules } from '../plan/graph/optional.ts';
import type { JobRecord, JobStatus } from '../plan/job.ts';
import type { StateReader, StoreTotals } from '../state/reader.ts';

/**
 * Sums over all jobs of a directory, over its life: what its state has committed, and what a killed run left. Requests in flight when a run
 * was killed may have been paid, and their images are unknown.
 */
export interface DirectorySums extends StoreTotals {
  /** Number of jobs by status. A job whose optional button is missing counts as skipped, and an accepted failure as accepted, not as failed. */
  readonly jobs: Readonly<Record<JobStatus | 'skipped' | 'accepted', number>>;
  /** Number of jobs in doubt, including those with status `submitting` that a killed run left. */
  readonly doubts: number;
  /** Number of jobs that are under way or wait for their turn. */
  readonly open: number;
}

/** The spending of a directory so far, with what may have been spent. */
export interface SpentSoFar {
  /** Known cost; absent: nothing is priced. */
  readonly cost?: number;
  /** Possible further cost of submissions without a response and replies without a token count; absent: none. */
  readonly possibleCost?: number;
  /** Estimated tokens of replies without a token count, and of text calls whose answer was lost; absent: none. */
  readonly assumedTokens?: number;
}

/** The sums of a state when a run began; parts are absent for runs that did not record them. */
export type SpentAtStart = Partial<Pick<StoreTotals, 'cost' | 'possibleCost'>>;

/** Reads the sums of a state. @param running true while a run is on: jobs being submitted are then under way @throws StateError */
export async function readSums(
  state: Pick<StateReader, 'totals' | 'unfinished' | 'withStatus'>,
  running: boolean,
  rules: FailureRules = noFailureRules,
): Promise<DirectorySums> {
  const totals = await state.totals();
  const left: JobRecord[] = [];
  if (!running && totals.jobs.submitting > 0)
    for await (const record of state.unfinished()) if (record.status === 'submitting') left.push(record);
  let skipped = 0;
  // An index gives only the number of missing buttons, so those jobs are read, page by page.
  if (rules !== noFailureRules && (totals.codes.failed[missingCode] ?? 0) > 0)
    for await (const record of state.withStatus('failed', missingCode))
      if (isSkipped(record, rules.isOptional)) skipped += 1;
  return sumsOf(totals, left, skipped, rules.accepted);
}

/**
 * Computes the sums of a directory.
 * @param left jobs that an ended run left during submission; `skipped`: number of failed jobs whose optional button is missing
 */
export function sumsOf(
  totals: StoreTotals,
  left: readonly JobRecord[],
  skipped = 0,
  acceptedCodes: ReadonlySet<string> = noFailureRules.accepted,
): DirectorySums {
  const { jobs } = totals;
  const failed: Readonly<Record<string, number>> = {
    ...totals.codes.failed,
    [missingCode]: (totals.codes.failed[missingCode] ?? 0) - skipped,
  };
  const accepted = [...acceptedCodes].reduce((sum, code) => sum + (failed[code] ?? 0), 0);
  const lost = left.map(lostBy);
  const doubts = left.filter((record) => isInDoubt(record, false)).length;
  return {
    ...totals,
    jobs: { ...jobs, failed: jobs.failed - skipped - accepted, skipped, accepted },
    codes: { ...totals.codes, failed },
    possibleCost: roundMoney(lost.reduce((sum, { cost }) => sum + cost, totals.possibleCost)),
    assumedTokens: lost.reduce((sum, { tokens }) => sum + tokens, totals.assumedTokens),
    doubts: jobs['in-doubt'] + doubts,
    open: jobs.pending + jobs.submitting + jobs.running + jobs.modal + jobs.saving - doubts,
  };
}

/** Returns the possible cost of a job whose answer a killed run did not wait for, in addition to its record. */
export const lostBy = (
  record: JobRecord,
): { readonly count: number; readonly cost: number; readonly tokens: number } => {
  const { cost = 0, tokens = 0 } = (isInterrupted(record) && record.reserve) || {};
  return { count: isInterrupted(record) ? 1 : 0, cost, tokens };
};

export const spentSoFar = ({
  cost,
  possibleCost,
  assumedTokens,
}: Pick<StoreTotals, 'cost' | 'possibleCost' | 'assumedTokens'>): SpentSoFar => ({
  ...(cost === 0 ? {} : { cost: roundMoney(cost) }),
  ...(possibleCost === 0 ? {} : { possibleCost: roundMoney(possibleCost) }),
  ...(assumedTokens === 0 ? {} : { assumedTokens }),
});

/** Returns the spending of one run; undefined: nothing was spent, or earlier spending is unknown. */
export function spentInRun(
  { cost }: Pick<StoreTotals, 'cost'>,
  { cost: before }: SpentAtStart,
): number | undefined {
  const spent = before === undefined ? 0 : roundMoney(cost - before);
  return spent > 0 ? spent : undefined;
}

/** Returns the number of jobs that no run will continue without the user's request. */
export const settledJobs = ({
  jobs,
}: {
  readonly jobs: Readonly<
    Record<'done' | 'failed' | 'in-doubt', number> & Partial<Record<'skipped' | 'accepted', number>>
  >;
}): number => jobs.done + jobs.failed + jobs['in-doubt'] + (jobs.skipped ?? 0) + (jobs.accepted ?? 0);

/** Yields jobs whose request was in flight when a run was killed and that no later run counted; none while a run is on. */
export async function* leftUnanswered(
  state: Pick<StateReader, 'unfinished'>,
  running: boolean,
): AsyncGenerator<JobRecord> {
  if (running) return;
  for await (const record of state.unfinished()) if (isInterrupted(record)) yield record;
}

/**
 * Whether a job's submission was sent and no process awaits its response: a job in doubt, or one that a killed run left behind, which the
 * next run would call in doubt. A text call is repeated and never in doubt.
 *
 * @param running true while a run is on
 */
export const isInDoubt = ({ status, kind }: Pick<JobRecord, 'status' | 'kind'>, running: boolean): boolean =>
  status === 'in-doubt' || (status === 'submitting' && !running && !isTextKind(kind));

/** Yields the jobs in doubt of a directory in key order, then those that a killed run left while they were being submitted. */
export async function* jobsInDoubt(
  state: Pick<StateReader, 'withStatus' | 'unfinished'>,
  running: boolean,
): AsyncGenerator<JobRecord> {
  yield* state.withStatus('in-doubt');
  if (running) return;
  for await (const job of state.unfinished()) if (isInDoubt(job, running)) yield job;
}
