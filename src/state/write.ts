import { exactJson } from '../pipeline/values/exact-json.ts';
import type { JobRecord } from '../plan/job.ts';
import { isTextRequest, type ReplyPlace } from '../plan/job-request.ts';
import type { LogFile } from './files/log-file.ts';
import { isRepliesEnd, Replies, type RepliesEnd } from './files/replies.ts';
import { fullDiskOf, type Reserve } from './files/reserve.ts';
import type { SegmentFiles } from './files/segment-files.ts';
import { readerOf, stateQueries, submissionsFact, uncountedFact } from './query.ts';
import { JobRows, rowOf } from './sqlite/job-rows.ts';
import { redoOrders } from './sqlite/redos.ts';
import type { Database } from './sqlite/sqlite.ts';
import { storedForm } from './sqlite/texts.ts';
import { totalsOf } from './sqlite/totals.ts';
import { guarded, stateErrorOf } from './state-error.ts';
import {
  fingerprintFact,
  invocationFact,
  StateError,
  type StateStore,
  sentFact,
  type Turn,
  UnkeptReplies,
} from './store.ts';
import type { SubmissionCount } from './submission-count.ts';
import { UnderWay } from './under-way.ts';

/** Name of the fact with the end of the committed replies; absent: none were kept. */
const repliesFact = 'replies.end';

/** The segments of a directory, and their name in messages. */
export interface ReplyFolder {
  readonly path: string;
  readonly files: SegmentFiles;
}

/**
 * Returns the store of an open state with the current schema, for the process that holds its directory.
 *
 * @param checkFiles throws if the open files are no longer those of the directory: called before each write
 * @param log of the database, everything in it durable
 * @param reserve of the directory, still empty
 */
