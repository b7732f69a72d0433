import type { EnginePool } from '../postgres/pool.ts';

/** What a run's commands say to one another beside its records: the same facts as a run directory's state has. */
export interface EngineFacts {
  /** As it was when they were opened, or as it was set here since. */
  fact(name: string): string | undefined;
  /** Durable once it is resolved. @throws EngineError */
  setFact(name: string, value: string): Promise<void>;
}

/** The facts of a run, for its coordinator. @throws EngineError */
export async function openFacts(pool: EnginePool, run: number): Promise<EngineFacts> {
  const { rows } = await pool.query<{ name: string; value: string }>(
    'SELECT name, value FROM promptpress.facts WHERE run = $1',
    [run],
  );
  const facts = new Map(rows.map(({ name, value }) => [name, value]));
  return {
    fact: (name) => facts.get(name),
    setFact: async (name, value) => {
      await writeFact(pool, run, name, value);
      facts.set(name, value);
    },
  };
}

/** @throws EngineError */
export async function writeFact(pool: EnginePool, run: number, name: string, value: string): Promise<void> {
  await pool.query(
    `INSERT INTO promptpress.facts VALUES ($1, $2, $3) ON CONFLICT (run, name) DO UPDATE SET value = excluded.value`,
    [run, name, value],
  );
}
