import { exactJson, parseExact } from '../../pipeline/values/exact-json.ts';
import type { Attempt, JobRecord } from '../../plan/job.ts';
import { isTextRequest } from '../../plan/job-request.ts';
import { isAttempt, isJob } from '../../state/job-shape.ts';
import { type RedoChange, redoStates } from '../../state/redo-order.ts';
import { rowOf } from '../../state/sqlite/job-rows.ts';
import { type DocumentRow, recordOf, storedForm } from '../../state/sqlite/texts.ts';
import type { LateFact } from '../../state/store.ts';
import { documentOf } from '../postgres/engine-error.ts';
import { openRedo, redoColumn } from './redos.ts';

/** Which writing of a record it is: the slice that wrote it, and a number that grows with each of that slice's turns. */
export interface Version {
  readonly slice: number;
  /** An integer of 64 bits: epoch × 2^32 + turn. */
  readonly rev: string;
}

/** A version as decisions name it. */
export const basisOf = ({ slice, rev }: Version): string => `${slice}/${rev}`;

/** The version that a decision names. */
export function versionOfBasis(basis: string): Version {
  const [slice = '', rev = ''] = basis.split('/');
  return { slice: Number(slice), rev };
}

/** What a job uses of what may be spent, beside its attempts: what it has used, and what its request under way may use. */
export interface Charge {
  readonly cost: number;
  readonly tokens: number;
}

/** The number of a turn under an epoch: greater than any of an earlier epoch, and no clock in it. */
export const revOf = (epoch: number, turn: number): string =>
  ((BigInt(epoch) << 32n) | BigInt(turn)).toString();

/** The columns from which {@link storedRecordOf} reads a record. */
export const recordColumns = 'j.key, j.doc, j.said';

/**
 * What a worker reads of a record: all of one moment.
 *
 * @param textMs the parameter that says for how long a text call may be under way, ms
 */
export const writerColumns = (
  textMs: string,
): string => `${recordColumns}, j.slice, j.rev::text AS rev, j.session || '/' || j.slice || '/' || (j.rev >> 32) AS hold,
  promptpress.is_over(j.run, j.session || '/' || j.slice || '/' || (j.rev >> 32)) AS hold_over,
  j.charged_cost, j.charged_tokens::float8 AS charged_tokens,
  (j.sender IS NULL OR promptpress.is_over(j.run, j.sender)) AS sender_over, ${redoColumn},
  j.open AND promptpress.hears_nothing(j.run, j.session || '/' || j.slice || '/' || (j.rev >> 32), ${textMs}) AS hold_deaf,
  j.sender IS NOT NULL AND promptpress.hears_nothing(j.run, j.sender, ${textMs}) AS sender_deaf,
  (SELECT json_agg(json_build_object('submitted', f.submitted, 'hold', f.hold, 'task', f.task, 'answer', f.answer)) FROM promptpress.facts_late f
    WHERE f.run = j.run AND f.key = j.key) AS late`;

/** A row of {@link writerColumns}. */
export interface WriterRow extends DocumentRow, Version {
  readonly hold: string;
  readonly hold_over: boolean;
  readonly charged_cost: number;
  readonly charged_tokens: number;
  readonly sender_over: boolean;
  readonly redo: number | null;
  /** Nothing more is heard by who wrote it, or by its `sender`, not even the answer to a text call; of a record that is not open, false. */
  readonly hold_deaf: boolean;
  readonly sender_deaf: boolean;
  readonly late:
    | readonly {
        readonly submitted: number;
        readonly hold: string;
        readonly task: string | null;
        readonly answer: string | null;
      }[]
    | null;
}

/** A record as a worker knows it. */
export interface StoredRecord extends Version {
  readonly record: JobRecord;
  /** How far the job is of an open order to make it anew. */
  readonly redo?: 'waiting' | 'begun' | undefined;
}

/** @throws EngineError `engine.damaged` where the row holds no record */
export const readRecord = (row: DocumentRow, shown: string): JobRecord =>
  documentOf(
    row.doc,
    (record): record is JobRecord => isJob(record, row.key),
    shown,
    `the record of job ${row.key}`,
    () => recordOf(row),
  );

