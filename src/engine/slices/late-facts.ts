import type { EnginePool } from '../postgres/pool.ts';

/** Records in doubt of whose very submission something was heard. */
const heard = `
  SELECT j.slice, j.key || '/' || f.submitted || '/' || f.hold AS fact
  FROM promptpress.facts_late f JOIN promptpress.jobs j USING (run, key)
  WHERE j.run = $1 AND j.status = 'in-doubt' AND (j.doc::json ->> 'submittedAt')::bigint = f.submitted
    AND j.doc::json ->> 'submittedBy' = f.hold`;

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
