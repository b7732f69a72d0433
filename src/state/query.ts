import { parseExact } from '../pipeline/values/exact-json.ts';
import type { Attempt, JobRecord, JobStatus } from '../plan/job.ts';
import type { Database, Statement } from './sqlite/sqlite.ts';
import { guarded, stateErrorOf } from './state-error.ts';
import type { InputFile, StateReader, StoreTotals } from './store.ts';

/** Rows read at a time: a page of records is well below a megabyte, and no read transaction outlives it. */
const page = 256;

/** Rows that one step of a full search reads: a few milliseconds. */
const scanned = 4096;

const statuses = [
  'pending',
  'submitting',
  'running',
  'modal',
  'saving',
  'done',
  'failed',
  'in-doubt',
] as const satisfies readonly JobStatus[];

/** No jobs at all. */
const noTotals: StoreTotals = {
  jobs: Object.fromEntries(statuses.map((status) => [status, 0])) as Record<JobStatus, number>,
  attempts: 0,
  cost: 0,
  possibleCost: 0,
  tokens: 0,
  assumedTokens: 0,
  codes: {},
};

interface TotalRow {
  readonly status: JobStatus;
  readonly code: string;
  readonly jobs: number;
  readonly attempts: number;
  readonly cost: number;
  readonly tokens: number;
  /** Absent before version 3. */
  readonly possible?: number;
  /** Absent before version 4. */
  readonly assumed?: number;
}

type DocumentRow = { readonly key: string; readonly doc: string };

/**
 * SQLite uses a partial index only where the query repeats the index's own condition, so the status is part of the
 * text, not a parameter.
 */
const ofStatus = (status: JobStatus): string =>
  `SELECT key, doc FROM jobs WHERE status = '${status}' ${status === 'done' ? '' : "AND status <> 'done' "}` +
  `AND key > ? AND (? OR code = ?) ORDER BY key LIMIT ${page}`;

/** The fact that says how many submissions the state knows of; absent: none, or a release that did not count them. */
export const submissionsFact = 'submissions';

/**
 * The questions of {@link StateReader}, asked of an open database with the current schema.
 *
 * @param counted how many submissions are counted outside of it
 */
