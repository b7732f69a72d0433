import type { JobRecord } from '../plan/job.ts';
import type { LateFact, Turn } from '../state/store.ts';
import type { EnginePool } from './postgres/pool.ts';
import { settledFact } from './slices/late-facts.ts';
import { isAlive } from './slices/lead-lease.ts';
import { sessionOfWriter } from './slices/session.ts';
import { RecordCache } from './state/cache.ts';
import { sendTurn, sentTurn } from './state/commit.ts';
import { lateFactOf, readRecord, type Version, type WriterRow, writerColumns } from './state/rows.ts';

/** A worker that is not known to be dead and may still send requests. */
export interface PossibleSender {
  readonly name: string;
  /** True where the worker was heard of in the last seconds. */
  readonly isThere: boolean;
  /** Lease of the worker, ms. After two leases without a heartbeat it counts as dead. */
  readonly leaseMs: number;
}

/** A job on the engine, as shared by all workers. */
export interface SharedJob {
  readonly record: JobRecord;
  readonly version: Version;
  /** A late fact about its last submission that is not in the record yet. */
  readonly lateFact?: LateFact;
  /** The worker that may still send its request; absent where none may. */
  readonly sender?: PossibleSender;
  /** Spending counted for the job. */
  readonly charged: { readonly cost: number; readonly tokens: number };
}

interface SharedRow extends WriterRow {
  readonly sender_name: string | null;
  readonly sender_there: boolean;
  readonly sender_lease: number;
}

/** Reads a job and the worker that may still send its request. @returns undefined where there is no job @throws EngineError */
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
  const lateFact = lateFactOf(row, record);
  const mayBeSent =
    record.status === 'submitting' ? !row.lease_over : noted !== undefined && !row.sender_over;
  return {
    record,
    version: { slice: row.slice, rev: row.rev },
    ...(lateFact === undefined ? {} : { lateFact }),
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

/** Jobs whose request may have been in flight when their workers were killed. */
export interface UnheardJobs {
  readonly jobs: number;
  /** Names of the workers, at most three. */
  readonly workers: readonly string[];
  /** Longest lease of these workers, ms. */
  readonly leaseMs: number;
}

/**
 * Finds the jobs of a run whose request a silent worker may still send: nothing is decided about them before it is dead.
 *
 * @returns undefined where there are none
 * @throws EngineError
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
 * Writes the user's decision about a job, if the job is still as it was read: no worker has decided anything about it since, or will from
 * older data. A job to be polled from now on gets a slice of its own; `LateFacts` feeds the slices with jobs below it again.
 *
 * @param turn of this one job
 * @returns false where the job has changed, and nothing is written
 * @throws EngineError
 */
export async function settleSharedJob(
  pool: EnginePool,
  run: number,
  { record: { key }, record, version, charged }: SharedJob,
  turn: Pick<Turn, 'records' | 'attempts' | 'redos'>,
): Promise<boolean> {
  const cache = new RecordCache();
  cache.read(key, { record, ...version }, [], 0);
  // The decision is based on this version.
  cache.get(key);
  return await pool.transaction(async (connection) => {
    const writer = {
      run,
      session: await sessionOfWriter(connection, 'resolve'),
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
