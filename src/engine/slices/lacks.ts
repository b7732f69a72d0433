import type { RunEnd } from '../../run/events.ts';
import type { EnginePool } from '../postgres/pool.ts';
import { stopRun } from './runs.ts';

/** SQL: the files of a slice that a worker does not have as the run knows them. With an empty hash, it asks what the file is. */
export const lacksSchema = `
  CREATE TABLE lacks (
    run     int NOT NULL,
    session bigint NOT NULL,
    slice   int NOT NULL,
    path    text NOT NULL,
    sha256  text NOT NULL,
    since   timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (run, session, slice, path)
  );
`;

/** A file that a worker lacks. */
export interface LackedFile {
  readonly path: string;
  /** Hash of the file; empty where the file is not described yet. */
  readonly sha256: string;
}

/** Largest number of reported files per slice; the rest is reported once these are there. */
const maxFiles = 64;

/** Notes that a worker lacks files of a slice. @throws EngineError */
export async function noteLacks(
  pool: EnginePool,
  run: number,
  session: number,
  slice: number,
  files: readonly LackedFile[],
): Promise<void> {
  await pool.query(
    `INSERT INTO promptpress.lacks (run, session, slice, path, sha256)
     SELECT $1, $2, $3, f.path, f.sha256 FROM json_to_recordset($4) AS f(path text, sha256 text) ON CONFLICT DO NOTHING`,
    [run, session, slice, JSON.stringify(files.slice(0, maxFiles))],
  );
}

/**
 * Removes a worker's notes about finished slices and about files copied or described since, and the notes of ended workers.
 *
 * @returns the removed files
 * @throws EngineError
 */
export async function endedLacks(
  pool: EnginePool,
  run: number,
  session: number,
): Promise<readonly { readonly slice: number; readonly path: string }[]> {
  const { rows } = await pool.query<{ slice: number; path: string }>(
    `DELETE FROM promptpress.lacks l WHERE l.run = $1 AND (
       EXISTS (SELECT FROM promptpress.sessions m WHERE m.session = l.session AND m.over)
       OR l.session = $2 AND (
         NOT EXISTS (SELECT FROM promptpress.slices s WHERE s.run = l.run AND s.n = l.slice AND NOT s.done)
         OR EXISTS (
           SELECT FROM promptpress.inputs i
           WHERE i.run = l.run AND i.path = l.path AND (i.shared OR i.error IS NOT NULL OR i.sha256 <> l.sha256)
         )))
     RETURNING l.slice, l.path`,
    [run, session],
  );
  return rows;
}

/** Returns the files that workers lack and that are not in the shared place of the run. @param but paths to skip @throws EngineError */
export async function wantedFiles(
  pool: EnginePool,
  run: number,
  but: readonly string[],
  most: number,
): Promise<readonly (LackedFile & { readonly bytes: number })[]> {
  const { rows } = await pool.query<LackedFile & { bytes: number }>(
    `SELECT i.path, i.sha256, i.bytes::float8 AS bytes FROM promptpress.inputs i
     WHERE i.run = $1 AND NOT i.shared AND i.error IS NULL AND i.path = ANY (ARRAY(
       SELECT DISTINCT l.path FROM promptpress.lacks l WHERE l.run = $1 AND l.path <> ALL($2) LIMIT $3))
     ORDER BY i.path`,
    [run, but, most],
  );
  return rows;
}

/** A file that a live worker lacks. */
export interface WorkerLack extends LackedFile {
  readonly worker: string;
  /** Number of slices that wait for the file. */
  readonly slices: number;
}

/** Largest number of rows that `status` lists. */
const maxListed = 100;

/** SQL: the files that live workers of the run $1 lack for unfinished slices. */
const lacking = `
  FROM promptpress.lacks l JOIN promptpress.sessions s USING (session) JOIN promptpress.slices w ON w.run = l.run AND w.n = l.slice
  WHERE l.run = $1 AND NOT s.over AND NOT w.done`;

/** Returns which workers of a run lack which files, files that most slices wait for first. @throws EngineError */
export async function readLacks(pool: EnginePool, run: number): Promise<readonly WorkerLack[]> {
  const { rows } = await pool.query<WorkerLack>(
    `SELECT s.name AS worker, l.path, max(l.sha256) AS sha256, count(*)::int AS slices ${lacking}
     GROUP BY s.name, l.path ORDER BY slices DESC, s.name, l.path LIMIT ${maxListed}`,
    [run],
  );
  return rows;
}

/** Error code of a run that ended because no worker has the files. */
export const filesLackedCode = 'input.lacked';

/**
 * Ends a run that cannot continue: each remaining slice uses a file that every worker has lacked for a given time. Without a worker, the
 * run waits for one.
 *
 * @throws EngineError
 */
export async function endLacked(
  pool: EnginePool,
  run: number,
  invocation: number,
  patienceMs: number,
): Promise<void> {
  const { rows } = await pool.query<LackedFile & { workers: readonly string[]; slices: number }>(
    `SELECT l.path, max(l.sha256) AS sha256, array_agg(DISTINCT s.name) AS workers, count(DISTINCT l.slice)::int AS slices ${lacking}
       AND EXISTS (SELECT FROM promptpress.lacks WHERE run = $1 AND since < clock_timestamp() - $2 * interval '1 ms')
       AND NOT EXISTS (
         SELECT FROM promptpress.slices o CROSS JOIN promptpress.sessions m
         WHERE o.run = $1 AND NOT o.done AND NOT promptpress.waits(o.run, o.waits_from, o.n) AND m.run = $1 AND NOT m.over AND NOT EXISTS (
           SELECT FROM promptpress.lacks k WHERE k.run = $1 AND k.session = m.session AND k.slice = o.n
             AND k.since < clock_timestamp() - $2 * interval '1 ms'))
     GROUP BY l.path ORDER BY slices DESC, l.path`,
    [run, patienceMs],
  );
  const [first] = rows;
  if (first === undefined) return;
  const what = first.sha256 === '' ? 'no coordinator was there to say what it is' : `SHA-256 ${first.sha256}`;
  const more = rows.length === 1 ? '' : ` ${rows.length - 1} more files are missing.`;
  const end: RunEnd = {
    kind: 'stopped',
    code: filesLackedCode,
    message: `No worker has ${JSON.stringify(first.path)} (${what}), and it is not in the place of the run: ${first.workers.slice(0, 8).join(', ')} lacked it for ${Math.round(patienceMs / 1000)} s (retry.patience), and nothing else is left to do.${more} Lead the run on a machine that has the files (the same command, without --detach), or give them to the workers (--files-root) and start these again.`,
  };
  await stopRun(pool, run, invocation, end);
}
