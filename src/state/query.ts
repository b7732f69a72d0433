import { parseExact } from '../pipeline/values/exact-json.ts';
import { type Attempt, type JobRecord, type JobStatus, jobStatuses } from '../plan/job.ts';
import { isAttempt, isJob } from './job-shape.ts';
import type { InputFile, StateReader, StepSums, StoreTotals, Submissions } from './reader.ts';
import type { RedoCounts, RedoEntry } from './redo-order.ts';
import { redoQueries } from './sqlite/redos.ts';
import type { Database, Statement } from './sqlite/sqlite.ts';
import { type DocumentRow, documents, recordOf } from './sqlite/texts.ts';
import { guarded, stateErrorOf } from './state-error.ts';
import { burstMs } from './store.ts';

/** Rows per page: a page of records is well below a megabyte, and no read transaction outlives it. */
const page = 256;

/** Rows that one step of a full search reads: a few milliseconds, so that a writer is not blocked. */
const scanned = 4096;

/** A count of 0 for each status. */
const noJobs = Object.fromEntries(jobStatuses.map((status) => [status, 0])) as Record<JobStatus, number>;

/** A row of `totals`. */
export interface TotalRow {
  readonly status: JobStatus;
  readonly code: string;
  readonly jobs: number;
  readonly attempts: number;
  readonly cost: number;
  readonly tokens: number;
  readonly possible: number;
  readonly assumed: number;
}

/** SQLite uses a partial index only if the query repeats the index's own condition, so the status is part of the text, not a parameter. */
const ofStatus = (status: JobStatus): string =>
  `WHERE status = '${status}' ${status === 'done' ? '' : "AND status <> 'done' "}` +
  `AND key > ? AND (? OR code = ?) ORDER BY key LIMIT ${page}`;

/** Returns the FROM clause for rows with one of these values in a column; one statement, however many values. */
const wanted = (table: string, column: string): string =>
  `json_each(?) AS wanted CROSS JOIN ${table} ON ${table}.${column} = wanted.value`;

const ofMany = (columns: string, table: string, column: string): string =>
  `SELECT ${columns} FROM ${wanted(table, column)}`;

/** Query of keys by slot, through the beginnings of slots, which the index has. */
const slotsText = `SELECT jobs.slot, jobs.key FROM json_each(?) AS wanted CROSS JOIN jobs
  ON substr(jobs.slot, 1, 8) = substr(wanted.value, 1, 8) AND jobs.slot = wanted.value ORDER BY jobs.id`;

/** Query of a page of roots: keys that no job of `jobs_child` has; reads no row. */
const rootsText = `SELECT key FROM jobs WHERE key > ? AND NOT EXISTS
  (SELECT 1 FROM jobs AS child INDEXED BY jobs_child WHERE child.root = 0 AND child.id = jobs.id) ORDER BY key LIMIT ${page}`;

/** Name of the fact with the number of submissions that the state knows; absent: none. */
export const submissionsFact = 'submissions';

/** Name of the fact that the file with the count of submissions was gone, until the user says how to continue. */
export const uncountedFact = 'submissions.uncounted';

/** The questions of {@link StateReader} and of a store, answered synchronously. */
export interface StateQueries {
  readonly file?: string;
  get(key: string): JobRecord | undefined;
  many(keys: readonly string[]): ReadonlyMap<string, JobRecord>;
  unfinished(): readonly JobRecord[];
  withStatus(status: JobStatus, code?: string): Iterable<JobRecord>;
  keysOfSlots(slots: readonly string[]): ReadonlyMap<string, readonly string[]>;
  keysWithPrefix(prefix: string, limit: number): readonly string[];
  mentioning(text: string): Iterable<JobRecord>;
  keysOfTask(taskId: string): Iterable<string>;
  /** Like `keysOfTask`, for attempts made `at` or shortly before or after: its time does not grow with the state. */
  keysOfBurst(taskId: string, at: number): readonly string[];
  numbersOf(keys: readonly string[]): ReadonlyMap<string, number>;
  lastNumber(): number;
  rootKeys(): Iterable<string>;
  totals(): StoreTotals;
  stepSums(): readonly StepSums[];
  submissions(): Submissions;
  attempts(key: string): readonly Attempt[];
  redoCounts(): RedoCounts;
  redoEntries(keys: readonly string[]): ReadonlyMap<string, RedoEntry>;
  /** Returns a page of keys of waiting jobs after this one, in order; empty at the end. */
  redosWaiting(after: string): readonly string[];
  inputFiles(paths: readonly string[]): ReadonlyMap<string, InputFile>;
  fact(name: string): string | undefined;
  close(): void;
}