export function stateQueries(database: Database, counted: () => number): StateReader {
  const { file } = database;
  const ask = <T>(work: () => T): T => guarded(file, work);
  const parse = (row: { readonly doc: string }): unknown => {
    try {
      return parseExact(row.doc);
    } catch (cause) {
      throw stateErrorOf('corrupt', file, cause);
    }
  };
  const parseJob = (row: DocumentRow): JobRecord => {
    const job = parse(row);
    if (isJob(job, row.key)) return job;
    throw stateErrorOf('corrupt', file, new Error(`the record of job ${row.key} is none`));
  };

  const statements = ask(() => ({
    get: database.prepare<DocumentRow>('SELECT key, doc FROM jobs WHERE key = ?'),
    unfinished: database.prepare<DocumentRow>(
      "SELECT key, doc FROM jobs WHERE status IN ('submitting', 'running', 'modal', 'saving') " +
        "AND status <> 'done' ORDER BY id",
    ),
    slot: database.prepare<{ key: string }>('SELECT key FROM jobs WHERE slot = ? ORDER BY id'),
    prefix: database.prepare<{ key: string }>(
      'SELECT key FROM jobs WHERE key >= ? AND key < ? ORDER BY key LIMIT ?',
    ),
    number: database.prepare<{ id: number }>('SELECT id FROM jobs WHERE key = ?'),
    last: database.prepare<{ id: number }>('SELECT coalesce(max(id), 0) AS id FROM jobs'),
    mentioning: database.prepare<DocumentRow>(
      'SELECT key, doc FROM jobs WHERE id > ? AND id <= ? AND instr(doc, ?) > 0 ORDER BY id',
    ),
    lastAttempt: database.prepare<{ id: number }>('SELECT coalesce(max(id), 0) AS id FROM attempts'),
    attemptsOfTask: database.prepare<DocumentRow>(
      'SELECT key, doc FROM attempts WHERE id > ? AND id <= ? AND instr(doc, ?) > 0 ORDER BY id',
    ),
    roots: database.prepare<{ key: string }>(
      `SELECT key FROM jobs WHERE root = 1 AND key > ? ORDER BY key LIMIT ${page}`,
    ),
    totals: database.prepare<TotalRow>('SELECT * FROM totals WHERE jobs > 0'),
    attempts: database.prepare<{ doc: string }>('SELECT doc FROM attempts WHERE key = ? ORDER BY id'),
    input: database.prepare<InputFile>(
      'SELECT path, sha256, bytes, mtime AS mtimeMs FROM inputs WHERE path = ?',
    ),
    fact: database.prepare<{ value: string }>('SELECT value FROM facts WHERE name = ?'),
  }));
  const byStatus = new Map<JobStatus, Statement<DocumentRow>>();
  const statusStatement = (status: JobStatus): Statement<DocumentRow> => {
    const known = byStatus.get(status) ?? database.prepare<DocumentRow>(ofStatus(status));
    byStatus.set(status, known);
    return known;
  };

  /** Calls for page after page, each after the last key of the one before. */
  function* paged<Row extends { readonly key: string }>(next: (after: string) => Row[]): Generator<Row> {
    let after = '';
    for (;;) {
      const rows = ask(() => next(after));
      yield* rows;
      const last = rows.at(-1);
      if (last === undefined || rows.length < page) return;
      after = last.key;
    }
  }

  return {
    file,
    get: (key) =>
      ask(() => {
        const row = statements.get.get(key);
        return row === undefined ? undefined : parseJob(row);
      }),
    unfinished: () => ask(() => statements.unfinished.all().map(parseJob)),
    *withStatus(status, code) {
      const any = code === undefined ? 1 : 0;
      for (const row of paged((after) => statusStatement(status).all(after, any, code ?? ''))) {
        yield parseJob(row);
      }
    },
    keysOfSlot: (slot) => ask(() => statements.slot.all(slot).map((row) => row.key)),
    // Nothing in Unicode comes after the last code point, so that it bounds all that begins so.
    keysWithPrefix: (prefix, limit) =>
      ask(() => statements.prefix.all(prefix, `${prefix}\u{10FFFF}`, limit).map((row) => row.key)),
    *mentioning(text) {
      const last = ask(() => statements.last.get()?.id ?? 0);
      for (let after = 0; after < last; after += scanned) {
        const rows = ask(() => statements.mentioning.all(after, after + scanned, JSON.stringify(text)));
        for (const row of rows) yield parseJob(row);
      }
    },
    *keysOfTask(taskId) {
      const last = ask(() => statements.lastAttempt.get()?.id ?? 0);
      for (let after = 0; after < last; after += scanned) {
        const rows = ask(() => statements.attemptsOfTask.all(after, after + scanned, JSON.stringify(taskId)));
        for (const row of rows) if ((parse(row) as Attempt).taskId === taskId) yield row.key;
      }
    },
    numberOf: (key) => ask(() => statements.number.get(key)?.id),
    lastNumber: () => ask(() => statements.last.get()?.id ?? 0),
    *rootKeys() {
      for (const row of paged((after) => statements.roots.all(after))) yield row.key;
    },
    totals: () => ask(() => sum(statements.totals.all())),
    submissions: () =>
      ask(() => ({
        known: Number(statements.fact.get(submissionsFact)?.value ?? 0),
        counted: counted(),
      })),
    attempts: (key) => ask(() => statements.attempts.all(key).map((row) => parse(row) as Attempt)),
    inputFile: (path) => ask(() => statements.input.get(path)),
    fact: (name) => ask(() => statements.fact.get(name)?.value),
    close: () => ask(() => database.close()),
  };
}

/** Whether a document has what everybody who reads a job relies on. */
function isJob(value: unknown, key: string): value is JobRecord {
  if (typeof value !== 'object' || value === null) return false;
  const job: Partial<JobRecord> = value;
  return (
    job.key === key &&
    statuses.some((status) => status === job.status) &&
    typeof job.attempts === 'number' &&
    typeof job.origin?.slot === 'string' &&
    typeof job.request === 'object' &&
    Array.isArray(job.artifacts)
  );
}

function sum(rows: readonly TotalRow[]): StoreTotals {
  const jobs = { ...noTotals.jobs };
  const codes: Record<string, number> = {};
  let attempts = 0;
  let cost = 0;
  let possible = 0;
  let tokens = 0;
  let assumedTokens = 0;
  for (const row of rows) {
    jobs[row.status] += row.jobs;
    attempts += row.attempts;
    cost += row.cost;
    possible += row.possible ?? 0;
    tokens += row.tokens;
    assumedTokens += row.assumed ?? 0;
    if (row.code !== '' && (row.status === 'failed' || row.status === 'in-doubt')) {
      codes[row.code] = (codes[row.code] ?? 0) + row.jobs;
    }
  }
  return { jobs, attempts, cost: tidy(cost), possibleCost: tidy(possible), tokens, assumedTokens, codes };
}

/** Adding and taking away leaves a rounding error beyond the 15th digit, which no budget needs to see. */
const tidy = (cost: number): number => Number(cost.toPrecision(12));
