import type { JobRecord } from '../plan/job.ts';
import type { LateFact, Turn } from '../state/store.ts';
import type { EnginePool } from './postgres/pool.ts';
import { settledFact } from './slices/late-facts.ts';
import { isAlive } from './slices/lead-hold.ts';
import { RecordCache } from './state/cache.ts';
import { sendTurn, sentTurn } from './state/commit.ts';
import { lateFactOf, readRecord, type Version, type WriterRow, writerColumns } from './state/rows.ts';

/** A worker that is not known to be over. */
export interface PossibleSender {
  readonly name: string;
  /** It is there: it was heard of in the last seconds. */
  readonly isThere: boolean;
  /** Once nothing is heard of it for two of these, it is known to be over, ms. */
  readonly leaseMs: number;
}

/** A job as it lies on the engine, between all workers. */
export interface SharedJob {
  readonly record: JobRecord;
  readonly version: Version;
  /** What was heard late of its last submission, and is not in the record yet. */
  readonly heard?: LateFact;
  /** Who may still be sending what was intended; absent: nobody. */
  readonly sender?: PossibleSender;
  /** What was counted for it of what may be spent. */
  readonly charged: { readonly cost: number; readonly tokens: number };
}

interface SharedRow extends WriterRow {
  readonly sender_name: string | null;
  readonly sender_there: boolean;
  readonly sender_lease: number;
}

/** Reads a job, and who may still be sending it, as of one moment. @returns undefined: there is none @throws EngineError */
export async function readSharedJob(
  pool: EnginePool,
  run: number,
  key: string,
): Promise<SharedJob | undefined> {
  const { rows } = await pool.query<SharedRow>(
    `SELECT ${writerColumns('0')}, s.name AS sender_name, s.lease_ms AS sender_lease,
       coalesce(${isAlive}, false) AS sender_there
     FROM promptpress.jobs j LEFT JOIN promptpress.sessions s
       ON s.session = CASE WHEN j.status = 'submitting' THEN j.session ELSE nullif(split_part(j.sender, '/', 1), '')::bigint END
     WHERE j.run = $1 AND j.key = $2`,
    [run, key],
  );
  const [row] = rows;
  if (row === undefined) return undefined;
  const { sender: noted, ...record } = readRecord(row, pool.shown);
  const heard = lateFactOf(row, record);
  const mayBeSent = record.status === 'submitting' ? !row.hold_over : noted !== undefined && !row.sender_over;
  return {
    record,
    version: { slice: row.slice, rev: row.rev },
    ...(heard === undefined ? {} : { heard }),
    ...(mayBeSent && row.sender_name !== null
      ? {
          sender: {
            name: row.sender_name,
            isThere: row.sender_there,
            leaseMs: row.sender_lease,
          },
        }
      : {}),
    charged: { cost: row.charged_cost, tokens: row.charged_tokens },
  };
}

/** Jobs that may have been on their way when their workers were killed. */
export interface UnheardJobs {
  readonly jobs: number;
  /** The workers, at most three. */
  readonly workers: readonly string[];
  /** The longest of their leases, ms. */
  readonly leaseMs: number;
}

/**
 * Finds the jobs of a run that a worker may be sending of which nothing is heard, and that is not known to be over: nothing is decided
 * about them before it is.
 *
 * @returns undefined: there are none @throws EngineError
 */
export async function unheardJobs(pool: EnginePool, run: number): Promise<UnheardJobs | undefined> {
  const { rows } = await pool.query<UnheardJobs>(
    `SELECT count(*)::int AS jobs, max(s.lease_ms) AS "leaseMs", (array_agg(DISTINCT s.name))[1:3] AS workers
     FROM (
       SELECT j.session FROM promptpress.jobs j WHERE j.run = $1 AND j.open AND j.status = 'submitting'
         AND NOT promptpress.is_over(j.run, j.session || '/' || j.slice || '/' || (j.rev >> 32))
       UNION ALL
       SELECT split_part(j.sender, '/', 1)::bigint FROM promptpress.jobs j
       WHERE j.run = $1 AND j.trouble AND j.status = 'in-doubt' AND j.sender IS NOT NULL AND NOT promptpress.is_over(j.run, j.sender)
     ) AS sent JOIN promptpress.sessions s USING (session)
     WHERE NOT s.over AND NOT ${isAlive}`,
    [run],
  );
  const [row] = rows;
  return row === undefined || row.jobs === 0 ? undefined : row;
}

/**
 * Writes what a user has decided about a job, where it still is as it was read: no worker has decided anything about it meanwhile, and
 * none will from what it knew before. A job that is to be polled from now on gets a slice of its own, which a worker takes; slices that have left
 * jobs below it are fed again by `LateFacts`.
 *
 * @param turn of this one job
 * @returns false: the job has changed, and nothing is written @throws EngineError
 */
export async function settleSharedJob(
  pool: EnginePool,
  run: number,
  { record: { key }, record, version, charged }: SharedJob,
  turn: Pick<Turn, 'records' | 'attempts' | 'redos'>,
): Promise<boolean> {
  const cache = new RecordCache();
  cache.read(key, { record, ...version }, [], 0);
  // What is written is decided from this version.
  cache.get(key);
  return await pool.transaction(async (connection) => {
    // Whoever writes for no slice has a session of his own, which is over as it begins: nothing is sent.
    const { rows } = await connection.query<{ session: number }>(
      `INSERT INTO promptpress.sessions (name, over, ended) VALUES ('resolve', true, true) RETURNING session::float8 AS session`,
    );
    const writer = {
      run,
      session: rows[0]?.session ?? 0,
      budget: { worker: 'resolve', charge: () => charged },
    };
    const more = { lines: [], isNewInvocation: false };
    const { others } = await sendTurn(connection, sentTurn(turn, 1, writer, cache, more));
    if (others !== null) return false;
    if (turn.records.some(({ status }) => status === 'running'))
      await connection.query(
        `WITH fresh AS (
           UPDATE promptpress.runs SET next_slice = next_slice + 1 WHERE run = $1 RETURNING next_slice - 1 AS n
         ), added AS (
           INSERT INTO promptpress.slices (run, n, cells) SELECT $1, n, '' FROM fresh
         ), settled AS (
           INSERT INTO promptpress.facts VALUES ($1, '${settledFact}', $3) ON CONFLICT (run, name) DO UPDATE SET value = excluded.value
         )
         UPDATE promptpress.jobs SET slice = fresh.n, rev = 1 FROM fresh WHERE run = $1 AND key = $2`,
        [run, key, String(writer.session)],
      );
    return true;
  });
}
