import type { LateFact } from '../../state/store.ts';
import type { EnginePool } from '../postgres/pool.ts';

/** Records in doubt of whose very submission something was heard. */
const heard = `
  SELECT j.slice, j.key || '/' || f.submitted || '/' || f.hold AS fact
  FROM promptpress.facts_late f JOIN promptpress.jobs j USING (run, key)
  WHERE j.run = $1 AND j.status = 'in-doubt' AND (j.doc::json ->> 'submittedAt')::bigint = f.submitted
    AND j.doc::json ->> 'submittedBy' = f.hold`;

/**
 * Notes what was found out about submissions of which no answer came, as who holds them finds it out.
 *
 * @throws EngineError
 */
export async function noteLateFacts(
  pool: EnginePool,
  run: number,
  facts: readonly LateFact[],
): Promise<void> {
  if (facts.length === 0) return;
  const rows = facts.map(({ key, submittedAt, submittedBy, taskId }) => ({
    key,
    submitted: submittedAt,
    hold: submittedBy,
    task: taskId ?? null,
  }));
  await pool.query(
    `INSERT INTO promptpress.facts_late AS f SELECT $1, h.key, h.submitted, h.hold, h.task
     FROM json_to_recordset($2) AS h(key text, submitted bigint, hold text, task text) ORDER BY h.key, h.submitted, h.hold
     ON CONFLICT (run, key, submitted, hold) DO UPDATE SET task = coalesce(f.task, excluded.task)`,
    [run, JSON.stringify(rows)],
  );
}

/** Feeds slices again of which a record is in doubt and something was heard since, also where they were done. */
export class LateFacts {
  readonly #pool: EnginePool;
  readonly #run: number;
  /** Facts whose slices were fed again: what they did not settle, they never will. */
  readonly #fed = new Set<string>();

  constructor(pool: EnginePool, run: number) {
    this.#pool = pool;
    this.#run = run;
  }

  /** @returns whether there was anything that is not known yet @throws EngineError */
  async feed(): Promise<boolean> {
    const { rows } = await this.#pool.query<{ slice: number; fact: string }>(heard, [this.#run]);
    const found = rows.filter(({ fact }) => !this.#fed.has(fact));
    if (found.length === 0) return false;
    await this.#pool.query(
      'UPDATE promptpress.slices SET done = false, not_before = NULL WHERE run = $1 AND n = ANY($2) AND done',
      [this.#run, [...new Set(found.map(({ slice }) => slice))]],
    );
    for (const { fact } of found) this.#fed.add(fact);
    return true;
  }
}
