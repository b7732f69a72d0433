import type { StepSums } from '../reader.ts';
import type { Database } from './sqlite.ts';

/** Rows of one read: a few milliseconds, so that whoever writes is not held up. */
const scanned = 4096;

type Row = Omit<StepSums, 'step'> & { readonly step: string | null };

/**
 * The sums of every step, in the order in which their first jobs came. No index helps: every record is read, which takes about
 * as long as reading the file.
 */
export function stepSums(database: Database): readonly StepSums[] {
  const last = database.prepare<{ id: number }>('SELECT coalesce(max(id), 0) AS id FROM jobs').get()?.id ?? 0;
  const page = database.prepare<Row>(
    `SELECT CASE WHEN json_valid(doc) THEN json_extract(doc, '$.origin.step') END AS step, count(*) AS jobs, sum(status = 'done') AS done,
       sum(attempts) AS attempts, sum(cost) AS cost, sum(possible) AS possibleCost,
       sum(tokens) AS tokens, sum(assumed) AS assumedTokens,
       total(CASE WHEN json_valid(doc) THEN json_extract(doc, '$.doubtful.count') END) AS unanswered
     FROM jobs WHERE id > ? AND id <= ? GROUP BY 1 ORDER BY min(id)`,
  );
  const sums = new Map<string, StepSums>();
  for (let after = 0; after < last; after += scanned)
    for (const row of page.all(after, after + scanned)) {
      const { step } = row;
      // A record without a step was damaged; what it has cost is counted all the same.
      sums.set(step ?? '', added(sums.get(step ?? ''), { ...row, step: step ?? '' }));
    }
  return [...sums.values()];
}

const added = (sum: StepSums | undefined, more: StepSums): StepSums =>
  sum === undefined
    ? { ...more, cost: tidy(more.cost), possibleCost: tidy(more.possibleCost) }
    : {
        step: sum.step,
        jobs: sum.jobs + more.jobs,
        done: sum.done + more.done,
        attempts: sum.attempts + more.attempts,
        cost: tidy(sum.cost + more.cost),
        possibleCost: tidy(sum.possibleCost + more.possibleCost),
        tokens: sum.tokens + more.tokens,
        assumedTokens: sum.assumedTokens + more.assumedTokens,
        unanswered: sum.unanswered + more.unanswered,
      };

/** Adding leaves a rounding error beyond the 15th digit, which nobody needs to see. */
const tidy = (cost: number): number => Number(cost.toPrecision(12));