export function stateStore(
  database: Database,
  count: SubmissionCount,
  checkFiles: () => void,
  log: LogFile,
  folder: ReplyFolder,
  reserve: Reserve,
): StateStore {
  const { file } = database;
  const queries = stateQueries(database, () => count.value);
  let { known } = queries.submissions();
  /** Submissions whose intents are durable. */
  let durable = known;
  /** Why nothing more is written: the last commit can be read, but may not be on the disk. */
  let lost: StateError | undefined;
  const check = (): void => {
    if (lost !== undefined) throw lost;
    checkFiles();
  };
  let numbered: number | undefined;
  // A process that was killed between its commit and its count has sent none of the difference.
  count.raise(known);
  const rows = new JobRows(database);
  const changeTotals = totalsOf(database);
  const append = database.prepare('INSERT INTO attempts (key, doc) VALUES (?, ?)');
  const state = database.prepare(
    'INSERT INTO facts (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
  );
  const remember = database.prepare(
    'INSERT OR REPLACE INTO inputs (path, sha256, bytes, mtime) VALUES (?, ?, ?, ?)',
  );
  const forget = database.prepare('DELETE FROM facts WHERE name = ?');
  /** False: there is no fingerprint to delete. */
  let mayHaveFingerprint = true;
  const say = database.prepare(
    'INSERT INTO texts (job, doc) VALUES (?, ?) ON CONFLICT (job) DO UPDATE SET doc = excluded.doc',
  );
  const unsay = database.prepare('DELETE FROM texts WHERE job = ?');
  const replies = new Replies(folder.files, endOf(file, queries.fact(repliesFact)), (end) =>
    guarded(file, () => state.run(repliesFact, JSON.stringify(end))),
  );
  const underWay = new UnderWay();
  /** Reserves disk space for the answers before anything is sent. */
  const holdRoom = ({ records, submits = 0 }: Turn): void => {
    underWay.note(records);
    if (submits > 0) guarded(folder.path, () => reserve.hold(underWay.bytes));
  };
  /**
   * Handles a failed write: on a full disk, frees some of the space held for answers if the turn sends nothing; else throws. SQLite
   * reports a used-up quota as any kind of error.
   */
  const makeRoom = (failure: unknown, { submits = 0 }: Turn): void => {
    if (!(failure instanceof StateError)) throw failure;
    const reason = failure.code === 'state.io' ? fullDiskOf(reserve) : undefined;
    const full = reason === undefined ? failure : stateErrorOf('full', file, reason);
    if (full.code !== 'state.full' || submits > 0 || !reserve.yield()) throw full;
  };
  const redos = redoOrders(database, (work) =>
    guarded(file, () => {
      check();
      const result = database.transaction(() => {
        forget.run(fingerprintFact);
        return work();
      });
      mayHaveFingerprint = false;
      return result;
    }),
  );
  /** Writes a turn. Called right after a check. */
  const write = (turn: Turn): void => {
    for (;;) {
      try {
        return writeOnce(turn);
      } catch (failure) {
        makeRoom(failure, turn);
      }
    }
  };
  const writeOnce = (turn: Turn): void => {
    const { submits = 0, invocation = numbered } = turn;
    guarded(file, () => {
      rows.transaction(() => {
        if (mayHaveFingerprint) forget.run(fingerprintFact);
        const totals = changeTotals();
        for (const record of turn.records) {
          const { doc, said } = storedForm(record);
          const row = rowOf(record);
          const { id, last } = rows.write(record.key, row, doc);
          totals.replace(last, row);
          if (said !== undefined) say.run(id, said);
          else if (last !== undefined && isTextRequest(record.request)) unsay.run(id);
        }
        totals.write();
        if (turn.redos !== undefined) redos.change(turn.redos);
        for (const attempt of turn.attempts) append.run(attempt.key, exactJson(attempt));
        if (replies.end !== undefined) state.run(repliesFact, JSON.stringify(replies.end));
        if (submits > 0) state.run(submissionsFact, String(known + submits));
        if (turn.sent !== undefined) state.run(sentFact, turn.sent);
        for (const [name, value] of Object.entries(turn.facts ?? {})) state.run(name, value);
        if (invocation !== numbered) state.run(invocationFact, String(invocation));
      });
      replies.onCommitted();
      if (turn.redos !== undefined) redos.onChanged(turn.redos);
      known += submits;
      numbered = invocation;
      mayHaveFingerprint = false;
    });
  };
  const lose = (failure: unknown): StateError => {
    lost = failureOf(file, failure);
    return lost;
  };
  /**
   * Commits a turn to the log without waiting for the disk, then syncs the log without blocking the process. SQLite itself keeps the
   * order: it syncs the log before a checkpoint, and the database before it restarts the log
   * (https://sqlite.org/pragma.html#pragma_synchronous). After a failed sync, a system may treat lost data as written, so that the next
   * sync would succeed wrongly.
   */
  const commitUnsynced = async (turn: Turn): Promise<void> => {
    guarded(file, () => {
      check();
      database.exec('PRAGMA synchronous = NORMAL');
    });
    try {
      write(turn);
    } finally {
      try {
        database.exec('PRAGMA synchronous = FULL');
      } catch (failure) {
        lose(failure);
      }
    }
    if (lost !== undefined) throw lost;
    const upTo = known;
    try {
      await log.syncSoon();
    } catch (failure) {
      throw lose(failure);
    }
    durable = Math.max(durable, upTo);
  };
  /** @throws the errors of a check; @returns why the replies could not be written */
  const syncReplies = async (turn: Turn): Promise<StateError | undefined> => {
    for (;;) {
      guarded(folder.path, check);
      try {
        await replies.writeSoon();
        return undefined;
      } catch (failure) {
        try {
          makeRoom(stated(folder.path, failure), turn);
        } catch (last) {
          if (last instanceof StateError) return saidOfTexts(last);
          throw last;
        }
      }
    }
  };
  /** Why replies are no longer kept. */
  let unkept: StateError | undefined;
  /** Commits a turn with its replies. Without them it continues only if the turn sends nothing: what was answered is paid for. */
  const commitWithReplies = async (turn: Turn): Promise<void> => {
    unkept ??= await syncReplies(turn);
    if (unkept === undefined) return commitUnsynced(turn);
    if ((turn.submits ?? 0) > 0) throw unkept;
    const records = turn.records.map((record) => withoutUnkept(record, replies));
    await commitUnsynced({ ...turn, records });
    throw new UnkeptReplies(unkept);
  };
  const writeReplies = (turn: Turn): void => {
    for (;;) {
      try {
        return guarded(folder.path, () => {
          check();
          replies.write();
        });
      } catch (failure) {
        makeRoom(failure, turn);
      }
    }
  };
  return {
    file,
    reader: readerOf(queries),
    get: (key) => {
      const row = guarded(file, () => rows.read(key));
      return row && queries.recordOf(row);
    },
    unfinished: () => queries.unfinished(),
    totals: () => queries.totals(),
    attempts: (key) => queries.attempts(key),
    claims: ({ taskId = '', submittedAt = 0 }) => ({
      keys: queries.keysOfBurst(taskId, submittedAt),
      mayGrow: false,
    }),
    redos,
    inputFile: (path) => queries.inputFiles([path]).get(path),
    fact: (name) => queries.fact(name),
    commit: (turn) => {
      if (isEmpty(turn)) return;
      holdRoom(turn);
      if (replies.hasLines) writeReplies(turn);
      guarded(file, check);
      write(turn);
      durable = known;
    },
    commitSoon: (turn) => {
      if (isEmpty(turn)) return undefined;
      holdRoom(turn);
      return replies.hasLines ? commitWithReplies(turn) : commitUnsynced(turn);
    },
    keepReply: (job, reply) => guarded(folder.path, () => replies.keep(job, reply)),
    makeRoom: () => reserve.yield(),
    releaseRoom: () => {
      while (reserve.yield()) continue;
    },
    cutReplies: () =>
      guarded(folder.path, () => {
        check();
        replies.cut();
      }),
    countSubmissions: () => {
      if (lost !== undefined) throw lost;
      guarded(count.file, () => count.raise(durable));
    },
    acceptMissing: () => {
      guarded(file, () => {
        check();
        database.transaction(() => {
          forget.run(fingerprintFact);
          forget.run(uncountedFact);
          state.run(submissionsFact, String(Math.max(known, count.value)));
        });
        known = Math.max(known, count.value);
        durable = known;
      });
    },
    setFact: (name, value) => {
      guarded(file, () => {
        check();
        state.run(name, value);
        if (name === fingerprintFact) mayHaveFingerprint = true;
      });
    },
    rememberInputFile: ({ path, sha256, bytes, mtimeMs }) => {
      guarded(file, () => {
        check();
        database.transaction(() => {
          if (mayHaveFingerprint) forget.run(fingerprintFact);
          remember.run(path, sha256, bytes, mtimeMs);
        });
        mayHaveFingerprint = false;
      });
    },
    close: () => {
      reserve.close();
      // The readable log may differ from the one on the disk: nothing of it goes into the database.
      if (lost === undefined) foldLog(database);
      queries.close();
      log.close();
      count.close();
      replies.close();
    },
  };
}

