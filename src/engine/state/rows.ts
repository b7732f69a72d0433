import { exactJson, parseExact } from '../../pipeline/values/exact-json.ts';
import { missingCode } from '../../plan/graph/optional.ts';
import type { Attempt, JobRecord } from '../../plan/job.ts';
import { isTextRequest } from '../../plan/job-request.ts';
import { isAttempt, isJob } from '../../state/job-shape.ts';
import { type RedoChange, redoStates } from '../../state/redo-order.ts';
import { rowOf } from '../../state/sqlite/job-rows.ts';
import { type DocumentRow, recordOf, storedForm } from '../../state/sqlite/texts.ts';
import type { LateFact } from '../../state/store.ts';
import { documentOf } from '../postgres/engine-error.ts';
import { openRedo, redoColumn } from './redos.ts';

/** The version of a record: the slice that wrote it, and a number that grows with each of that slice's turns. */
export interface Version {
  readonly slice: number;
  /** A 64-bit integer: epoch × 2^32 + turn. */
  readonly rev: string;
}

/** Returns a version as text, as decisions name it. */
export const basisOf = ({ slice, rev }: Version): string => `${slice}/${rev}`;

/** Parses the version that a decision names. */
export function versionOfBasis(basis: string): Version {
  const [slice = '', rev = ''] = basis.split('/');
  return { slice: Number(slice), rev };
}

/** Spending of a job, besides its attempts: what it has used, and what its request in flight may use. */
export interface Charge {
  readonly cost: number;
  readonly tokens: number;
}

/** Returns the number of a turn under an epoch: greater than any of an earlier epoch, and independent of clocks. */
export const revOf = (epoch: number, turn: number): string =>
  ((BigInt(epoch) << 32n) | BigInt(turn)).toString();

/** The columns from which {@link storedRecordOf} reads a record. */
export const recordColumns = 'j.key, j.doc, j.said';

/**
 * SQL: the columns that a worker reads of a record, all at the same time.
 *
 * @param textMs the parameter with the longest duration of a text call, ms
 */
export const writerColumns = (
  textMs: string,
): string => `${recordColumns}, j.slice, j.rev::text AS rev, j.session || '/' || j.slice || '/' || (j.rev >> 32) AS lease,
  promptpress.is_over(j.run, j.session || '/' || j.slice || '/' || (j.rev >> 32)) AS lease_over,
  j.charged_cost, j.charged_tokens::float8 AS charged_tokens,
  (j.sender IS NULL OR promptpress.is_over(j.run, j.sender)) AS sender_over, ${redoColumn},
  j.open AND promptpress.receives_nothing(j.run, j.session || '/' || j.slice || '/' || (j.rev >> 32), ${textMs}) AS lease_deaf,
  j.sender IS NOT NULL AND promptpress.receives_nothing(j.run, j.sender, ${textMs}) AS sender_deaf,
  (SELECT json_agg(json_build_object('submitted', f.submitted, 'lease', f.lease, 'task', f.task, 'answer', f.answer)) FROM promptpress.facts_late f
    WHERE f.run = j.run AND f.key = j.key) AS late`;

/** A row of {@link writerColumns}. */
export interface WriterRow extends DocumentRow, Version {
  readonly lease: string;
  readonly lease_over: boolean;
  readonly charged_cost: number;
  readonly charged_tokens: number;
  readonly sender_over: boolean;
  readonly redo: number | null;
  /** True where writer and `sender` of an open record can receive nothing more, not even the answer to a text call. */
  readonly lease_deaf: boolean;
  readonly sender_deaf: boolean;
  readonly late:
    | readonly {
        readonly submitted: number;
        readonly lease: string;
        readonly task: string | null;
        readonly answer: string | null;
      }[]
    | null;
}

/** A record as a worker knows it. */
export interface StoredRecord extends Version {
  readonly record: JobRecord;
  /** State of the open redo order for the job. */
  readonly redo?: 'waiting' | 'begun' | undefined;
}

/** Reads the record of a row. @throws EngineError `engine.damaged` where it is invalid */
export const readRecord = (row: DocumentRow, shown: string): JobRecord =>
  documentOf(
    row.doc,
    (record): record is JobRecord => isJob(record, row.key),
    shown,
    `the record of job ${row.key}`,
    () => recordOf(row),
  );

/** Reads an entry of a job's history. @throws EngineError `engine.damaged` where the document is invalid */
export const readAttempt = (doc: string, key: string, shown: string): Attempt =>
  documentOf(doc, isAttempt, shown, `an attempt of job ${key}`, parseExact);

/** Whether the writer of a record may still send its request, or receive the answer to its text call. */
export const mayReceive = (row: WriterRow, { request }: JobRecord): boolean =>
  isTextRequest(request) ? !row.lease_deaf : !row.lease_over;