/**
 * Prepares the questions to an open database with the current schema.
 *
 * @param counted number of submissions counted outside of it; undefined: nothing counts them
 */
export function stateQueries(
  database: Database,
  counted: () => number | undefined,
): StateQueries & { recordOf(row: DocumentRow): JobRecord } {
  const { file } = database;
  const ask = <T>(work: () => T): T => guarded(file, work);
  const parsed = (read: () => unknown): unknown => {
    try {
      return read();
    } catch (cause) {
      throw stateErrorOf('corrupt', file, cause);
    }
  };
  const parse = ({ doc }: { readonly doc: string }): Attempt => {
    const attempt = parsed(() => parseExact(doc));
    if (isAttempt(attempt)) return attempt;
    throw stateErrorOf('corrupt', file, new Error('an entry of the history of a job is invalid'));
  };
  const parseJob = (row: DocumentRow): JobRecord => {
    const job = parsed(() => recordOf(row));
    if (isJob(job, row.key)) return job;
    throw stateErrorOf('corrupt', file, new Error(`the record of job ${row.key} is invalid`));
  };

  const statements = ask(() => ({
    get: database.prepare<DocumentRow>(documents('WHERE key = ?')),
    unfinished: database.prepare<DocumentRow>(
      documents(
        "WHERE status IN ('submitting', 'running', 'modal', 'saving') AND status <> 'done' ORDER BY id",
      ),
    ),
    many: database.prepare<DocumentRow>(documents('', wanted('jobs', 'key'))),
    slots: database.prepare<{ slot: string; key: string }>(slotsText),
    prefix: database.prepare<{ key: string }>(
      'SELECT key FROM jobs WHERE key >= ? AND key < ? ORDER BY key LIMIT ?',
    ),
    numbers: database.prepare<{ key: string; id: number }>(ofMany('jobs.key, jobs.id', 'jobs', 'key')),
    last: database.prepare<{ id: number }>('SELECT coalesce(max(id), 0) AS id FROM jobs'),
    mentioning: database.prepare<DocumentRow>(
      documents('WHERE id > ? AND id <= ? AND instr(jobs.doc, ?) > 0 ORDER BY id'),
    ),
    lastAttempt: database.prepare<{ id: number }>('SELECT coalesce(max(id), 0) AS id FROM attempts'),
    attemptsOfTask: database.prepare<Omit<DocumentRow, 'said'>>(
      'SELECT key, doc FROM attempts WHERE id > ? AND id <= ? AND instr(doc, ?) > 0 ORDER BY id',
    ),
    firstAttempt: database.prepare<{ doc: string }>(
      'SELECT doc FROM attempts WHERE id > ? ORDER BY id LIMIT 1',
    ),
    roots: database.prepare<{ key: string }>(rootsText),
    totals: database.prepare<TotalRow>('SELECT * FROM totals WHERE jobs > 0'),
    attempts: database.prepare<{ doc: string }>('SELECT doc FROM attempts WHERE key = ? ORDER BY id'),
    inputs: database.prepare<InputFile>(
      ofMany('inputs.path, inputs.sha256, inputs.bytes, inputs.mtime AS mtimeMs', 'inputs', 'path'),
    ),
    fact: database.prepare<{ value: string }>('SELECT value FROM facts WHERE name = ?'),
  }));
  const redos = ask(() => redoQueries(database));
  const byStatus = new Map<JobStatus, Statement<DocumentRow>>();
  const statusStatement = (status: JobStatus): Statement<DocumentRow> => {
    const known = byStatus.get(status) ?? database.prepare<DocumentRow>(documents(ofStatus(status)));
    byStatus.set(status, known);
    return known;
  };

  /** Yields rows page by page, each page after the last key of the one before. */
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
    recordOf: parseJob,
    many: (keys) =>
      ask(() => new Map(statements.many.all(JSON.stringify(keys)).map((row) => [row.key, parseJob(row)]))),
    unfinished: () => ask(() => statements.unfinished.all().map(parseJob)),
    *withStatus(status, code) {
      const any = code === undefined ? 1 : 0;
      for (const row of paged((after) => statusStatement(status).all(after, any, code ?? ''))) {
        yield parseJob(row);
      }
    },
    keysOfSlots: (slots) =>
      ask(() => {
        const found = new Map<string, string[]>();
        for (const { slot, key } of statements.slots.all(JSON.stringify(slots))) {
          const keys = found.get(slot);
          if (keys === undefined) found.set(slot, [key]);
          else keys.push(key);
        }
        return found;
      }),
    // Nothing in Unicode comes after the last code point, so it bounds all keys with this prefix.
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
        for (const row of rows) if (parse(row).taskId === taskId) yield row.key;
      }
    },
    keysOfBurst: (taskId, at) => {
      const keys: string[] = [];
      // The latest first. An attempt may be written long after it was made, so a page may end with an older one.
      for (let to = ask(() => statements.lastAttempt.get()?.id ?? 0); to > 0; to -= scanned) {
        const rows = ask(() => statements.attemptsOfTask.all(to - scanned, to, JSON.stringify(taskId)));
        for (const row of rows) {
          const attempt = parse(row);
          if (attempt.taskId === taskId && Math.abs(attempt.at - at) < burstMs) keys.push(row.key);
        }
        const first = ask(() => statements.firstAttempt.get(to - scanned));
        if (first !== undefined && parse(first).at < at - burstMs) break;
      }
      return keys;
    },
    numbersOf: (keys) =>
      ask(() => new Map(statements.numbers.all(JSON.stringify(keys)).map(({ key, id }) => [key, id]))),
    lastNumber: () => ask(() => statements.last.get()?.id ?? 0),
    *rootKeys() {
      for (const row of paged((after) => statements.roots.all(after))) yield row.key;
    },
    totals: () => ask(() => sumOfTotals(statements.totals.all())),
    stepSums: () => ask(() => stepSums(database)),
    submissions: () =>
      ask(() => {
        const known = Number(statements.fact.get(submissionsFact)?.value ?? 0);
        const outside = counted();
        const isUncounted =
          (outside === undefined && known > 0) || statements.fact.get(uncountedFact) !== undefined;
        return { known, counted: outside ?? 0, ...(isUncounted && { isUncounted }) };
      }),
    attempts: (key) => ask(() => statements.attempts.all(key).map(parse)),
    redoCounts: () => ask(() => redos.counts()),
    redoEntries: (keys) => ask(() => redos.entries(keys)),
    redosWaiting: (after) => ask(() => redos.waiting(after)),
    inputFiles: (paths) =>
      ask(() => new Map(statements.inputs.all(JSON.stringify(paths)).map((file) => [file.path, file]))),
    fact: (name) => ask(() => statements.fact.get(name)?.value),
    close: () => ask(() => database.close()),
  };
}

