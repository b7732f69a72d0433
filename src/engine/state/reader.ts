import type { JobRecord, JobStatus } from '../../plan/job.ts';
import { sumOfTotals, type TotalRow } from '../../state/query.ts';
import type { InputFile, StateReader, StepSums } from '../../state/reader.ts';
import type { DocumentRow } from '../../state/sqlite/texts.ts';
import type { EnginePool } from '../postgres/pool.ts';
import { redoReader } from './redos.ts';
import { readAttempt, readRecord, recordColumns, searchable } from './rows.ts';
import { readTable } from './tables.ts';

/** Number of records per page: well below a megabyte. */
const page = 256;

/** Number of rows that one step of a full search reads. */
const scanned = 16_384;

/** Largest number of keys per query. */
const maxKeys = 1024;

const jobs = 'promptpress.jobs j WHERE j.run = $1';

/** SQL: selects a status, by an index of few rows where there is one. */
function ofStatus(status: JobStatus): string {
  if (status === 'done') return '';
  return status === 'failed' || status === 'in-doubt' ? 'AND j.trouble' : 'AND j.open';
}

/** SQL: the attempts that got a task, by the index of hashed ids. */
export const attemptsOfTask = `SELECT key, doc FROM promptpress.attempts WHERE run = $1 AND task = $2
  AND hashtextextended(task, 0) = hashtextextended($2, 0) ORDER BY number`;

/**
 * SQL: the jobs of the run `$1`, except `$2`, that are being submitted within `$4` ms of `$3`. Unfinished slices hold them all, and few of
 * the many rows that were put back. No index may name the status: it changes with each step of a job.
 */
export const submittedBeside = `SELECT ${recordColumns} FROM promptpress.jobs j
  WHERE j.run = $1 AND j.slice = ANY (ARRAY(SELECT n FROM promptpress.slices WHERE run = $1 AND NOT done)) AND j.open
    AND j.status = 'submitting' AND j.key <> $2 AND abs((j.doc::json ->> 'submittedAt')::bigint - $3) < $4`;

/**
 * Returns a reader for the state of a run on an engine, like that of a directory's state.
 *
 * @param run number of the run
 */