function endOf(file: string, fact: string | undefined): RepliesEnd | undefined {
  if (fact === undefined) return undefined;
  try {
    const end: unknown = JSON.parse(fact);
    if (isRepliesEnd(end)) return end;
  } catch {
    // Damaged, like any other value that is not an end.
  }
  throw stateErrorOf('corrupt', file, new Error(`the fact ${repliesFact} is invalid`));
}

const saidOfTexts = ({ code, message, hint, cause }: StateError): StateError =>
  new StateError(code, `${message} Texts that came are kept, without their whole replies.`, {
    cause,
    ...(hint !== undefined && { hint }),
  });

/** Returns the record without the places of replies that could not be written. */
function withoutUnkept(record: JobRecord, replies: Pick<Replies, 'isWritten'>): JobRecord {
  const { text, rounds } = record;
  const isKept = (place: ReplyPlace): boolean => replies.isWritten(place);
  if ([...(rounds ?? []), ...(text?.reply ? [text.reply] : [])].every(isKept)) return record;
  const { reply, ...rest } = text ?? { candidates: [] };
  return {
    ...record,
    ...(text && { text: reply && isKept(reply) ? text : rest }),
    ...(rounds && { rounds: rounds.filter(isKept) }),
  };
}

/** Returns the error of a failed sync. */
function failureOf(file: string, failure: unknown): StateError {
  const error = stated(file, failure);
  return error instanceof StateError ? error : stateErrorOf('io', file, failure);
}

/** Returns a failure of the disk as a StateError, and a bug unchanged. */
function stated(file: string, failure: unknown): unknown {
  try {
    return guarded(file, () => {
      throw failure;
    });
  } catch (error) {
    return error;
  }
}

const isEmpty = ({ records, attempts, submits = 0 }: Turn): boolean =>
  records.length === 0 && attempts.length === 0 && submits === 0;

/**
 * Moves the log into the database file, so that `state.db` alone is the whole state of a finished run. SQLite does it by itself when
 * the last connection closes, but the driver for Node 20 closes only when its statements are gone.
 */
function foldLog(database: Database): void {
  try {
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  } catch {
    // A full disk or a second close: the log stays beside the database, and nothing in it is lost.
  }
}
