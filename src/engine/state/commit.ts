import type { JobRecord } from '../../plan/job.ts';
import type { Clock } from '../../run/clock.ts';
import { invocationFact, sentFact, type Turn } from '../../state/store.ts';
import { EngineError } from '../postgres/engine-error.ts';
import type { Connection } from '../postgres/pool.ts';
import type { RecordCache } from './cache.ts';
import type { ReplyLine } from './reply-lines.ts';
import {
  attemptRow,
  type Charge,
  factRow,
  recordRow,
  revOf,
  type SentRow,
  type Version,
  versionOfBasis,
  type WriterRow,
} from './rows.ts';

/** The session that writes turns. */
export interface Writer {
  readonly run: number;
  /** Number of the session. */
  readonly session: number;
  /** How spending is counted with each turn, where the run has a shared budget. */
  readonly budget?: {
    /** The name under which this worker spends. */
    readonly worker: string;
    /** Returns the spending of a job with this record. */
    charge(record: JobRecord): Charge;
    /** Notes that a record was taken over, with the spending counted for it. */
    takeOver?(record: JobRecord, charged: Charge): void;
  };
  /** Error codes of failures that are not counted (`failures.accept`); default: none. */
  readonly acceptedFailures?: readonly string[];
}

/** A turn as it is sent. A repeated turn is sent unchanged. */
export interface SentTurn {
  readonly values: readonly unknown[];
  /** The new records, by key. */
  readonly records: ReadonlyMap<string, { readonly record: JobRecord; readonly version: Version }>;
  readonly held: readonly number[];
}

/** The engine's answer to a turn. */
export interface TurnResult {
  /** Slices whose epochs are as given. */
  readonly mine: readonly number[];
  /** Records of other workers that prevented ours from being written. */
  readonly others: readonly WriterRow[] | null;
}

/** Returns a turn ready to send. @param number of the turn, counted by the store: together with the epoch it orders turns */
export function sentTurn(
  turn: Turn,
  number: number,
  writer: Writer,
  cache: RecordCache,
  more: { readonly lines: readonly ReplyLine[]; readonly isNewInvocation: boolean },
): SentTurn {
  const { slices } = turn;
  const versions = new Map<number, Version>();
  const versionOf = (key: string): Version => {
    const slice = slices?.of.get(key) ?? 0;
    const known = versions.get(slice);
    if (known !== undefined) return known;
    const epoch = slice === 0 ? writer.session : slices?.epochs.get(slice);
    if (epoch === undefined)
      throw new Error(`Internal error: job ${key} is written for slice ${slice}, which has no epoch.`);
    const version = { slice, rev: revOf(epoch, number) };
    versions.set(slice, version);
    return version;
  };
  // On several machines a decision names the version that it is based on, because the last one shown may be newer.
  const seenOf = (key: string): Version | undefined => {
    if (slices === undefined) return cache.seen(key);
    const basis = slices.basis.get(key);
    return basis === undefined ? undefined : versionOfBasis(basis);
  };
  // The last record of a key counts.
  const records = new Map(
    turn.records.map((record) => [record.key, { record, version: versionOf(record.key) }]),
  );
  const rows = [...records.values()].map(({ record, version }) =>
    recordRow(
      record,
      version,
      seenOf(record.key),
      writer.budget?.charge(record),
      turn.redos?.get(record.key),
      writer.acceptedFailures,
    ),
  );
  const tries = turn.attempts.map((attempt, part) => attemptRow(attempt, versionOf(attempt.key), part));
  const lateFacts = (turn.lateFacts ?? []).map(factRow);
  const facts: Record<string, string> = { ...turn.facts };
  // With slices, recent sends are handled by the shared limits: all workers would wait for one row.
  if (slices === undefined && turn.sent !== undefined) facts[sentFact] = turn.sent;
  if (more.isNewInvocation && turn.invocation !== undefined) facts[invocationFact] = String(turn.invocation);
  const kept = Object.entries(facts).map(([name, value]) => ({ name, value }));
  const held = [...(slices?.epochs.keys() ?? [])];
  return {
    records,
    held,
    values: [
      writer.run,
      writer.session,
      writer.budget?.worker ?? null,
      held,
      held.map((slice) => slices?.epochs.get(slice)),
      jsonOf(rows.map(columnsOf)),
      linesOf(rows.map(docOf)),
      linesOf(rows.map(saidOf)),
      jsonOf(tries.map(columnsOf)),
      linesOf(tries.map(docOf)),
      jsonOf(more.lines.map(({ segment, start }) => ({ segment, start }))),
      linesOf(more.lines.map(({ line }) => line)),
      jsonOf(lateFacts),
      jsonOf(kept),
      turn.submits ?? 0,
    ],
  };
}

const jsonOf = (rows: readonly unknown[]): string | null => (rows.length === 0 ? null : JSON.stringify(rows));

/** Joins documents, one per line. JSON contains no line break unless it is formatted. */
function linesOf(documents: readonly string[]): string | null {
  // Each line would be read as the document of another row.
  if (documents.some((document) => document.includes('\n')))
    throw new Error('Internal error: a document of a turn has several lines.');
  return documents.length === 0 ? null : documents.join('\n');
}

const columnsOf = ({ columns }: SentRow): SentRow['columns'] => columns;
const docOf = ({ doc }: SentRow): string => doc;
const saidOf = ({ said = '' }: SentRow): string => said;

const parameters = [
  'int',
  'bigint',
  'text',
  'int[]',
  'bigint[]',
  'json',
  'text',
  'text',
  'json',
  'text',
  'json',
  'text',
  'json',
  'json',
  'bigint',
]
  .map((type, index) => `$${index + 1}::${type}`)
  .join(', ');

/** Sends a turn: one round trip, one transaction, one sync of the disk. @throws EngineError */
export async function sendTurn(connection: Connection, { values }: SentTurn): Promise<TurnResult> {
  const { rows } = await connection.query<{ result: TurnResult }>(
    `SELECT promptpress.commit_turn(${parameters}) AS result`,
    values,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('Internal error: a turn has no result.');
  return row.result;
}

/** Delay before work is repeated, ms. */
const pauseMs = 250;

/**
 * Repeats work whose answer was lost or whose connection failed, until patience runs out. Only for work that changes nothing when it is
 * done twice.
 *
 * @throws any error of the work
 */
export async function repeated<T>(
  work: () => Promise<T>,
  clock: Clock,
  patienceMs: number,
  signal?: AbortSignal,
): Promise<T> {
  const until = clock.now() + patienceMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const mayPass = error instanceof EngineError && error.mayPass && signal?.aborted !== true;
      if (!mayPass || clock.now() + pauseMs > until) throw error;
    }
    const at = clock.now() + pauseMs;
    await new Promise<void>((resolve) => {
      clock.at(at, resolve);
    });
  }
}
