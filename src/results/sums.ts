import { isTextKind } from '../pipeline/kinds.ts';
import { roundMoney } from '../plan/estimate/price.ts';
import { isInterrupted } from '../plan/estimate/revival.ts';
import { type IsOptional, isSkipped, missingCode, neverOptional } from '../plan/graph/optional.ts';
import type { JobRecord, JobStatus } from '../plan/job.ts';
import type { StateReader, StoreTotals } from '../state/reader.ts';

/**
 * Sums over all jobs of a directory, over its life: what its state has committed with its records, with what a killed run left. What
 * was under way when it was killed may have been paid, and no image of it is known.
 */
export interface DirectorySums extends StoreTotals {
  /** Jobs by status; one whose optional button is not there is skipped, and has not failed. */
  readonly jobs: Readonly<Record<JobStatus | 'skipped', number>>;
  /** Jobs in doubt, with what a killed run left while it was being submitted: its status is `submitting`. */
  readonly doubts: number;
  /** Under way, or waiting for their turn. */
  readonly open: number;
}

/** What is known, and what may have been, spent in a directory so far. */
export interface SpentSoFar {
  /** Absent: nothing is priced. */
  readonly cost?: number;
  /** Of submissions without a response, and replies without a token count, in addition; absent: nothing. */
  readonly possibleCost?: number;
  /** Estimated tokens of replies without a token count, and of text calls whose answer was lost; absent: there was none. */
  readonly assumedTokens?: number;
}

/** The sums of a state when a run began; absent parts are those of runs that did not keep them. */
export type SpentAtStart = Partial<Pick<StoreTotals, 'cost' | 'possibleCost'>>;

/** @param running a run is on: what is being submitted is under way @throws StateError */
export async function readSums(
  state: Pick<StateReader, 'totals' | 'unfinished' | 'withStatus'>,
  running: boolean,
  isOptional: IsOptional = neverOptional,
): Promise<DirectorySums> {
  const totals = await state.totals();
  const left: JobRecord[] = [];
  if (!running && totals.jobs.submitting > 0)
    for await (const record of state.unfinished()) if (record.status === 'submitting') left.push(record);
  let skipped = 0;
  // An index gives only the number of missing buttons: those jobs are read, page by page.
  if (isOptional !== neverOptional && (totals.codes[missingCode] ?? 0) > 0)
    for await (const record of state.withStatus('failed', missingCode))
      if (isSkipped(record, isOptional)) skipped += 1;
  return sumsOf(totals, left, skipped);
}

/**
 * @param left what a run that has ended left while it was being submitted
 * @param skipped failed jobs whose optional button is not there
 */
export function sumsOf(totals: StoreTotals, left: readonly JobRecord[], skipped = 0): DirectorySums {
  const { jobs, codes } = totals;
  const lost = left.map(lostBy);
  const doubts = left.filter((record) => isInDoubt(record, false)).length;
  return {
    ...totals,
    jobs: { ...jobs, failed: jobs.failed - skipped, skipped },
    codes: skipped === 0 ? codes : { ...codes, [missingCode]: (codes[missingCode] ?? 0) - skipped },
    possibleCost: roundMoney(lost.reduce((sum, { cost }) => sum + cost, totals.possibleCost)),
    assumedTokens: lost.reduce((sum, { tokens }) => sum + tokens, totals.assumedTokens),
    doubts: jobs['in-doubt'] + doubts,
    open: jobs.pending + jobs.submitting + jobs.running + jobs.modal + jobs.saving - doubts,
  };
}

/** What a job may have cost whose answer a killed run did not wait for, beside what its record has counted. */
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

/** What one run has spent of that; undefined: nothing, or it is not known what was spent before. */
export function spentInRun(
  { cost }: Pick<StoreTotals, 'cost'>,
  { cost: before }: SpentAtStart,
): number | undefined {
  const spent = before === undefined ? 0 : roundMoney(cost - before);
  return spent > 0 ? spent : undefined;
}

/** Jobs that will not be touched again without the user's word. */
export const settledJobs = ({
  jobs,
}: {
  readonly jobs: Readonly<Record<'done' | 'failed' | 'in-doubt', number> & { skipped?: number }>;
}): number => jobs.done + jobs.failed + jobs['in-doubt'] + (jobs.skipped ?? 0);

/** The jobs whose request was under way when a run was killed, and which no later run has counted as unanswered; none while a run is on. */
export async function* leftUnanswered(
  state: Pick<StateReader, 'unfinished'>,
  running: boolean,
): AsyncGenerator<JobRecord> {
  if (running) return;
  for await (const record of state.unfinished()) if (isInterrupted(record)) yield record;
}

/**
 * True for a job whose submission was sent and whose response no process awaits: a job in doubt, and one that a killed run
 * left behind, which the next run would call in doubt. A text call is repeated and never in doubt.
 *
 * @param running a run is on
 */
export const isInDoubt = ({ status, kind }: Pick<JobRecord, 'status' | 'kind'>, running: boolean): boolean =>
  status === 'in-doubt' || (status === 'submitting' && !running && !isTextKind(kind));

/** Those of a directory, in key order, and then what a killed run left while it was being submitted. */
export async function* jobsInDoubt(
  state: Pick<StateReader, 'withStatus' | 'unfinished'>,
  running: boolean,
): AsyncGenerator<JobRecord> {
  yield* state.withStatus('in-doubt');
  if (running) return;
  for await (const job of state.unfinished()) if (isInDoubt(job, running)) yield job;
}
