import type { Attempt, JobRecord } from '../../plan/job.ts';
import type { ReplyPlace } from '../../plan/job-request.ts';
import { isTextRequest } from '../../plan/job-request.ts';
import type { Clock } from '../../run/clock.ts';
import { longestAnswerMs, sameMomentMs } from '../../run/machine/ownership.ts';
import type { LeftRecord, OtherRecords, RunStore } from '../../run/ports.ts';
import type { InputFile, StateReader } from '../../state/reader.ts';
import type { DocumentRow } from '../../state/sqlite/texts.ts';
import {
  burstMs,
  type Committed,
  fingerprintFact,
  type LateFact,
  type TaskClaims,
  type Turn,
} from '../../state/store.ts';
import type { EnginePool } from '../postgres/pool.ts';
import { RecordCache } from './cache.ts';
import { repeated, sendTurn, sentTurn, type Writer } from './commit.ts';
import { writeFact } from './facts.ts';
import { attemptsOfTask, engineReader, groupsOf, submittedBeside } from './reader.ts';
import { type ReplyLine, ReplyLines } from './reply-lines.ts';
import {
  basisOf,
  lateFactOf,
  mayReceive,
  readAttempt,
  readRecord,
  searchable,
  storedRecordOf,
  type WriterRow,
  writerColumns,
} from './rows.ts';

/** Options for opening a run's state on an engine for writing. */
export interface EngineStoreOptions extends Writer {
  readonly clock: Clock;
  /** How long to wait for an unavailable engine before a commit fails, ms. Default 60000. */
  readonly patienceMs?: number;
  /** Ends all waiting once it is aborted. */
  readonly signal?: AbortSignal;
  /** Longest duration of a text call (`timeouts.text`), ms. Default 600000. */
  readonly textMs?: number;
}

const longestTextMs = 600_000;

/** The state of a run on an engine, as one session writes it. */
export interface EngineStore extends RunStore {
  readonly reader: StateReader;
  readonly others: OtherRecords;
  commit(turn: Turn): Promise<Committed>;
  /** Resolves once all turns begun before have ended: `get` shows the records of such a turn, which may never be written. */
  settled(): Promise<void>;
  /** Returns a record without deciding anything about it, for the search which records a batch of cells needs. */
  peek(key: string): JobRecord | undefined;
  /**
   * Reads those of these records that a slice has not read yet, and that may have changed: `get` shows them until it is released.
   *
   * @param isRedone whether finished jobs may have been redone by others since they were read: those of a group are not decided by its slice
   */
  prefetch(keys: readonly string[], slice: number, isRedone?: boolean): Promise<void>;
  /** Returns the unfinished records of a slice that was just taken. */
  left(slice: number): Promise<readonly LeftRecord[]>;
  /** Releases the records of a slice. */
  release(slice: number): void;
  /** Keeps the whole reply to a job's call, as JSON in one line: durable with the next commit. @returns where it will be stored */
  keepReply(job: string, reply: string): ReplyPlace;
  /** Returns the replies that are kept and not written yet. */
  readonly unwritten: () => readonly ReplyLine[];
  setFact(name: string, value: string): Promise<void>;
  /** Replaces what is known of the file at this path. */
  rememberInputFile(file: InputFile): Promise<void>;
}

/** Largest number of keys per query. */
const maxKeys = 1024;

/** Largest size of the replies written with a turn, bytes; more are written before it, in pieces of this size. */
const maxReplyBytes = 8 * 1024 * 1024;