export function engineReader(pool: EnginePool, run: number): StateReader {
  const recordOf = (row: DocumentRow): JobRecord => readRecord(row, pool.shown);
  const ask = async <Row>(text: string, ...values: readonly unknown[]): Promise<Row[]> =>
    (await pool.query<Row>(text, [run, ...values])).rows;
  const many = async (keys: readonly string[]): Promise<Map<string, JobRecord>> => {
    const found = new Map<string, JobRecord>();
    for (const group of groupsOf(keys, maxKeys))
      for (const row of await ask<DocumentRow>(
        `SELECT ${recordColumns} FROM ${jobs} AND j.key = ANY($2)`,
        group,
      ))
        found.set(row.key, recordOf(row));
    return found;
  };

  /** Yields the existing records of keys, in the order of the keys. */
  async function* inOrder(keys: readonly string[]): AsyncGenerator<JobRecord> {
    for (const group of groupsOf(keys, page)) {
      const records = await many(group);
      for (const key of group) {
        const record = records.get(key);
        if (record !== undefined) yield record;
      }
    }
  }

  return {
    file: pool.shown,
    get: async (key) => (await many([key])).get(key),
    many,
    async *unfinished() {
      const rows = await ask<{ key: string }>(
        `SELECT j.key FROM ${jobs} AND j.open AND j.status <> 'pending' ORDER BY j.number`,
      );
      yield* inOrder(rows.map(({ key }) => key));
    },
    async *withStatus(status, code) {
      const text = `SELECT ${recordColumns} FROM ${jobs} ${ofStatus(status)} AND j.status = $2 AND j.key > $3
        AND ($4::text IS NULL OR j.code = $4) ORDER BY j.key LIMIT ${page}`;
      const rows = paged(page, (after) => ask<DocumentRow>(text, status, after, code ?? null));
      for await (const row of rows) yield recordOf(row);
    },
    keysOfSlots: async (slots) => {
      const found = new Map<string, string[]>();
      const rows = await ask<{ slot: string; key: string }>(
        `SELECT j.slot, j.key FROM ${jobs} AND j.slot = ANY($2) AND hashtextextended(j.slot, 0) IN (
           SELECT hashtextextended(wanted, 0) FROM unnest($2::text[]) AS wanted) ORDER BY j.number`,
        slots.map(searchable),
      );
      for (const { slot, key } of rows) found.set(slot, [...(found.get(slot) ?? []), key]);
      return found;
    },
    keysWithPrefix: async (prefix, limit) =>
      (
        await ask<{ key: string }>(
          `SELECT j.key FROM ${jobs} AND j.key >= $2 AND j.key < $3 ORDER BY j.key LIMIT $4`,
          prefix,
          `${prefix}\u{10FFFF}`,
          limit,
        )
      ).map(({ key }) => key),
    async *mentioning(text) {
      const found: { key: string; number: number }[] = [];
      const rows = paged(scanned, (after) =>
        ask<{ key: string; number: number; holds: boolean }>(
          `SELECT j.key, j.number::float8 AS number, position($3 IN j.doc) > 0 AS holds FROM ${jobs} AND j.key > $2
           ORDER BY j.key LIMIT ${scanned}`,
          after,
          JSON.stringify(text),
        ),
      );
      for await (const { key, number, holds } of rows) if (holds) found.push({ key, number });
      yield* inOrder(found.toSorted((a, b) => a.number - b.number).map(({ key }) => key));
    },
    async *keysOfTask(taskId) {
      const rows = await ask<{ key: string; doc: string }>(attemptsOfTask, searchable(taskId));
      for (const { key, doc } of rows) if (readAttempt(doc, key, pool.shown).taskId === taskId) yield key;
    },
    numbersOf: async (keys) => {
      const found = new Map<string, number>();
      for (const group of groupsOf(keys, maxKeys)) {
        const text = `SELECT j.key, j.number::float8 AS number FROM ${jobs} AND j.key = ANY($2)`;
        for (const { key, number } of await ask<{ key: string; number: number }>(text, group))
          found.set(key, number);
      }
      return found;
    },
    lastNumber: async () =>
      (
        await ask<{ last: number }>(
          'SELECT coalesce(max(last), 0)::float8 AS last FROM promptpress.totals WHERE run = $1',
        )
      )[0]?.last ?? 0,
    async *rootKeys() {
      const text = `SELECT j.key FROM ${jobs} AND j.root AND j.key > $2 ORDER BY j.key LIMIT ${scanned}`;
      for await (const { key } of paged(scanned, (after) => ask<{ key: string }>(text, after))) yield key;
    },
    totals: async () =>
      sumOfTotals(
        await ask<TotalRow>(
          `SELECT status, code, sum(jobs)::float8 AS jobs, sum(attempts)::float8 AS attempts, sum(cost) AS cost,
             sum(tokens)::float8 AS tokens, sum(possible) AS possible, sum(assumed)::float8 AS assumed
           FROM promptpress.totals WHERE run = $1 AND status <> '' GROUP BY status, code HAVING sum(jobs) > 0`,
        ),
      ),
    stepSums: async () => {
      const { rows } = await pool.scan<StepSums>(
        `SELECT j.step, count(*)::float8 AS jobs, count(*) FILTER (WHERE j.status = 'done')::float8 AS done,
           sum(j.attempts)::float8 AS attempts, sum(j.cost) AS cost, sum(j.possible) AS "possibleCost",
           sum(j.tokens)::float8 AS tokens, sum(j.assumed)::float8 AS "assumedTokens",
           sum(j.unanswered)::float8 AS unanswered
         FROM ${jobs} GROUP BY j.step ORDER BY min(j.number)`,
        [run],
      );
      return rows.map((row) => ({ ...row, cost: tidy(row.cost), possibleCost: tidy(row.possibleCost) }));
    },
    // Nothing outside the engine counts them, so a backup is not recognized.
    submissions: async () => {
      const [row] = await ask<{ known: number }>(
        `SELECT coalesce(sum(attempts), 0)::float8 AS known FROM promptpress.totals WHERE run = $1 AND status = ''`,
      );
      const known = row?.known ?? 0;
      return { known, counted: known };
    },
    attempts: async (key) =>
      (
        await ask<{ doc: string }>(
          'SELECT doc FROM promptpress.attempts WHERE run = $1 AND key = $2 ORDER BY number',
          key,
        )
      ).map(({ doc }) => readAttempt(doc, key, pool.shown)),
    redos: redoReader(pool, run),
    inputFiles: async (paths) => {
      const rows = await ask<InputFile>(
        `SELECT path, sha256, bytes::float8 AS bytes, mtime AS "mtimeMs" FROM promptpress.inputs
         WHERE run = $1 AND path = ANY($2) AND sha256 <> ''`,
        paths,
      );
      return new Map(rows.map((file) => [file.path, file]));
    },
    fact: async (name) =>
      (
        await ask<{ value: string }>('SELECT value FROM promptpress.facts WHERE run = $1 AND name = $2', name)
      )[0]?.value,
    table: (sha256) => readTable(pool, run, sha256),
    replyLine: async ({ segment, offset }) =>
      (
        await ask<{ line: string }>(
          'SELECT line FROM promptpress.replies WHERE run = $1 AND segment = $2 AND start = $3',
          segment,
          offset,
        )
      )[0]?.line,
    // The caller owns the connections.
    close: async () => undefined,
  };
}

/** Reads page after page, each after the last key of the previous one. */
async function* paged<Row extends { readonly key: string }>(
  size: number,
  next: (after: string) => Promise<Row[]>,
): AsyncGenerator<Row> {
  let after = '';
  for (;;) {
    const rows = await next(after);
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < size) return;
    after = last.key;
  }
}

/** Sums leave rounding errors beyond the 15th digit. */
const tidy = (cost: number): number => Number(cost.toPrecision(12));

/** Yields the items in groups of at most this size. */
export function* groupsOf<T>(items: readonly T[], most: number): Generator<readonly T[]> {
  for (let from = 0; from < items.length; from += most) yield items.slice(from, from + most);
}
