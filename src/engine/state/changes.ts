import type { JobRecord } from '../../plan/job.ts';
import type { ChangeMark, OpenJob, StateChanges } from '../../state/sqlite/changes.ts';
import type { Connection, EnginePool } from '../postgres/pool.ts';

/** Number of rows read at a time. */
const page = 2048;

/**
 * Longest duration of a turn, ms: the server cancels a statement earlier. A turn gets its number at its start, so one that is committed
 * later may have a lower number than others.
 */
const underWayMs = 10_000;

/** Number of turns that are reported again where nobody has looked before. */
const turnsBefore = 1024 * 2 ** 20;

interface Mark extends ChangeMark {
  /** Unix ms, by the server's clock. */
  readonly at: number;
}

/** Returns the changes of a run on an engine, for commands that watch it. */
export function engineChanges(pool: EnginePool, run: number): StateChanges {
  /** The latest marks: the first of them is older than any turn in flight. */
  let marks: readonly Mark[] = [];
  /** Without this the planner would read a whole table of which it has few statistics. */
  const indexed = <T>(work: (connection: Connection) => Promise<T>): Promise<T> =>
    pool.transaction(async (connection) => {
      await connection.query('SET LOCAL enable_seqscan = off');
      return await work(connection);
    });
  return {
    changeMark: async () => {
      const { rows } = await pool.query<Mark>(
        `SELECT hashtext(coalesce((SELECT string_agg(xmin::text, ' ' ORDER BY slice, status, code) FROM promptpress.totals WHERE run = $1), '')
             || coalesce((SELECT string_agg(xmin::text, ' ' ORDER BY name) FROM promptpress.facts WHERE run = $1), '')
             || coalesce((SELECT xmin::text FROM promptpress.runs WHERE run = $1), ''))::float8 AS version,
           coalesce((SELECT max(last) FROM promptpress.totals WHERE run = $1), 0)::float8 AS job,
           coalesce((SELECT last_value FROM promptpress.turns), 0)::float8 AS attempt,
           extract(epoch FROM clock_timestamp())::float8 * 1000 AS at`,
        [run],
      );
      const [now] = rows;
      if (now === undefined) throw new Error('Internal error: a question for one row got none.');
      const first = { ...now, job: now.job - turnsBefore, attempt: now.attempt - turnsBefore / 2 ** 20 };
      const known = marks.length === 0 ? [{ ...first, at: now.at - underWayMs }, now] : [...marks, now];
      const old = known.findLastIndex(({ at }) => at <= now.at - underWayMs);
      marks = known.slice(Math.max(0, old));
      const { job, attempt } = marks[0] ?? now;
      return { version: now.version, job, attempt };
    },
    async *begunSince(mark) {
      for (const [text, from] of [
        [
          `SELECT j.key, j.number::float8 AS number, j.doc FROM promptpress.jobs j
           WHERE j.run = $1 AND j.number > $2 ORDER BY j.number LIMIT ${page}`,
          mark.job,
        ],
        [
          `SELECT a.key, a.number::float8 AS number, j.doc FROM promptpress.attempts a
           JOIN promptpress.jobs j USING (run, key) WHERE a.run = $1 AND a.number > $2 ORDER BY a.number LIMIT ${page}`,
          mark.attempt,
        ],
      ] as const)
        for (let after = from; ; ) {
          const { rows } = await indexed((connection) =>
            connection.query<{ key: string; number: number; doc: string }>(text, [run, after]),
          );
          for (const { key, doc } of rows) yield { key, cell: cellOf(doc) };
          if (rows.length < page) break;
          after = rows.at(-1)?.number ?? after;
        }
    },
    async *openJobs() {
      for (const which of ['open', 'trouble'])
        for (let after = ''; ; ) {
          const { rows } = await pool.query<OpenJob>(
            `SELECT j.key, j.status, j.code FROM promptpress.jobs j
             WHERE j.run = $1 AND j.${which} AND j.key > $2 ORDER BY j.key LIMIT ${page}`,
            [run, after],
          );
          yield* rows;
          if (rows.length < page) break;
          after = rows.at(-1)?.key ?? after;
        }
    },
  };
}

/** Functions of PostgreSQL reject a document with texts that PostgreSQL cannot store. */
const cellOf = (doc: string): number => (JSON.parse(doc) as Pick<JobRecord, 'origin'>).origin.cell;
