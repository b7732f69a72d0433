import { StateError } from '../../state/store.ts';
import type { EnginePool } from '../postgres/pool.ts';

/** Named values that the commands of a run share, in addition to its records: the same facts as in the state of a run directory. */
export interface EngineFacts {
  /** Returns a fact as it was when the facts were opened, or as set here since. */
  fact(name: string): string | undefined;
  /** Sets a fact, which is durable once the promise resolves. @throws EngineError */
  setFact(name: string, value: string): Promise<void>;
  /** Sets several facts in one step, and removes those without a value. @throws as `setFact` */
  setFacts(changes: Readonly<Record<string, string | undefined>>): Promise<void>;
}

/**
 * Opens the facts of a run for its coordinator.
 *
 * @param epoch of the coordinator: once another process leads the run, none is set here (StateError `state.locked`); absent: no check
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

/** Writes a fact. @param epoch as for {@link openFacts} @returns false where another process leads the run @throws EngineError */
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

/** Name of the fact with the number of submissions that the workers of a run have counted. It never falls: refused ones stay in it. */
const countedFact = 'submissions.counted';

/** Returns the number of submissions that workers counted for a run's place, as the engine knows it. @throws EngineError */
export async function countedSubmissions(pool: EnginePool, run: number): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    'SELECT value::bigint::float8 AS count FROM promptpress.facts WHERE run = $1 AND name = $2',
    [run, countedFact],
  );
  return rows[0]?.count ?? 0;
}

/** Adds to the number of counted submissions. @returns the sum; 0 where the run is gone @throws EngineError */
export async function countSubmissions(pool: EnginePool, run: number, count: number): Promise<number> {
  const { rows } = await pool.query<{ value: string }>(
    `INSERT INTO promptpress.facts AS f SELECT run, $2, $3::text FROM promptpress.runs WHERE run = $1
     ON CONFLICT (run, name) DO UPDATE SET value = (f.value::bigint + excluded.value::bigint)::text RETURNING value`,
    [run, countedFact, String(count)],
  );
  return Number(rows[0]?.value ?? 0);
}
