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

/** Whose turns these are. */
export interface Writer {
  readonly run: number;
  /** Number of the session. */
  readonly session: number;
  /** How the budget is shared: what a turn spends is counted with it. Absent: it is not. */
  readonly budget?: {
    /** The name under which this worker spends. */
    readonly worker: string;
    /** What is counted for a job from this record on. */
    charge(record: JobRecord): Charge;
    /** A record was taken over with what had been counted for it. */
    takeOver?(record: JobRecord, charged: Charge): void;
  };
}

/** A turn as it is sent: the very same when it is sent again. */
export interface SentTurn {
  readonly values: readonly unknown[];
  /** The records as they count from now on, by key. */
  readonly records: ReadonlyMap<string, { readonly record: JobRecord; readonly version: Version }>;
  readonly held: readonly number[];
}

/** What the engine says of a turn. */
export interface TurnResult {
  /** Slices whose epochs are as given. */
  readonly mine: readonly number[];
  /** The records of others that stand in the way of ours. */
  readonly others: readonly WriterRow[] | null;
}

/** @param number of the turn, counted by the store: with the epoch it says which of two turns is the later one */
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
  // A run on several machines says from which version it has decided: what was looked up last may be a later one.
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
    ),
  );
  const tries = turn.attempts.map((attempt, part) => attemptRow(attempt, versionOf(attempt.key), part));
  const heard = (turn.heard ?? []).map(factRow);
  const facts: Record<string, string> = { ...turn.facts };
  // What left lately is a matter of the shared limits, where there are slices: one row for all would be waited for by all.
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
      jsonOf(heard),
      jsonOf(kept),
      turn.submits ?? 0,
    ],
  };
}

const jsonOf = (rows: readonly unknown[]): string | null => (rows.length === 0 ? null : JSON.stringify(rows));

/** Documents, one in each line: JSON has no line break of its own, unless it is laid out. */
function linesOf(documents: readonly string[]): string | null {
  // Each would be read as that of another row.
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

/** How long it is waited before work is done once more, ms. */
const pauseMs = 250;

/**
 * Does some work again whose answer was lost, or that could not be asked for, until there is no more patience. Only for what changes
 * nothing when it is done twice.
 *
 * @throws what the work throws
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