/** Returns a local state as an asynchronous reader. */
export const readerOf = (queries: StateQueries): StateReader => ({
  ...(queries.file === undefined ? {} : { file: queries.file }),
  get: async (key) => queries.get(key),
  many: async (keys) => queries.many(keys),
  async *unfinished() {
    yield* queries.unfinished();
  },
  async *withStatus(status, code) {
    yield* queries.withStatus(status, code);
  },
  keysOfSlots: async (slots) => queries.keysOfSlots(slots),
  keysWithPrefix: async (prefix, limit) => queries.keysWithPrefix(prefix, limit),
  async *mentioning(text) {
    yield* queries.mentioning(text);
  },
  async *keysOfTask(taskId) {
    yield* queries.keysOfTask(taskId);
  },
  numbersOf: async (keys) => queries.numbersOf(keys),
  lastNumber: async () => queries.lastNumber(),
  async *rootKeys() {
    yield* queries.rootKeys();
  },
  totals: async () => queries.totals(),
  stepSums: async () => queries.stepSums(),
  submissions: async () => queries.submissions(),
  attempts: async (key) => queries.attempts(key),
  redos: {
    counts: async () => queries.redoCounts(),
    entries: async (keys) => queries.redoEntries(keys),
    async *waiting() {
      for (
        let keys = queries.redosWaiting('');
        keys.length > 0;
        keys = queries.redosWaiting(keys.at(-1) ?? '')
      )
        yield* keys;
    },
  },
  inputFiles: async (paths) => queries.inputFiles(paths),
  fact: async (name) => queries.fact(name),
  close: async () => queries.close(),
});