/** An entry of the history of a job. @throws EngineError `engine.damaged` where the document is none */
export const readAttempt = (doc: string, key: string, shown: string): Attempt =>
  documentOf(doc, isAttempt, shown, `an attempt of job ${key}`, parseExact);

/** Whether who wrote a record may still send what it intended, or hear the answer of a text call. */
export const mayHear = (row: WriterRow, { request }: JobRecord): boolean =>
  isTextRequest(request) ? !row.hold_deaf : !row.hold_over;

/** The same of the sender that the record names. */
const mayBeSentBy = (row: WriterRow, { request }: Pick<JobRecord, 'request'>): boolean =>
  isTextRequest(request) ? !row.sender_deaf : !row.sender_over;

/**
 * The record of a row, without a sender that is over. A doubt of which something was heard that is not in the record yet has a sender, also
 * where nobody sends it any more: whoever reads it looks at the fact before anything is decided, such as to submit again. So has a text
 * call that was taken over.
 *
 * @throws as {@link readRecord}
 */
export function storedRecordOf(row: WriterRow, shown: string): StoredRecord {
  const { sender: known, ...record } = readRecord(row, shown);
  const isHeard = lateFactOf(row, record) !== undefined;
  const isTakenOver = record.status === 'in-doubt' || record.status === 'pending';
  const sender = known ?? (isHeard && isTakenOver ? row.hold : undefined);
  const mayBeSent = sender !== undefined && (isHeard || mayBeSentBy(row, record));
  const { slice, rev } = row;
  return { record: mayBeSent ? { ...record, sender } : record, slice, rev, redo: openRedo(row.redo) };
}

/** What was heard late of the very submission that the record is about, or of a text call that was taken over: first an answer. */
export function lateFactOf(
  { late, sender_over }: WriterRow,
  { key, status, submittedAt, submittedBy, unheard = [] }: JobRecord,
): LateFact | undefined {
  // Whoever wrote that the job rests has heard the answer to its last request.
  const isAsked = status !== 'pending';
  // While the last call may still leave, an earlier answer makes nobody go on beside it.
  const calls = sender_over ? unheard : unheard.slice(-1);
  const found = late?.filter(
    ({ submitted, hold }) =>
      (isAsked && submitted === submittedAt && hold === submittedBy) ||
      calls.includes(`${submitted}/${hold}`),
  );
  const fact = found?.find(({ answer }) => answer !== null) ?? found?.[0];
  if (fact === undefined) return undefined;
  return {
    key,
    submittedAt: fact.submitted,
    submittedBy: fact.hold,
    ...(fact.task === null ? {} : { taskId: fact.task }),
    ...(fact.answer === null ? {} : { answer: fact.answer }),
  };
}

/** A late fact as the engine takes it. */
export const factRow = ({ key, submittedAt, submittedBy, taskId, answer }: LateFact) => ({
  key,
  submitted: submittedAt,
  hold: submittedBy,
  task: taskId ?? null,
  answer: answer ?? null,
});

/** PostgreSQL's text holds no NUL and no half of a surrogate pair. Only columns that are searched go by this: documents are exact. */
export const searchable = (text: string): string => text.replaceAll('\0', '\u{FFFD}').toWellFormed();

/** A row as `commit_turn` takes it: its documents go beside its columns, so that what is JSON already is not put into JSON once more. */
export interface SentRow {
  readonly columns: Readonly<Record<string, unknown>>;
  /** JSON in one line. */
  readonly doc: string;
  /** Absent: nothing is said. */
  readonly said?: string;
}

/** A record as `commit_turn` takes it. */
export function recordRow(
  record: JobRecord,
  version: Version,
  seen: Version | undefined,
  charged: Charge = { cost: 0, tokens: 0 },
  redo?: RedoChange,
): SentRow {
  const { status, code, root, slot, attempts, cost, tokens, possible, assumed } = rowOf(record);
  const { doc, said } = storedForm(record);
  const { sender } = record;
  return {
    doc,
    ...(said === undefined ? {} : { said }),
    // All rows have the same fields in the same order: what is undefined is left out of JSON.
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
    },
  };
}

/** An attempt as `commit_turn` takes it. @param part its number within the turn: with the version, it is written once only */
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