/** Opens a run's state for writing. @throws EngineError */
export async function openEngineStore(pool: EnginePool, options: EngineStoreOptions): Promise<EngineStore> {
  const { run, clock, patienceMs = 60_000, signal, textMs = longestTextMs } = options;
  const patiently = <T>(work: () => Promise<T>): Promise<T> => repeated(work, clock, patienceMs, signal);
  const ask = async <Row>(text: string, ...values: readonly unknown[]): Promise<Row[]> =>
    (await patiently(() => pool.query<Row>(text, [run, ...values]))).rows;
  const nextSegment = async (): Promise<number> =>
    (
      await ask<{ segment: number }>(
        'UPDATE promptpress.runs SET segments = segments + 1 WHERE run = $1 RETURNING segments - 1 AS segment',
      )
    )[0]?.segment ?? 0;

  const cache = new RecordCache();
  const reader = engineReader(pool, run);
  const known = await ask<{ name: string; value: string }>(
    'SELECT name, value FROM promptpress.facts WHERE run = $1',
  );
  const facts = new Map(known.map(({ name, value }) => [name, value]));
  const totals = await patiently(() => reader.totals());
  const [ofRun] = await ask<{ invocation: number }>(
    'SELECT invocation::float8 AS invocation FROM promptpress.runs WHERE run = $1',
  );
  const replies = new ReplyLines(await nextSegment());
  /** Number of begun turns, and of those that have ended. */
  let turns = 0;
  let settled = 0;
  let numbered: number | undefined;
  let underWay: Promise<void> = Promise.resolve();

  /** Reads records, with the attempts of unfinished ones. @returns the late facts about them, and the keys that were found */
  const load = async (
    keys: readonly string[],
  ): Promise<{ lateFacts: LateFact[]; found: ReadonlySet<string> }> => {
    const lateFacts: LateFact[] = [];
    const found = new Set<string>();
    const after = settled;
    for (const group of groupsOf(keys, maxKeys)) {
      const rows = await ask<WriterRow>(
        `SELECT ${writerColumns('$3')} FROM promptpress.jobs j WHERE j.run = $1 AND j.key = ANY($2)`,
        group,
        textMs,
      );
      for (const { key, record, row } of await show(rows, after)) {
        found.add(key);
        const fact = lateFactOf(row, record);
        if (fact !== undefined) lateFacts.push(fact);
      }
    }
    return { lateFacts, found };
  };
  const show = async (
    rows: readonly WriterRow[],
    after: number,
  ): Promise<readonly { readonly key: string; readonly record: JobRecord; readonly row: WriterRow }[]> => {
    const read = rows.map((row) => ({ key: row.key, stored: storedRecordOf(row, pool.shown), row }));
    const open = read.filter(({ stored }) => stored.record.status !== 'done').map(({ key }) => key);
    const history = open.length === 0 ? new Map<string, Attempt[]>() : await attemptsOf(open);
    for (const { key, stored } of read) cache.read(key, stored, history.get(key) ?? [], after);
    return read.map(({ key, stored: { record }, row }) => ({ key, record, row }));
  };
  const attemptsOf = async (keys: readonly string[]): Promise<Map<string, Attempt[]>> => {
    const rows = await ask<{ key: string; doc: string }>(
      'SELECT key, doc FROM promptpress.attempts WHERE run = $1 AND key = ANY($2) ORDER BY number',
      keys,
    );
    const found = new Map<string, Attempt[]>();
    for (const { key, doc } of rows)
      found.set(key, [...(found.get(key) ?? []), readAttempt(doc, key, pool.shown)]);
    return found;
  };
  /** Writes the first of many replies before the turn that refers to them. */
  const writeReplies = async (): Promise<void> => {
    while (replies.bytes > maxReplyBytes) {
      let bytes = 0;
      const count = replies.lines.findIndex(({ line }) => (bytes += line.length) > maxReplyBytes);
      const lines = replies.lines.slice(0, Math.max(count, 1));
      await ask(
        `INSERT INTO promptpress.replies SELECT $1, l.segment, l.start, l.line
         FROM json_to_recordset($2) AS l(segment int, start bigint, line text) ON CONFLICT DO NOTHING`,
        JSON.stringify(lines),
      );
      replies.onWritten(lines);
    }
  };

  const commit = async (turn: Turn): Promise<Committed> => {
    turns += 1;
    const number = turns;
    await writeReplies();
    const { lines } = replies;
    const { invocation = numbered } = turn;
    const sent = sentTurn(turn, number, options, cache, { lines, isNewInvocation: invocation !== numbered });
    for (const [key, { record, version }] of sent.records) {
      const change = turn.redos?.get(key) ?? cache.peek(key)?.redo;
      const redo = change === 'made' ? undefined : change;
      cache.put(key, { record, slice: version.slice, rev: version.rev, redo }, number);
      if (version.slice !== 0) cache.need([key], version.slice);
    }
    cache.append(turn.attempts);
    const { mine, others } = await patiently(() => sendTurn(pool, sent));
    settled = number;
    replies.onWritten(lines);
    numbered = invocation;
    facts.delete(fingerprintFact);
    for (const [name, value] of Object.entries(turn.facts ?? {})) facts.set(name, value);
    if (replies.needsSegment) replies.addSegment(await nextSegment());

    const refused = new Set((others ?? []).map(({ key }) => key));
    if (refused.size > 0) await load([...refused]);
    const lost = new Set(sent.held.filter((slice) => !mine.includes(slice)));
    // Records shown for lost slices were never written.
    const unwritten = [...sent.records]
      .filter(([, { version }]) => lost.has(version.slice))
      .map(([key]) => key);
    const { found } = await load(unwritten);
    for (const key of unwritten) if (!found.has(key)) cache.forget(key);
    return { refused, lost };
  };

  const loadWithParents = async (keys: readonly string[]): Promise<void> => {
    let wanted = keys;
    for (const known = new Set<string>(); wanted.length > 0; ) {
      await load(wanted);
      for (const key of wanted) known.add(key);
      wanted = wanted
        .flatMap((key) => cache.peek(key)?.record.parent ?? [])
        .filter((parent) => !known.has(parent));
    }
  };
  const claims = async ({ key, taskId = '', submittedAt = 0 }: JobRecord): Promise<TaskClaims> => {
    const found = await ask<{ key: string; doc: string }>(attemptsOfTask, searchable(taskId));
    const keys = found.flatMap((row) => {
      const attempt = readAttempt(row.doc, row.key, pool.shown);
      return attempt.taskId === taskId && Math.abs(attempt.at - submittedAt) < burstMs ? [row.key] : [];
    });
    const underWay = await ask<DocumentRow>(submittedBeside, key, submittedAt, sameMomentMs);
    const mayGrow = underWay.some((row) => !isTextRequest(readRecord(row, pool.shown).request));
    await loadWithParents(keys.filter((other) => other !== key));
    return { keys, mayGrow: mayGrow && clock.now() - submittedAt < longestAnswerMs };
  };

  return {
    reader,
    claims,
    redos: { of: (key) => cache.peek(key)?.redo },
    get: (key) => cache.get(key),
    peek: (key) => cache.peek(key)?.record,
    // Unfinished records come with their slice.
    unfinished: () => [],
    attempts: (key) => cache.attempts(key),
    totals: () => totals,
    fact: (name) => facts.get(name),
    commit: (turn) => {
      const committed = commit(turn);
      underWay = Promise.allSettled([underWay, committed]).then(() => undefined);
      return committed;
    },
    settled: () => underWay,
    countSubmissions: () => undefined,
    keepReply: (job, reply) => replies.keep(job, reply),
    unwritten: () => replies.lines,
    setFact: async (name, value) => {
      await patiently(() => writeFact(pool, run, name, value));
      facts.set(name, value);
    },
    rememberInputFile: async ({ path, sha256, bytes, mtimeMs }) => {
      await ask(
        `WITH gone AS (DELETE FROM promptpress.facts WHERE run = $1 AND name = '${fingerprintFact}')
         INSERT INTO promptpress.inputs VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (run, path) DO UPDATE SET sha256 = excluded.sha256, bytes = excluded.bytes, mtime = excluded.mtime`,
        path,
        sha256,
        bytes,
        mtimeMs,
      );
      facts.delete(fingerprintFact);
    },
    prefetch: async (keys, slice, isRedone = false) => {
      const missing = cache.missing(keys, slice);
      // Others may have changed an unfinished record since it was read for another slice, or for an earlier lease of this one.
      const unknown = missing.filter((key) => isRedone || cache.peek(key)?.record.status !== 'done');
      cache.need(missing, slice);
      await load(unknown);
    },
    left: async (slice) => {
      const after = settled;
      const rows = await ask<WriterRow>(
        `SELECT ${writerColumns('$3')}, j.number FROM promptpress.jobs j WHERE j.run = $1 AND j.slice = $2 AND j.open
         UNION ALL
         SELECT ${writerColumns('$3')}, j.number FROM (SELECT DISTINCT run, key FROM promptpress.facts_late WHERE run = $1) AS heard
         JOIN promptpress.jobs j USING (run, key) WHERE j.slice = $2 AND j.status = 'in-doubt'
         ORDER BY number`,
        slice,
        textMs,
      );
      cache.need(
        rows.map(({ key }) => key),
        slice,
      );
      return (await show(rows, after)).flatMap(({ record, row }) => {
        const lateFact = lateFactOf(row, record);
        options.budget?.takeOver?.(record, { cost: row.charged_cost, tokens: row.charged_tokens });
        if (record.status === 'in-doubt' && lateFact === undefined) return [];
        return [
          {
            record,
            ...(mayReceive(row, record) ? { sender: row.lease } : {}),
            ...(lateFact === undefined ? {} : { lateFact }),
          },
        ];
      });
    },
    release: (slice) => {
      cache.release(slice);
    },
    others: {
      invocation: ofRun?.invocation ?? 0,
      leaseOf: (key) => {
        const entry = cache.peek(key);
        if (entry === undefined) return undefined;
        const { slice, rev } = entry;
        return { slice, epoch: Number(BigInt(rev) >> 32n), basis: basisOf({ slice, rev }) };
      },
      read: async (keys) => (await load(keys)).lateFacts,
    },
  };
}