/** Sums the totals of a state, from its rows by status and code. */
export function sumOfTotals(rows: readonly TotalRow[]): StoreTotals {
  const jobs = { ...noJobs };
  const codes: Record<'failed' | 'in-doubt', Record<string, number>> = { failed: {}, 'in-doubt': {} };
  let attempts = 0;
  let cost = 0;
  let possible = 0;
  let tokens = 0;
  let assumedTokens = 0;
  for (const row of rows) {
    jobs[row.status] += row.jobs;
    attempts += row.attempts;
    cost += row.cost;
    possible += row.possible;
    tokens += row.tokens;
    assumedTokens += row.assumed;
    const { status, code } = row;
    if (code !== '' && (status === 'failed' || status === 'in-doubt'))
      codes[status][code] = (codes[status][code] ?? 0) + row.jobs;
  }
  return { jobs, attempts, cost: tidy(cost), possibleCost: tidy(possible), tokens, assumedTokens, codes };
}

/** Rounds away the error beyond the 15th digit that adding and subtracting leaves. */
const tidy = (cost: number): number => Number(cost.toPrecision(12));

type StepRow = Omit<StepSums, 'step'> & { readonly step: string | null };

/**
 * Returns the sums of every step, in the order of their first jobs. No index helps: every record is read, which takes about as long as
 * reading the file.
 */
function stepSums(database: Database): readonly StepSums[] {
  const last = database.prepare<{ id: number }>('SELECT coalesce(max(id), 0) AS id FROM jobs').get()?.id ?? 0;
  const page = database.prepare<StepRow>(
    `SELECT CASE WHEN json_valid(doc) THEN json_extract(doc, '$.origin.step') END AS step, count(*) AS jobs, sum(status = 'done') AS done,
       sum(attempts) AS attempts, sum(cost) AS cost, sum(possible) AS possibleCost,
       sum(tokens) AS tokens, sum(assumed) AS assumedTokens,
       total(CASE WHEN json_valid(doc) THEN json_extract(doc, '$.doubtful.count') END) AS unanswered
     FROM jobs WHERE id > ? AND id <= ? GROUP BY 1 ORDER BY min(id)`,
  );
  const sums = new Map<string, StepSums>();
  for (let after = 0; after < last; after += scanned)
    for (const row of page.all(after, after + scanned)) {
      const { step } = row;
      // A record without a step is damaged; its cost is counted all the same.
      sums.set(step ?? '', added(sums.get(step ?? ''), { ...row, step: step ?? '' }));
    }
  return [...sums.values()];
}

const added = (sum: StepSums | undefined, more: StepSums): StepSums =>
  sum === undefined
    ? { ...more, cost: tidy(more.cost), possibleCost: tidy(more.possibleCost) }
    : {
        step: sum.step,
        jobs: sum.jobs + more.jobs,
        done: sum.done + more.done,
        attempts: sum.attempts + more.attempts,
        cost: tidy(sum.cost + more.cost),
        possibleCost: tidy(sum.possibleCost + more.possibleCost),
        tokens: sum.tokens + more.tokens,
        assumedTokens: sum.assumedTokens + more.assumedTokens,
        unanswered: sum.unanswered + more.unanswered,
      };
