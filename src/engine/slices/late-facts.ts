import type { LateFact } from '../../state/store.ts';
import type { EnginePool } from '../postgres/pool.ts';
import { factRow } from '../state/rows.ts';
import { noteFacts } from '../state/turn-functions.ts';

/** Name of the fact with the last doubt that the user has settled. */
export const settledFact = 'doubt.settled';

/** SQL: records in doubt and text calls taken over that have a late fact about their submission, or that the user has settled. */
const factsQuery = `
  SELECT j.slice, j.key || '/' || f.submitted || '/' || f.lease AS fact
  FROM promptpress.facts_late f JOIN promptpress.jobs j USING (run, key)
  WHERE j.run = $1 AND CASE j.status
    WHEN 'in-doubt' THEN (j.doc::json ->> 'submittedAt')::bigint = f.submitted AND j.doc::json ->> 'submittedBy' = f.lease
    WHEN 'pending' THEN EXISTS (
      SELECT FROM json_array_elements_text(coalesce(j.doc::json -> 'unheard', '[]')) AS u(name) WHERE u.name = f.submitted || '/' || f.lease)
    ELSE false END
  UNION ALL SELECT 0, name || '/' || value FROM promptpress.facts WHERE run = $1 AND name = '${settledFact}'`;

/**
 * Writes late facts about submissions without an answer, for the worker that holds them now.
 *
 * @throws EngineError
 */
export async function noteLateFacts(
  pool: EnginePool,
  run: number,
  facts: readonly LateFact[],
): Promise<void> {
  if (facts.length === 0) return;
  await pool.query(noteFacts('$1', '$2'), [run, JSON.stringify(facts.map(factRow))]);
}

/** Feeds slices again, done or not, that have an open or unconfirmed record with a late fact, then those with jobs below a doubt. */
export class LateFacts {
  readonly #pool: EnginePool;
  readonly #run: number;
  /** Facts whose slices were fed again. A fact that did not settle its record then never will. */
  readonly #fed = new Set<string>();
  /** Known facts, and slices below doubts that were fed again since the last fact: each once, a held slice when it is done. */
  readonly #seen = new Set<string>();
  readonly #below = new Set<number>();

  constructor(pool: EnginePool, run: number) {
    this.#pool = pool;
    this.#run = run;
  }

  /** Feeds the slices. @returns whether there were new facts @throws EngineError */
  async feed(): Promise<boolean> {
    const { rows } = await this.#pool.query<{ slice: number; fact: string }>(factsQuery, [this.#run]);
    const found = rows.filter(({ fact }) => !this.#fed.has(fact));
    if (found.some(({ fact }) => !this.#seen.has(fact))) this.#below.clear();
    for (const { fact } of found) this.#seen.add(fact);
    if (this.#seen.size === 0) return false;
    const { rows: slices } = await this.#pool.query<{ n: number; isHeld: boolean }>(
      `WITH fed AS (
         UPDATE promptpress.slices SET done = false, not_before = NULL
         WHERE run = $1 AND (n = ANY($2) OR (below_doubt AND n <> ALL($3))) AND done RETURNING n
       )
       SELECT n, false AS "isHeld" FROM fed
       UNION ALL SELECT n, true FROM promptpress.slices WHERE run = $1 AND n = ANY($2) AND NOT done`,
      [this.#run, [...new Set(found.map(({ slice }) => slice))], [...this.#below]],
    );
    // The worker of an unfinished slice may have read it before the fact: it is checked again.
    const held = new Set(slices.flatMap(({ n, isHeld }) => (isHeld ? [n] : [])));
    for (const { n, isHeld } of slices) if (!isHeld) this.#below.add(n);
    for (const { fact, slice } of found) if (!held.has(slice)) this.#fed.add(fact);
    return found.length > 0 || slices.length > 0;
  }
}