/** The same for the sender that the record names. */
const mayBeSentBy = (row: WriterRow, { request }: Pick<JobRecord, 'request'>): boolean =>
  isTextRequest(request) ? !row.sender_deaf : !row.sender_over;

/**
 * Returns the record of a row, without a sender that is known to be dead. A doubt with a late fact that is not in the record yet keeps its
 * sender, even if that is dead: its readers check the fact before any decision, such as to submit again. So does a text call that was taken
 * over.
 *
 * @throws as {@link readRecord}
 */
export function storedRecordOf(row: WriterRow, shown: string): StoredRecord {
  const { sender: known, ...record } = readRecord(row, shown);
  const isHeard = lateFactOf(row, record) !== undefined;
  const isTakenOver = record.status === 'in-doubt' || record.status === 'pending';
  const sender = known ?? (isHeard && isTakenOver ? row.lease : undefined);
  const mayBeSent = sender !== undefined && (isHeard || mayBeSentBy(row, record));
  const { slice, rev } = row;
  return { record: mayBeSent ? { ...record, sender } : record, slice, rev, redo: openRedo(row.redo) };
}

/** Returns the late fact about the submission in the record, or about a text call that was taken over; an answer comes first. */
export function lateFactOf(
  { late, sender_over }: WriterRow,
  { key, status, submittedAt, submittedBy, unheard = [] }: JobRecord,
): LateFact | undefined {
  // A record that says the job waits was written after the answer to its last request.
  const isAsked = status !== 'pending';
  // While the last call may still be sent, an earlier answer does not continue the job in parallel.
  const calls = sender_over ? unheard : unheard.slice(-1);
  const found = late?.filter(
    ({ submitted, lease }) =>
      (isAsked && submitted === submittedAt && lease === submittedBy) ||
      calls.includes(`${submitted}/${lease}`),
  );
  const fact = found?.find(({ answer }) => answer !== null) ?? found?.[0];
  if (fact === undefined) return undefined;
  return {
    key,
    submittedAt: fact.submitted,
    submittedBy: fact.lease,
    ...(fact.task === null ? {} : { taskId: fact.task }),
    ...(fact.answer === null ? {} : { answer: fact.answer }),
  };
}

/** Returns a late fact as a row for the engine. */
export const factRow = ({ key, submittedAt, submittedBy, taskId, answer }: LateFact) => ({
  key,
  submitted: submittedAt,
  lease: submittedBy,
  task: taskId ?? null,
  answer: answer ?? null,
});

/** Text of PostgreSQL cannot contain NUL or half of a surrogate pair. Only for columns that are searched; documents are exact. */
export const searchable = (text: string): string => text.replaceAll('\0', '\u{FFFD}').toWellFormed();

/** A row for `commit_turn`. Documents are separate from columns, so that JSON is not encoded twice. */
export interface SentRow {
  readonly columns: Readonly<Record<string, unknown>>;
  /** JSON in one line. */
  readonly doc: string;
  /** Text for searches; absent where there is none. */
  readonly said?: string;
}

/** Returns a record as a row for `commit_turn`. @param accepted error codes of failures that are not counted */
export function recordRow(
  record: JobRecord,
  version: Version,
  seen: Version | undefined,
  charged: Charge = { cost: 0, tokens: 0 },
  redo?: RedoChange,
  accepted: readonly string[] = [],
): SentRow {
  const { status, code, root, slot, attempts, cost, tokens, possible, assumed } = rowOf(record);
  const { doc, said } = storedForm(record);
  const { sender } = record;
  return {
    doc,
    ...(said === undefined ? {} : { said }),
    // All rows have the same fields in the same order: `undefined` would be left out of JSON.
    columns: {
      status,
      code: searchable(code),
      slot: searchable(slot),
      attempts,
      cost,
      tokens,
      possible,
      assumed,
      key: record.key,
      step: searchable(record.origin.step),
      root: root === 1,
      unanswered: record.doubtful?.count ?? 0,
      slice: version.slice,
      rev: version.rev,
      seen_slice: seen?.slice,
      seen_rev: seen?.rev,
      unheard: record.unheard?.join(' '),
      sender: sender !== undefined && /^\d+\/\d+\/\d+$/.test(sender) ? sender : undefined,
      charged_cost: charged.cost,
      charged_tokens: charged.tokens,
      redo: redo && redoStates.indexOf(redo),
      // A missing button is no failure where it is optional.
      fails: status === 'failed' && code !== missingCode && !accepted.includes(code),
    },
  };
}

/** Returns an attempt as a row for `commit_turn`. @param part its number within the turn: with the version, it prevents a second write */
export function attemptRow(attempt: Attempt, version: Version, part: number): SentRow {
  const { key, taskId } = attempt;
  return {
    columns: {
      key,
      slice: version.slice,
      rev: version.rev,
      part,
      task: taskId === undefined ? undefined : searchable(taskId),
    },
    doc: exactJson(attempt),
  };
}
