import type { JobStatus } from '../../plan/job.ts';
import type { Database } from './sqlite.ts';

/** The position of a state when it was last read. */
export interface ChangeMark {
  /** Number that differs whenever another process has committed something. */
  readonly version: number;
  /** Number of the latest job. */
  readonly job: number;
  /** Number of the latest entry of the history. */
  readonly attempt: number;
}

/** A job that is not done. */
export interface OpenJob {
  readonly key: string;
  readonly status: JobStatus;
  /** Code of its error; empty if there is none. */
  readonly code: string;
}

/**
 * Questions of a process that watches a state which another process writes. Every job that changes between two reads is new, or in the
 * history, or open at one of them; a job that is open at both shows a change by its status and its code.
 */
export interface StateChanges {
  changeMark(): Promise<ChangeMark>;
  /** Yields jobs that came after a mark, and jobs with history entries after it; a job may be repeated. */
  begunSince(mark: ChangeMark): AsyncIterable<{ readonly key: string; readonly cell: number }>;
  /** Yields open jobs through a partial index, without any record: a thousand of them take a millisecond. */
  openJobs(): AsyncIterable<OpenJob>;
}

/** Rows per page. */
const page = 2048;

/**
 * Prepares the questions to an open database.
 *
 * @param ask calls its argument, and converts failures of the database to the errors that users see
 */
export function stateChanges(database: Database, ask: <T>(work: () => T) => T): StateChanges {
  const statements = ask(() => ({
    version: database.prepare<{ data_version: number }>('PRAGMA data_version'),
    mark: database.prepare<Omit<ChangeMark, 'version'>>(
      `SELECT (SELECT coalesce(max(id), 0) FROM jobs) AS job,
         (SELECT coalesce(max(id), 0) FROM attempts) AS attempt`,
    ),
    jobs: database.prepare<{ id: number; key: string; cell: number }>(
      `SELECT id, key, json_extract(doc, '$.origin.cell') AS cell FROM jobs WHERE id > ? ORDER BY id LIMIT ${page}`,
    ),
    attempts: database.prepare<{ id: number; key: string; cell: number }>(
      `SELECT attempts.id, attempts.key, json_extract(jobs.doc, '$.origin.cell') AS cell
       FROM attempts JOIN jobs ON jobs.key = attempts.key WHERE attempts.id > ? ORDER BY attempts.id LIMIT ${page}`,
    ),
    open: database.prepare<OpenJob>(
      `SELECT key, status, code FROM jobs INDEXED BY jobs_open
       WHERE status <> 'done' AND (status, key) > (?, ?) ORDER BY status, key LIMIT ${page}`,
    ),
  }));
  return {
    changeMark: async () =>
      ask(() => ({
        version: statements.version.get()?.data_version ?? 0,
        job: 0,
        attempt: 0,
        ...statements.mark.get(),
      })),
    async *begunSince(mark) {
      for (const name of ['jobs', 'attempts'] as const) {
        let after = name === 'jobs' ? mark.job : mark.attempt;
        for (;;) {
          const rows = ask(() => statements[name].all(after));
          for (const { key, cell } of rows) yield { key, cell };
          if (rows.length < page) break;
          after = rows.at(-1)?.id ?? after;
        }
      }
    },
    async *openJobs() {
      let last: Pick<OpenJob, 'status' | 'key'> | { status: ''; key: '' } = { status: '', key: '' };
      for (;;) {
        const rows: readonly OpenJob[] = ask(() => statements.open.all(last.status, last.key));
        yield* rows;
        const end = rows.at(-1);
        if (end === undefined || rows.length < page) return;
        last = end;
      }
    },
  };
}
