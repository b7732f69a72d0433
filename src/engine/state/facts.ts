import { StateError } from '../../state/store.ts';
import type { EnginePool } from '../postgres/pool.ts';

/** What a run's commands say to one another beside its records: the same facts as a run directory's state has. */
export interface EngineFacts {
  /** As it was when they were opened, or as it was set here since. */
  fact(name: string): string | undefined;
  /** Durable once it is resolved. @throws EngineError */
  setFact(name: string, value: string): Promise<void>;
  /** Sets several, and removes those without a value: all of it in one step. @throws as `setFact` */
  setFacts(changes: Readonly<Record<string, string | undefined>>): Promise<void>;
}

/**
 * The facts of a run, for its coordinator.
 *
 * @param epoch of its lead: once another process leads the run, none is set here (StateError `state.locked`); absent: whoever leads it
 * @throws EngineError
 */
export async function openFacts(pool: EnginePool, run: number, epoch?: number): Promise<EngineFacts> {
  const { rows } = await pool.query<{ name: string; value: string }>(
    'SELECT name, value FROM promptpress.facts WHERE run = $1',
    [run],
  );
  const facts = new Map(rows.map(({ name, value }) => [name, value]));
  return {
    fact: (name) => facts.get(name),
    setFact: async (name, value) => {
      if (!(await writeFact(pool, run, name, value, epoch))) throw ledElsewhere();
      facts.set(name, value);
    },
    setFacts: async (changes) => {
      await pool.transaction(async (connection) => {
        const led = await connection.query(
          'SELECT FROM promptpress.runs WHERE run = $1 AND ($2::bigint IS NULL OR lead_epoch = $2) FOR SHARE',
          [run, epoch ?? null],
        );
        if (led.rows.length === 0) throw ledElsewhere();
        await connection.query('DELETE FROM promptpress.facts WHERE run = $1 AND name = ANY ($2)', [
          run,
          Object.keys(changes),
        ]);
        await connection.query(
          'INSERT INTO promptpress.facts SELECT $1, key, value FROM json_each_text($2::json)',
          [run, JSON.stringify(changes)],
        );
      });
      for (const [name, value] of Object.entries(changes))
        if (value === undefined) facts.delete(name);
        else facts.set(name, value);
    },
  };
}

const ledElsewhere = (): StateError =>
  new StateError('state.locked', 'Another process leads this run by now.');

/** @param epoch as {@link openFacts} has it @returns false: another process leads the run, and nothing is written @throws EngineError */
export async function writeFact(
  pool: EnginePool,
  run: number,
  name: string,
  value: string,
  epoch?: number,
): Promise<boolean> {
  const { rows } = await pool.query(
    `INSERT INTO promptpress.facts SELECT $1, $2, $3
     WHERE $4::bigint IS NULL OR EXISTS (SELECT FROM promptpress.runs WHERE run = $1 AND lead_epoch = $4 FOR SHARE)
     ON CONFLICT (run, name) DO UPDATE SET value = excluded.value RETURNING run`,
    [run, name, value, epoch ?? null],
  );
  return rows.length > 0;
}

/** The fact that says how many submissions the workers of a run have counted. It never falls: refused ones stay in it. */
const countedFact = 'submissions.counted';

/** How many submissions an engine knows that workers have counted in a run's place too. @throws EngineError */
export async function countedSubmissions(pool: EnginePool, run: number): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    'SELECT value::bigint::float8 AS count FROM promptpress.facts WHERE run = $1 AND name = $2',
    [run, countedFact],
  );
  return rows[0]?.count ?? 0;
}

/** Adds to them. @returns the sum; 0 where the run is gone @throws EngineError */
export async function countSubmissions(pool: EnginePool, run: number, count: number): Promise<number> {
  const { rows } = await pool.query<{ value: string }>(
    `INSERT INTO promptpress.facts AS f SELECT run, $2, $3::text FROM promptpress.runs WHERE run = $1
     ON CONFLICT (run, name) DO UPDATE SET value = (f.value::bigint + excluded.value::bigint)::text RETURNING value`,
    [run, countedFact, String(count)],
  );
  return Number(rows[0]?.value ?? 0);
}
